"""Continue texts token by token, several side by side."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy

from pellucid.generation.decoder import BatchDecoder
from pellucid.generation.generated_text import FinishReason
from pellucid.generation.sampling import (
    Distribution,
    Logits,
    apply_repetition_penalty,
    log_normaliser,
    sample,
    sampling_distribution,
)
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.stop_strings import StopStrings
from pellucid.generation.utf8 import CHARACTER_BOUNDARY, CharacterStream, Utf8Constraint
from pellucid.tokenizers import LanguageTokenizer

__all__ = ["ContextWindow", "Continuation", "DecodingVocabulary", "SampledToken", "run_continuations"]


class ContextWindow(NamedTuple):
    """The part of a long text that a model reads at once.

    Attributes:
        context: most tokens.
        sink_tokens: how many of the text's first tokens always stay in view: 1 for a start token that the model has
            never been without, else 0.

    Source:
        Xiao et al. 2023 (StreamingLLM), §3: models attend to the first tokens of a text, so these must stay.
    """

    context: int
    sink_tokens: int

    def dropped_tokens(self, length: int) -> int:
        """Count the tokens after the sink tokens that are no longer read when a text of `length` tokens slides.

        None as long as all fit, then as few halves of the context as necessary: so the rest is read again only once
        per half context, and each token sees at least half a context.
        """
        if length <= self.context:
            return 0
        half = max(1, self.context // 2)
        halves = -((self.context - length) // half)  # rounded up
        return max(0, min(half * halves, length - self.sink_tokens - 1))


class DecodingVocabulary:
    """What decoding looks up about each id at every step, prepared once for a model.

    `vocab_size` is the number of logits, at least as many as the tokenizer has ids.
    """

    def __init__(self, tokenizer: LanguageTokenizer, vocab_size: int) -> None:
        self.tokenizer = tokenizer
        self.pieces = [tokenizer.id_to_bytes(token_id) for token_id in range(tokenizer.vocab_size)]
        self.end_ids = frozenset(tokenizer.end_ids)
        self.constraint = Utf8Constraint(self.pieces, self.end_ids, vocab_size)


class SampledToken(NamedTuple):
    """An id that was sampled or could have been.

    Attributes:
        log_prob: natural logarithm of the model's probability.
        sampling_log_prob: natural logarithm of the probability of being sampled.
    """

    id: int
    log_prob: float
    sampling_log_prob: float


class Continuation:
    """A prompt and what has been sampled after it.

    Args:
        prompt: ids, start token included.
        random: gives one number per sampled token.

    Attributes:
        ids: of the prompt and of what was sampled.
        alternatives: for each, the model's most probable tokens, as many as config requests.
        text: what can be shown: complete characters that no stop string can remove.
        finish_reason: why it has ended; None while it has not.
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
        self.sampled: list[SampledToken] = []
        self.alternatives: list[tuple[SampledToken, ...]] = []
        self.text = ""
        self.finish_reason: FinishReason | None = None
        self._config = config
        self._vocabulary = vocabulary
        self._window = window
        self._random = random
        self._state = CHARACTER_BOUNDARY
        self._at_start = not any(vocabulary.pieces[token_id] for token_id in prompt)
        self._characters = CharacterStream()
        self._stops = StopStrings(config.stop)

    @property
    def stop(self) -> str | None:
        """The stop string that ended it."""
        return self._stops.found

    @property
    def withheld(self) -> bytes:
        """The bytes of a character that was incomplete at the end."""
        return self._characters.incomplete

    @property
    def visible_ids(self) -> list[int]:
        """The ids that the model must have read before the next one is sampled."""
        sinks = self._window.sink_tokens
        return self.ids[:sinks] + self.ids[sinks + self._window.dropped_tokens(len(self.ids)) :]

    @property
    def has_slid(self) -> bool:
        """Whether the last id has moved the window, so that the visible ids must be read again."""
        return self._window.dropped_tokens(len(self.ids)) != self._window.dropped_tokens(len(self.ids) - 1)

    @property
    def slides(self) -> bool:
        """Whether the last token was predicted from only a part of the text before it."""
        return len(self.ids) - 1 > self._window.context

    def sample_next(self, logits: Logits) -> str:
        """Sample the next token from the logits after the last one; return the text that can now be shown."""
        assert self.finish_reason is None, "a continuation that has ended"
        normaliser = log_normaliser(logits)
        distribution = self._distribution(logits)
        greedy = not self._config.temperature
        token_id = int(distribution.ids[0]) if greedy else sample(distribution, float(self._random.random()))
        self.sampled.append(_with_log_probs(token_id, logits, normaliser, distribution))
        if self._config.alternatives:
            best = numpy.argsort(-logits, kind="stable")[: self._config.alternatives].tolist()
            self.alternatives.append(tuple(_with_log_probs(one, logits, normaliser, distribution) for one in best))
        released = self._append(token_id)
        self.text += released
        return released

    def _distribution(self, logits: Logits) -> Distribution:
        config = self._config
        if config.repetition_penalty != 1:
            occurred = [i for i in self.ids[-config.repetition_window :] if i not in self._vocabulary.end_ids]
            logits = apply_repetition_penalty(logits, occurred, config.repetition_penalty)
        return sampling_distribution(logits + self._vocabulary.constraint.forbidden[self._state], config)

    def _append(self, token_id: int) -> str:
        """Append a token to the text; return what can now be shown."""
        vocabulary = self._vocabulary
        self.ids.append(token_id)
        if token_id in vocabulary.end_ids:
            self.finish_reason = "end"
            return self._stops.end()
        self._state = vocabulary.constraint.next(self._state, token_id)
        data = vocabulary.pieces[token_id]
        if self._at_start:
            data = vocabulary.tokenizer.id_to_bytes(token_id, at_start=True)
            self._at_start = False
        released = self._stops.push(self._characters.push(data))
        if self._stops.found is not None:
            self.finish_reason = "stop"
        elif len(self.sampled) == self._config.tokens:
            self.finish_reason = "length"
        elif len(self.ids) > self._window.context and not self._config.sliding:
            self.finish_reason = "context"  # the last token could still be predicted, but not be read
        return released + (self._stops.end() if self.finish_reason in ("length", "context") else "")


def run_continuations(
    decoder: BatchDecoder, continuations: Sequence[Continuation]
) -> Iterator[list[tuple[Continuation, str]]]:
    """Continue texts side by side until all have ended; after each step, yield the open ones and what each can show.

    When the window of one slides, all are read again, each in the window that it would have alone.
    """
    open_ones = list(continuations)
    logits = decoder.prefill([one.visible_ids for one in open_ones])
    while True:
        yield [(one, one.sample_next(row)) for one, row in zip(open_ones, logits, strict=True)]
        rows = [row for row, one in enumerate(open_ones) if one.finish_reason is None]
        if not rows:
            return
        some_ended = len(rows) < len(open_ones)
        open_ones = [open_ones[row] for row in rows]
        if any(one.has_slid for one in open_ones):
            logits = decoder.prefill([one.visible_ids for one in open_ones])
            continue
        if some_ended:
            decoder.select(rows)
        logits = decoder.step([one.ids[-1] for one in open_ones])


def _with_log_probs(token_id: int, logits: Logits, normaliser: float, distribution: Distribution) -> SampledToken:
    return SampledToken(token_id, float(logits[token_id]) - normaliser, distribution.log_prob(token_id))
