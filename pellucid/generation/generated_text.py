"""What a continuation is, beside its text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from pellucid.generation.checks import GenerationWarning

__all__ = ["FinishReason", "GeneratedToken", "Generation", "Sample", "TokenProbability"]

FinishReason: TypeAlias = Literal["end", "stop", "length", "context"]
"""Why a text ended: the model ended it, a stop string came, `tokens` were there, or the context was full."""


class TokenProbability(NamedTuple):
    """A token that could come next, and how probable it was.

    Attributes:
        text: as shown to people, `▁` for a space, bytes of a character in hexadecimal.
        log_prob: natural logarithm of the model's probability: the softmax of its logits, nothing changed.
        sampling_log_prob: natural logarithm of the probability of being drawn, after the repetition penalty,
            temperature and cuts; −inf if it could not be drawn.
    """

    id: int
    text: str
    log_prob: float
    sampling_log_prob: float

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it, null for −inf."""
        fields = self._asdict()
        return fields | ({} if math.isfinite(self.sampling_log_prob) else {"sampling_log_prob": None})


class GeneratedToken(NamedTuple):
    """A token that was drawn.

    Attributes:
        odds: the token and its two log-probabilities.
        alternatives: the most probable tokens of the model at this place, as many as were asked for.
    """

    odds: TokenProbability
    alternatives: tuple[TokenProbability, ...] = ()

    @property
    def id(self) -> int:
        """Its id."""
        return self.odds.id

    @property
    def text(self) -> str:
        """As shown to people."""
        return self.odds.text

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the model's probability."""
        return self.odds.log_prob

    @property
    def sampling_log_prob(self) -> float:
        """Natural logarithm of the probability that it was drawn with."""
        return self.odds.sampling_log_prob

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        alternatives = [odds.as_dict() for odds in self.alternatives]
        return self.odds.as_dict() | ({"alternatives": alternatives} if alternatives else {})


@dataclass(frozen=True)
class Sample:
    """One continuation of a prompt.

    Attributes:
        text: what was generated, without the prompt, without a stop string; whole characters only.
        tokens: all that were drawn, also the end's and those of a stop string.
        finish: why it ended.
        stop: the stop string that ended it.
        warnings: what its reader should know.
    """

    text: str
    tokens: tuple[GeneratedToken, ...]
    finish_reason: FinishReason
    stop: str | None = None
    warnings: tuple[GenerationWarning, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the probability that the model gives to these tokens after the prompt."""
        return sum(token.log_prob for token in self.tokens)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "text": self.text,
            "finish": self.finish_reason,
            "stop": self.stop,
            "log_prob": self.log_prob,
            "tokens": [token.as_dict() for token in self.tokens],
            "warnings": [notice._asdict() for notice in self.warnings],
        }


@dataclass(frozen=True)
class Generation:
    """What a model made of a prompt.

    Attributes:
        prompt: the text that was continued.
        prompt_tokens: how many ids it was read as, the start's included.
        samples: the continuations; text, tokens and so on are those of the first.
        seed: of the draws: with it the same comes again.
    """

    prompt: str
    prompt_tokens: int
    samples: tuple[Sample, ...]
    seed: int

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """What was generated, without the prompt."""
        return self.samples[0].text

    @property
    def tokens(self) -> tuple[GeneratedToken, ...]:
        """What was drawn."""
        return self.samples[0].tokens

    @property
    def finish_reason(self) -> FinishReason:
        """Why it ended: end, stop, length or context."""
        return self.samples[0].finish_reason

    @property
    def stop(self) -> str | None:
        """The stop string that ended it."""
        return self.samples[0].stop

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the probability that the model gives to these tokens after the prompt."""
        return self.samples[0].log_prob

    @property
    def warnings(self) -> Sequence[GenerationWarning]:
        """What a reader should know."""
        return self.samples[0].warnings

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        fields = {"prompt": self.prompt, "prompt_tokens": self.prompt_tokens, "seed": self.seed}
        if len(self.samples) == 1:
            return fields | self.samples[0].as_dict()
        return fields | {"samples": [sample.as_dict() for sample in self.samples]}
