"""What a translation is, beside its text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pellucid.generation.attention_alignment import AlignmentLink
from pellucid.generation.checks import GenerationWarning

__all__ = ["Alternative", "Translation", "best_combinations", "blank"]


class Alternative(NamedTuple):
    """One of the n best.

    Attributes:
        score: log-probability / length^α; comparable among the alternatives of one source.
        log_prob: natural logarithm of the probability of the whole.
        tokens: how many it has, the end of each part included.
    """

    text: str
    score: float
    log_prob: float
    tokens: int

    @property
    def confidence(self) -> float:
        """Geometric mean of the tokens' probabilities, 0 to 1."""
        return math.exp(self.log_prob / self.tokens) if self.tokens else 1.0


@dataclass(frozen=True)
class Translation:
    """A text in the target language, and what the model knows about it.

    Attributes:
        n_best: the best translations found, best first; the first is this one.
        source_tokens, tokens: both sides as the model read and wrote them, for people (`▁` is a space).
        alignment: which token came from which; None unless asked for.
        warnings: signs that something may be wrong.
    """

    n_best: tuple[Alternative, ...]
    source_tokens: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    alignment: tuple[AlignmentLink, ...] | None = None
    warnings: tuple[GenerationWarning, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The translation itself."""
        return self.n_best[0].text

    @property
    def score(self) -> float:
        """Log-probability / length^α."""
        return self.n_best[0].score

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the probability of the whole."""
        return self.n_best[0].log_prob

    @property
    def confidence(self) -> float:
        """Geometric mean of the tokens' probabilities, 0 to 1: how sure the model is, not whether it is right."""
        return self.n_best[0].confidence

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        fields: dict[str, Any] = {
            "text": self.text,
            "score": self.score,
            "log_prob": self.log_prob,
            "confidence": self.confidence,
            "warnings": [notice._asdict() for notice in self.warnings],
        }
        if len(self.n_best) > 1:
            fields["n_best"] = [
                {"text": one.text, "score": one.score, "log_prob": one.log_prob, "confidence": one.confidence}
                for one in self.n_best
            ]
        if self.alignment is not None:
            fields["source_tokens"] = list(self.source_tokens)
            fields["tokens"] = list(self.tokens)
            fields["alignment"] = [link._asdict() for link in self.alignment]
        return fields


def blank(text: str, alignment: bool) -> Translation:
    """Return the translation of a text in which there is nothing to translate: the text itself."""
    return Translation((Alternative(text, 0.0, 0.0, 0),), alignment=() if alignment else None)


def best_combinations(
    parts: Sequence[Sequence[Alternative]], n_best: int, length_penalty: float
) -> list[tuple[tuple[int, ...], float, float, int]]:
    """Choose among the alternatives of each part the `n_best` best combinations.

    Returns, best first, which alternative of each part, score, log-probability and tokens of the whole.
    """
    combinations: list[tuple[tuple[int, ...], float, float, int]] = [((), 0.0, 0.0, 0)]
    for alternatives in parts:
        longer = []
        for chosen, _, log_prob, tokens in combinations:
            for i, one in enumerate(alternatives):
                total, length = log_prob + one.log_prob, tokens + one.tokens
                longer.append(((*chosen, i), total / max(1, length) ** length_penalty, total, length))
        combinations = sorted(longer, key=lambda combination: -combination[1])[:n_best]
    return combinations
