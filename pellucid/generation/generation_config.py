"""Settings of translation (`generation.*` in a recipe; generation_config.json of a translator)."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["LONGEST_SPLIT", "SHORTEST_SPLIT", "GenerationConfig"]

SHORTEST_SPLIT, LONGEST_SPLIT = 40, 100  # source tokens; shorter parts lose their context


class GenerationConfig(BaseModel):
    """Settings of the search, of batches, and of what is done to the text around it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    beam: int = Field(4, ge=1, description="hypotheses kept per sentence; 1 is greedy search")
    n_best: int = Field(1, ge=1, description="number of translations per text; at most the beam size")
    length_penalty: float = Field(
        1.0,
        ge=0,
        description="α in score = log-probability / length^α; 1: mean per token, 0: sum; larger values favour longer "
        "translations",
    )
    min_length: int = Field(0, ge=0, description="minimum length of a translation, in tokens")
    max_length_ratio: float = Field(
        3.0, ge=0, description="maximum number of translation tokens per source token, before max_length_extra is added"
    )
    max_length_extra: int = Field(
        30, ge=1, description="tokens added to the maximum length; a translation truncated there carries a warning"
    )
    no_repeat_ngram: int = Field(
        0, ge=0, description="never generate the same sequence of this many tokens twice; 0: no restriction"
    )
    batch_tokens: int = Field(
        4096, ge=1, description="maximum batch size, counted as source tokens (padding included) times the beam size"
    )
    split_above: int | None = Field(
        None,
        ge=8,
        description="split lines of more source tokens at sentence ends and translate the parts separately; default: "
        "the 99th percentile of the lengths of training lines, but at least "
        f"{SHORTEST_SPLIT} and at most {LONGEST_SPLIT}",
    )
    protect_placeholders: bool = Field(
        True, description="keep {{name}}, {0}, %s, ###T01###, tags, URLs and e-mail addresses byte for byte"
    )

    @model_validator(mode="after")
    def _n_best_fits(self) -> Self:
        if self.n_best > self.beam:
            raise ValueError(f"n_best {self.n_best} needs a beam at least as wide, got beam {self.beam}")
        return self

    def max_length(self, source_tokens: int) -> int:
        """Compute the maximum length of a translation without its end token, from the length of the source."""
        return int(self.max_length_ratio * source_tokens) + self.max_length_extra
