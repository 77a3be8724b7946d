"""Settings of a tokenizer."""

from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["TokenizerConfig", "TokenizerKind"]

TokenizerKind: TypeAlias = Literal["bpe", "unigram", "words", "characters"]


class TokenizerConfig(BaseModel):
    """How text becomes ids (`tokenizer.*` in a recipe)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: TokenizerKind = Field(
        default="bpe",
        description="how text is split: byte-pair encoding (Sennrich et al. 2016), unigram pieces (Kudo 2018), "
        "frequent whole words, or single characters; unknown text becomes bytes",
    )
    vocab_size: int | None = Field(
        default=None,
        ge=300,
        description="vocabulary size, including special ids and bytes. By default, bpe and unigram: chosen from the "
        "number of pairs; words: all that occur twice, at most 32,000; characters: all",
    )
    joint: bool = Field(default=True, description="one tokenizer for both languages, or one for each")
    dropout: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="probability of skipping a merge in training (BPE-dropout, Provilkov et al. 2020)",
    )
    character_coverage: float = Field(
        default=0.9995,
        gt=0,
        le=1,
        description="share of the text whose characters get their own ids; the 300 most frequent always do, the others "
        "become bytes",
    )
    max_training_characters: int = Field(
        default=50_000_000,
        gt=0,
        description="maximum number of characters used to train the tokenizer; larger texts are sampled evenly",
    )

    @model_validator(mode="after")
    def _dropout_needs_merges(self) -> Self:
        if self.dropout and self.kind != "bpe":
            raise ValueError(f"dropout skips merges, and kind {self.kind} has none: use kind bpe, or dropout 0")
        return self
