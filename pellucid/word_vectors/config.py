"""Settings of word vector training, kept apart from the code so that they load without NumPy."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pellucid.errors import UsageError, did_you_mean, invalid_setting

__all__ = ["VectorsConfig", "vectors_config"]

_NAMES_ELSEWHERE = {
    "alpha": "learning_rate",
    "cbow_mean": "cbow_sum",
    "compute_loss": 'on_step, and metadata["losses"]',
    "corpus_file": "the first argument",
    "d": "dim",
    "dimension": "dim",
    "hs": 'objective="hierarchical-softmax"',
    "iter": "epochs",
    "max_final_vocab": "max_vocab",
    "min_alpha": "end_learning_rate",
    "ns_exponent": "noise_exponent",
    "sentences": "the first argument",
    "sg": 'model="skip-gram" or model="cbow"',
    "shrink_windows": "dynamic_window",
    "size": "dim",
    "vector_size": "dim",
}
"""Settings of gensim and other programs, and what they are called here."""


class VectorsConfig(BaseModel):
    """Settings of a training run; each field is a flag of `pellucid train vectors`, with `-` for `_`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: Literal["skip-gram", "cbow"] = Field(
        "skip-gram",
        description="Make one prediction for each pair of centre and context word (skip-gram), or predict the centre "
        "from the mean of its context words (cbow).",
    )
    objective: Literal["negative-sampling", "hierarchical-softmax", "full-softmax"] = Field(
        "negative-sampling",
        description="Training objective; full-softmax is for vocabularies of a few hundred words, since its time grows "
        "with the vocabulary.",
    )
    dim: int = Field(100, ge=1, le=4096, description="Vector dimension.")
    window: int = Field(5, ge=1, le=1000, description="Maximum number of context words on each side of the centre.")
    dynamic_window: bool = Field(
        True, description="Sample each window's size from 1 to the maximum, so that near words count more."
    )
    negative: int = Field(5, ge=1, le=63, description="Number of negatives per window (negative sampling).")
    noise_exponent: float = Field(
        0.75,
        ge=-2,
        le=2,
        description="Negatives are sampled in proportion to word count raised to this power (Mikolov et al. 2013).",
    )
    sample: float = Field(
        1e-3, ge=0, description="Subsample words whose share of the text is above this; 0 disables subsampling."
    )
    sample_formula: Literal["code", "paper"] = Field(
        "code",
        description="Probability of keeping a word of share f: √(sample/f) + sample/f as in word2vec.c (code), or "
        "√(sample/f) (paper).",
    )
    min_count: int = Field(5, ge=1, description="Drop words with fewer occurrences.")
    max_vocab: int | None = Field(None, ge=2, description="Maximum vocabulary size; unlimited by default.")
    tokenizer: str = Field(
        "whitespace",
        description="How lines are split: whitespace; words (punctuation separately, Chinese by character); "
        "characters; rjieba for Chinese words (an extra); or a model's tokenizer.json.",
    )
    lowercase: bool = Field(False, description="Convert the text to lower case.")
    drop_punctuation: bool = Field(False, description="Drop tokens without a letter or a digit, such as commas.")
    phrases: int = Field(
        0, ge=0, le=4, description="Number of passes that join frequent word pairs into phrases (new_york)."
    )
    phrase_score: Literal["npmi", "original"] = Field(
        "npmi", description="Phrase score: normalized pointwise mutual information, or that of word2phrase."
    )
    phrase_threshold: float | None = Field(
        None, description="Minimum score of a phrase; 0.5 for npmi and 10 for original by default."
    )
    epochs: int = Field(5, ge=1, description="Number of passes over the text.")
    learning_rate: float | None = Field(
        None, gt=0, description="Initial learning rate; 0.025 for skip-gram and 0.05 for cbow by default."
    )
    end_learning_rate: float = Field(1e-4, ge=0, description="Final learning rate; the decay is linear.")
    cbow_sum: bool = Field(False, description="Use the sum of the context vectors in cbow instead of their mean.")
    cbow_gradient: Literal["classic", "exact"] = Field(
        "classic",
        description="How cbow updates context vectors: with the gradient not divided by their number, as in word2vec.c "
        "(classic), or with the gradient of their mean (exact).",
    )
    seed: int = Field(1, ge=0, lt=2**63, description="Random seed.")
    fast: bool = Field(
        False,
        description="Use one worker per thread; with one thread, update the model in place. Faster, but the vectors "
        "depend on the number of threads.",
    )
    workers: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Number of shards trained in parallel, and so the maximum useful number of threads; the vectors "
        "depend on it. 4 by default, 1 for small texts; with many, frequent words are sampled too rarely as negatives.",
    )
    shard_words: int | None = Field(
        None, ge=1, le=1_000_000, description="Number of words per shard; by default, depends on the size of the text."
    )

    @model_validator(mode="after")
    def _check_learning_rates(self) -> "VectorsConfig":
        if self.end_learning_rate > self.first_learning_rate:
            raise ValueError(
                f"end_learning_rate {self.end_learning_rate} is above learning_rate {self.first_learning_rate}: "
                "set both"
            )
        return self

    @property
    def first_learning_rate(self) -> float:
        """The initial learning rate, with the model's default filled in."""
        return self.learning_rate or {"skip-gram": 0.025, "cbow": 0.05}[self.model]


def vectors_config(settings: Mapping[str, object]) -> VectorsConfig:
    """Validate settings.

    Raises:
        UsageError: for an unknown name, with a suggestion, or an invalid value.
    """
    for name in settings:
        if name in _NAMES_ELSEWHERE:
            raise UsageError(f"there is no setting {name}", where=name, hint=f"Use {_NAMES_ELSEWHERE[name]}.")
        if name not in VectorsConfig.model_fields:
            raise UsageError(
                f"there is no setting {name}", where=name, hint=did_you_mean(name, list(VectorsConfig.model_fields))
            )
    try:
        return VectorsConfig.model_validate(dict(settings))
    except ValidationError as error:
        raise invalid_setting(error, VectorsConfig) from error
