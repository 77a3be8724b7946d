"""One text that is being continued, token by token, and several that are continued side by side."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy

from pellucid.generation.decoder import BatchDecoder
from pellucid.generation.generated_text import FinishReason
from pellucid.generation.sampling import (
    Distribution,
    Logits,
    apply_repetition_penalty,
    draw,
    log_normaliser,
    sampling_distribution,
)
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.stop_strings import CharacterStream, StopStrings
from pellucid.generation.utf8 import CHARACTER_BOUNDARY, Utf8Constraint
from pellucid.tokenizers import LanguageTokenizer

__all__ = ["ContextWindow", "Continuation", "DecodingVocabulary", "SampledToken", "run_continuations"]


class ContextWindow(NamedTuple):
    """What a model reads at once of a text that may be longer.

    Attributes:
        context: most tokens.
        kept: how many of the text's first tokens stay in view whatever falls out of it: 1 for a start token that the
            model has never been without, else 0.

    Source:
        Xiao et al. 2023 (StreamingLLM), §3: models attend to a text's start, and it must not be taken away.
    """

    context: int
    kept: int

    def dropped_tokens(self, length: int) -> int:
        """Return how many tokens behind those kept are no longer read when a text of `length` tokens slides.

        None as long as all fit; then as few halves of the context as will do: what stays is read anew once in half a
        context, and each token sees at least half of it.
        """
        if length <= self.context:
            return 0
        half = max(1, self.context // 2)
        halves = -((self.context - length) // half)  # rounded up
        return max(0, min(half * halves, length - self.kept - 1))


class DecodingVocabulary:
    """What is asked about ids at every step, prepared once for a model.

    Args:
        tokenizer: the model's.
        vocab_size: how many logits it has, at least as many as the tokenizer has ids.
    """

    def __init__(self, tokenizer: LanguageTokenizer, vocab_size: int) -> None:
        self.tokenizer = tokenizer
        self.pieces = [tokenizer.id_to_bytes(number) for number in range(tokenizer.vocab_size)]
        self.end_ids = frozenset(tokenizer.end_ids)
        self.guard = Utf8Constraint(self.pieces, self.end_ids, vocab_size)


class SampledToken(NamedTuple):
    """An id that was drawn or could have been: what the model gave it, and what the draw did; natural logarithms."""

    id: int
    log_prob: float
    sampling_log_prob: float


class Continuation:
    """A prompt and what has been drawn after it.

    Args:
        prompt: ids, the start's included.
        config: how to draw and when to stop.
        vocabulary: of the model.
        window: what the model reads at once.
        random: gives the numbers that decide the draws, one a token.

    Attributes:
        ids: the prompt's and those drawn.
        drawn: what was drawn.
        alternatives: for each, the most probable ones of the model, as many as config asks for.
        text: what has been released of it: whole characters that no stop string can take back.
        finish: why it has ended; None while it goes on.
    """

    def __init__(
        self,
        prompt: Sequence[int],
        config: SamplingConfig,
        vocabulary: DecodingVocabulary,
        window: ContextWindow,
        random: numpy.random.Generator,
    ) -> None:
        self.ids = list(prompt)
        self.drawn: list[SampledToken] = []
        self.alternatives: list[tuple[SampledToken, ...]] = []
        self.text = ""
        self.finish_reason: FinishReason | None = None
        self._config = config
        self._vocabulary = vocabulary
        self._window = window
        self._random = random
        self._state = CHARACTER_BOUNDARY
        self._at_start = not any(vocabulary.pieces[number] for number in prompt)
        self._characters = CharacterStream()
        self._stops = StopStrings(config.stop)

    @property
    def stop(self) -> str | None:
        """The stop string that ended it."""
        return self._stops.found

    @property
    def withheld(self) -> bytes:
        """The bytes of a character that was not whole when it ended."""
        return self._characters.held

    @property
    def visible_ids(self) -> list[int]:
        """The ids that the model is to have read before the next is drawn."""
        kept = self._window.kept
        return self.ids[:kept] + self.ids[kept + self._window.dropped_tokens(len(self.ids)) :]

    @property
    def has_slid(self) -> bool:
        """Whether the last id has moved the window: what was read must be read anew."""
        return self._window.dropped_tokens(len(self.ids)) != self._window.dropped_tokens(len(self.ids) - 1)

    @property
    def slides(self) -> bool:
        """Whether the model did not see all that stands before the last token."""
        return len(self.ids) - 1 > self._window.context

    def take(self, logits: Logits) -> str:
        """Draw the next token from the logits after the last one; return the text that this releases."""
        assert self.finish_reason is None, "a continuation that has ended"
        normaliser = log_normaliser(logits)
        distribution = self._distribution(logits)
        number = draw(distribution, float(self._random.random())) if self._config.temperature else distribution.ids[0]
        self.drawn.append(_odds(int(number), logits, normaliser, distribution))
        if self._config.alternatives:
            best = numpy.argsort(-logits, kind="stable")[: self._config.alternatives].tolist()
            self.alternatives.append(tuple(_odds(other, logits, normaliser, distribution) for other in best))
        released = self._append(int(number))
        self.text += released
        return released

    def _distribution(self, logits: Logits) -> Distribution:
        config = self._config
        if config.repetition_penalty != 1:
            pluralize = [i for i in self.ids[-config.repetition_window :] if i not in self._vocabulary.end_ids]
            logits = apply_repetition_penalty(logits, pluralize, config.repetition_penalty)
        return sampling_distribution(logits + self._vocabulary.guard.forbidden[self._state], config)

    def _append(self, number: int) -> str:
        """Take a token into the text; return what it releases."""
        vocabulary = self._vocabulary
        self.ids.append(number)
        if number in vocabulary.end_ids:
            self.finish_reason = "end"
            return self._stops.end()
        self._state = vocabulary.guard.next(self._state, number)
        data = vocabulary.pieces[number]
        if self._at_start:
            data = vocabulary.tokenizer.id_to_bytes(number, at_start=True)
            self._at_start = False
        released = self._stops.push(self._characters.push(data))
        if self._stops.found is not None:
            self.finish_reason = "stop"
        elif len(self.drawn) == self._config.tokens:
            self.finish_reason = "length"
        elif len(self.ids) > self._window.context and not self._config.sliding:
            self.finish_reason = "context"  # the last token could still be predicted, but not be read
        return released + (self._stops.end() if self.finish_reason in ("length", "context") else "")


def run_continuations(
    decoder: BatchDecoder, continuations: Sequence[Continuation]
) -> Iterator[list[tuple[Continuation, str]]]:
    """Continue texts side by side until each has ended; after each step, yield the open ones and what each released.

    When the window of one slides, all are read anew: each sees the same window as if it were alone.
    """
    going = list(continuations)
    logits = decoder.prefill([one.visible_ids for one in going])
    while True:
        yield [(one, one.take(row)) for one, row in zip(going, logits, strict=True)]
        rows = [row for row, one in enumerate(going) if one.finish_reason is None]
        if not rows:
            return
        few = len(rows) < len(going)
        going = [going[row] for row in rows]
        if any(one.has_slid for one in going):
            logits = decoder.prefill([one.visible_ids for one in going])
            continue
        if few:
            decoder.select(rows)
        logits = decoder.step([one.ids[-1] for one in going])


def _odds(number: int, logits: Logits, normaliser: float, distribution: Distribution) -> SampledToken:
    return SampledToken(number, float(logits[number]) - normaliser, distribution.log_prob(number))
