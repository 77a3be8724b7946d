"""Generated texts: their tokens with probabilities, why they ended, and what their readers should know."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from pellucid.generation.checks import GenerationWarning

__all__ = ["FinishReason", "GeneratedToken", "Generation", "Sample", "TextStream", "TokenProbability"]

FinishReason: TypeAlias = Literal["end", "stop", "length", "context"]
"""Why a text ended: with an end token, at a stop string, at the maximum number of tokens, or at a full context."""


class TokenProbability(NamedTuple):
    """A candidate for the next token.

    Attributes:
        text: in readable form, `▁` for a space, incomplete characters as bytes in hexadecimal.
        log_prob: natural logarithm of the model's probability: the unmodified softmax of its logits.
        sampling_log_prob: natural logarithm of the probability of being sampled, after repetition penalty, temperature
            and truncation; −inf if the token could not be sampled.
    """

    id: int
    text: str
    log_prob: float
    sampling_log_prob: float

    def as_dict(self) -> dict[str, Any]:
        """Convert it to a dict for JSON, with null for −inf."""
        fields = self._asdict()
        return fields | ({} if math.isfinite(self.sampling_log_prob) else {"sampling_log_prob": None})


class GeneratedToken(NamedTuple):
    """A token that was sampled.

    Attributes:
        id, text, log_prob, sampling_log_prob: as in `TokenProbability`.
        alternatives: the model's most probable tokens at this position, as many as requested.
    """

    id: int
    text: str
    log_prob: float
    sampling_log_prob: float
    alternatives: tuple[TokenProbability, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Convert it to a dict for JSON."""
        fields = TokenProbability(*self[:4]).as_dict()
        return fields | ({"alternatives": [one.as_dict() for one in self.alternatives]} if self.alternatives else {})


@dataclass(frozen=True)
class Sample:
    """One continuation of a prompt.

    Attributes:
        text: what was generated, without the prompt and without the stop string; complete characters only.
        tokens: all sampled tokens, including an end token and those of a stop string.
        finish_reason: why the text ended.
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
        """Natural logarithm of the model's probability of these tokens after the prompt."""
        return sum(token.log_prob for token in self.tokens)

    def as_dict(self) -> dict[str, Any]:
        """Convert it to a dict for JSON."""
        return {
            "text": self.text,
            "finish_reason": self.finish_reason,
            "stop": self.stop,
            "log_prob": self.log_prob,
            "tokens": [token.as_dict() for token in self.tokens],
            "warnings": [warning._asdict() for warning in self.warnings],
        }


@dataclass(frozen=True)
class Generation:
    """The continuations of a prompt.

    Attributes:
        prompt_tokens: number of ids that the prompt was encoded to, start token included.
        samples: the continuations; `text`, `tokens` and so on are those of the first.
        seed: of the sampling; the same seed gives the same samples.
    """

    prompt: str
    prompt_tokens: int
    samples: tuple[Sample, ...]
    seed: int

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The generated text, without the prompt."""
        return self.samples[0].text

    @property
    def tokens(self) -> tuple[GeneratedToken, ...]:
        """The sampled tokens."""
        return self.samples[0].tokens

    @property
    def finish_reason(self) -> FinishReason:
        """Why the text ended: end, stop, length or context."""
        return self.samples[0].finish_reason

    @property
    def stop(self) -> str | None:
        """The stop string that ended the text."""
        return self.samples[0].stop

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the model's probability of these tokens after the prompt."""
        return self.samples[0].log_prob

    @property
    def warnings(self) -> Sequence[GenerationWarning]:
        """What a reader of the text should know."""
        return self.samples[0].warnings

    def as_dict(self) -> dict[str, Any]:
        """Convert it to a dict for JSON."""
        fields = {"prompt": self.prompt, "prompt_tokens": self.prompt_tokens, "seed": self.seed}
        if len(self.samples) == 1:
            return fields | self.samples[0].as_dict()
        return fields | {"samples": [sample.as_dict() for sample in self.samples]}


class TextStream:
    """A text while it is generated: `for text in stream: …` yields complete characters, none of which is retracted.

    Attributes:
        generation: the finished generation; None until the text is complete.
    """

    def __init__(self, texts: Iterator[str], finish: Callable[[], Generation]) -> None:
        self.generation: Generation | None = None
        self._texts = texts
        self._finish = finish

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for text in self._texts:
            if text:
                return text
        if self.generation is None:
            self.generation = self._finish()
        raise StopIteration
