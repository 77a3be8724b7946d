"""What a tokenizer is trained to be."""

from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["TokenizerConfig", "TokenizerKind"]

TokenizerKind: TypeAlias = Literal["bpe", "unigram", "words", "characters"]


class TokenizerConfig(BaseModel):
    """How text becomes ids (`tokenizer.*` in a recipe)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: TokenizerKind = Field(
        default="bpe",
        description="what a piece is: byte-pair merges (Sennrich et al. 2016), unigram pieces (Kudo 2018), frequent "
        "words whole, or single characters; whatever is unknown becomes bytes",
    )
    vocab_size: int | None = Field(
        default=None,
        ge=300,
        description="ids in all, special ones and bytes included; if not given, bpe and unigram: chosen from the "
        "number of pairs, words: all that occur twice, at most 32,000, characters: all",
    )
    joint: bool = Field(default=True, description="one tokenizer for both languages, or one for each")
    dropout: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="share of the merges left out at random in training (BPE-dropout, Provilkov et al. 2020)",
    )
    character_coverage: float = Field(
        default=0.9995,
        gt=0,
        le=1,
        description="share of the text whose characters get ids of their own; the 300 most frequent always do, others "
        "become bytes",
    )
    max_training_characters: int = Field(
        default=50_000_000,
        gt=0,
        description="most characters of text looked at to train the tokenizer; of more, an even sample is taken",
    )

    @model_validator(mode="after")
    def _dropout_needs_merges(self) -> Self:
        if self.dropout and self.kind != "bpe":
            raise ValueError(f"dropout leaves out merges, and kind {self.kind} has none: use kind bpe, or dropout 0")
        return self
