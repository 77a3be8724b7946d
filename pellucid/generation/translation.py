"""Translations: text, score, alignment and warnings; and how the translations of a text's parts are joined."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pellucid.generation.attention_alignment import AlignmentLink
from pellucid.generation.checks import GenerationWarning
from pellucid.generation.generation_config import GenerationConfig
from pellucid.generation.text_splitting import SplitText

__all__ = ["Alternative", "Translation", "best_combinations", "join_translations", "untranslated"]


class Alternative(NamedTuple):
    """One of the n best translations.

    Attributes:
        score: log-probability / length^α; comparable among the alternatives of one source.
        log_prob: natural logarithm of the probability of the whole translation.
        tokens: number of tokens, the end token of each part included.
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
    """A translated text.

    Attributes:
        n_best: the best translations found, best first; the first is this one.
        source_tokens, tokens: what the model read and wrote, in readable form (`▁` is a space).
        alignment: which target token came from which source token; None unless requested.
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
        """Natural logarithm of the probability of the whole translation."""
        return self.n_best[0].log_prob

    @property
    def confidence(self) -> float:
        """Geometric mean of the tokens' probabilities, 0 to 1: the model's confidence, not its correctness."""
        return self.n_best[0].confidence

    def as_dict(self) -> dict[str, Any]:
        """Convert it to a dict for JSON."""
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


def untranslated(text: str, alignment: bool) -> Translation:
    """Return a text unchanged, as its own translation: there is nothing to translate in it."""
    return Translation((Alternative(text, 0.0, 0.0, 0),), alignment=() if alignment else None)


def join_translations(
    text: str, split: SplitText, parts: Sequence[Translation], config: GenerationConfig, alignment: bool
) -> Translation:
    """Join the translations of a text's parts into that of the whole text."""
    if not parts:
        return untranslated(text, alignment)
    n_best = tuple(
        Alternative(split.join([part.n_best[i].text for part, i in zip(parts, choice, strict=True)]), score, total, n)
        for choice, score, total, n in best_combinations(
            [part.n_best for part in parts], config.n_best, config.length_penalty
        )
    )
    links: list[AlignmentLink] = []
    source_tokens: list[str] = []
    tokens: list[str] = []
    for part in parts:
        source, target = len(source_tokens), len(tokens)
        links += [
            AlignmentLink(source + link.source, target + link.target, link.weight) for link in part.alignment or ()
        ]
        source_tokens += part.source_tokens
        tokens += part.tokens
    warnings = tuple(warning for part in parts for warning in part.warnings)
    return Translation(n_best, tuple(source_tokens), tuple(tokens), tuple(links) if alignment else None, warnings)


def best_combinations(
    parts: Sequence[Sequence[Alternative]], n_best: int, length_penalty: float
) -> list[tuple[tuple[int, ...], float, float, int]]:
    """Choose the `n_best` best combinations of one alternative per part.

    Returns:
        Best first: which alternative of each part, and score, log-probability and number of tokens of the whole.
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
