"""How word vectors are trained: the settings, apart from the code so that they load without NumPy."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pellucid.errors import UsageError, did_you_mean

__all__ = ["VectorsConfig", "vectors_config"]

_ELSEWHERE = {
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
    "workers": "threads",
}
"""What settings of gensim and others are called here."""


class VectorsConfig(BaseModel):
    """Model, text and length of a training; each setting is a flag of `pellucid train vectors`, `_` written as `-`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: Literal["skip-gram", "cbow"] = Field(
        "skip-gram", description="whether each word of a window predicts its centre, or their mean does (CBOW)"
    )
    objective: Literal["negative-sampling", "hierarchical-softmax", "full-softmax"] = Field(
        "negative-sampling",
        description="how a word is told from all others: from some drawn at random, by a path in a Huffman tree, or "
        "from every one (for vocabularies of some hundred words: its time grows with their number)",
    )
    dim: int = Field(100, ge=1, le=4096, description="numbers a vector has")
    window: int = Field(5, ge=1, le=1000, description="words to each side of the centre that are looked at, at most")
    dynamic_window: bool = Field(True, description="draw each window's reach from 1 to `window`: near words count more")
    negative: int = Field(5, ge=1, le=63, description="words drawn as false targets for each window")
    noise_exponent: float = Field(
        0.75, ge=-2, le=2, description="false targets are drawn by count to this power (Mikolov et al. 2013b, sec. 2.2)"
    )
    sample: float = Field(1e-3, ge=0, description="share of the text above which a word is sub-sampled; 0 keeps all")
    sample_formula: Literal["code", "paper"] = Field(
        "code",
        description="probability to keep a word of share f, at most 1: √(sample/f) + sample/f as word2vec.c has it "
        "(code), or √(sample/f) (paper)",
    )
    min_count: int = Field(5, ge=1, description="words that stand in the text less often are left out")
    max_vocab: int | None = Field(
        None, ge=2, description="words that are kept, the most frequent ones; all unless given"
    )
    tokenizer: str = Field(
        "whitespace",
        description="how lines come apart: whitespace, words, characters, rjieba, or a model's tokenizer.json",
    )
    lowercase: bool = Field(False, description="turn capitals into small letters")
    drop_punctuation: bool = Field(False, description="leave out words without a letter or a digit, such as commas")
    phrases: int = Field(0, ge=0, le=4, description="passes in which words that stand together become one (new_york)")
    phrase_score: Literal["npmi", "original"] = Field(
        "npmi",
        description="how strongly words stand together: normalised pointwise mutual information, or word2phrase's",
    )
    phrase_threshold: float | None = Field(
        None, description="score above which a pair is a phrase; 0.5 for npmi and 10 for original unless given"
    )
    epochs: int = Field(5, ge=1, description="passes over the text")
    learning_rate: float | None = Field(
        None, gt=0, description="learning rate at the start; 0.025 for skip-gram and 0.05 for CBOW unless given"
    )
    end_learning_rate: float = Field(1e-4, ge=0, description="learning rate at the end; it falls linearly")
    cbow_sum: bool = Field(False, description="let CBOW take the sum of the context's vectors instead of their mean")
    cbow_gradient: Literal["classic", "exact"] = Field(
        "classic",
        description="how far CBOW's context words move for a mean: as if they had been summed up, as word2vec.c does "
        "it, or by the gradient, which is divided by their number",
    )
    seed: int = Field(1, ge=0, lt=2**63, description="every random choice follows from it")
    fast: bool = Field(
        False,
        description="train as many parts side by side as there are threads, a single one without copies: faster, but "
        "the vectors depend on the number of threads",
    )
    workers: int | None = Field(
        None,
        ge=1,
        le=64,
        description="parts of the text trained side by side, and so the most threads that help; 4 unless given, 1 for "
        "small texts; the vectors depend on it, and with many, frequent words are drawn too rarely as false targets",
    )
    shard_words: int | None = Field(
        None, ge=1, le=1_000_000, description="words a part has; chosen by the size of the text unless given"
    )

    @model_validator(mode="after")
    def _settings_fit(self) -> "VectorsConfig":
        if self.end_learning_rate > self.first_learning_rate:
            raise ValueError(
                f"end_learning_rate {self.end_learning_rate} is above learning_rate {self.first_learning_rate}, "
                "to which it should fall: give both"
            )
        return self

    @property
    def first_learning_rate(self) -> float:
        """The learning rate at the start, filled in."""
        return self.learning_rate or {"skip-gram": 0.025, "cbow": 0.05}[self.model]


def vectors_config(settings: Mapping[str, object]) -> VectorsConfig:
    """Return checked settings.

    Raises:
        UsageError: for an unknown name, with the nearest right one, or a value that does not fit.
    """
    known = list(VectorsConfig.model_fields)
    for name in settings:
        if name not in known:
            hint = f"It is {_ELSEWHERE[name]} here." if name in _ELSEWHERE else did_you_mean(name, known)
            raise UsageError(f"there is no setting {name}", hint=hint)
    try:
        return VectorsConfig.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        what = first["msg"].removeprefix("Value error, ")
        what = what[:1].lower() + what[1:]
        if not name:
            raise UsageError(what) from error
        about = VectorsConfig.model_fields[name].description or ""
        raise UsageError(f"{name}: {what}, got {first['input']!r}", hint=f"{name}: {about}.") from error
