"""Flags of `pellucid train vectors`: the fields of `VectorsConfig`, spelt with dashes."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from cyclopts import Parameter

__all__ = ["DEFAULT_SETTINGS", "VectorSettings"]

_Switch = Annotated[bool | None, Parameter(negative="")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class VectorSettings:
    """How vectors are trained; what is not given stays as `VectorsConfig` has it."""

    dimension: Annotated[int | None, Parameter(name=["--dimension", "-d"])] = None
    """Numbers a vector has (100)."""

    model: Literal["skip-gram", "cbow"] | None = None
    """Whether each word of a window predicts its centre (skip-gram), or their mean does (cbow)."""

    objective: Literal["negative-sampling", "hierarchical-softmax", "full-softmax"] | None = None
    """How a word is told from all others (negative-sampling); full-softmax is for some hundred words."""

    window: int | None = None
    """Words to each side that are looked at, at most (5)."""

    dynamic_window: bool | None = None
    """Draw each window's reach, so that near words count more (yes)."""

    negative: int | None = None
    """Words drawn as false targets for each window (5)."""

    noise_exponent: float | None = None
    """False targets are drawn by count to this power (0.75)."""

    sample: float | None = None
    """Share of the text above which a word is sub-sampled; 0 keeps all (0.001)."""

    sample_formula: Literal["code", "paper"] | None = None
    """Keep with √(t/f) + t/f, as word2vec.c has it (code), or √(t/f) (paper)."""

    min_count: int | None = None
    """Words that stand in the text less often are left out (5)."""

    max_vocab: int | None = None
    """Words that are kept, the most frequent ones (all)."""

    tokenizer: str | None = None
    """How lines come apart: whitespace; words (punctuation apart, Chinese by the character); characters; rjieba, for
    Chinese words (an extra); or a model's tokenizer.json (whitespace)."""

    lowercase: _Switch = None
    """Turn capitals into small letters."""

    drop_punctuation: _Switch = None
    """Leave out words without a letter or a digit, such as commas."""

    phrases: int | None = None
    """Passes in which words that stand together become one, new_york (0)."""

    phrase_score: Literal["npmi", "original"] | None = None
    """How strongly words stand together (npmi)."""

    phrase_threshold: float | None = None
    """Score above which a pair is a phrase (0.5 for npmi, 10 for original)."""

    epochs: int | None = None
    """Passes over the text (5)."""

    learning_rate: float | None = None
    """Learning rate at the start (0.025 for skip-gram, 0.05 for cbow)."""

    end_learning_rate: float | None = None
    """Learning rate at the end; it falls linearly (0.0001)."""

    cbow_sum: _Switch = None
    """Let cbow take the sum of the context instead of its mean."""

    cbow_gradient: Literal["classic", "exact"] | None = None
    """How far cbow's context words move: as if summed up, like word2vec.c (classic), or by the gradient (exact)."""

    seed: int | None = None
    """Seed of every random choice (1)."""

    fast: _Switch = None
    """Train as many parts side by side as there are threads, one alone in place: faster, but the vectors then depend on
    the number of threads."""

    workers: int | None = None
    """Parts of the text trained side by side, and the most threads that help (4); the vectors depend on it."""

    shard_words: int | None = None
    """Words a part has (by the size of the text)."""

    def given(self) -> dict[str, object]:
        """Return the settings that were given, by their names in `VectorsConfig`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"dim" if name == "dimension" else name: value for name, value in values.items() if value is not None}


DEFAULT_SETTINGS = VectorSettings()
