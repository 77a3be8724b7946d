"""A prompt in, text out; and how probable a given text is."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from pellucid.errors import UserError
from pellucid.generation.checks import GenerationWarning, check_repetition
from pellucid.generation.continuation import (
    ContextWindow,
    Continuation,
    DecodingVocabulary,
    SampledToken,
    run_continuations,
)
from pellucid.generation.conversation import Conversation, Message
from pellucid.generation.decoder import BatchDecoder, ModelDecoder
from pellucid.generation.generated_text import GeneratedToken, Generation, Sample, TokenProbability
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.settings import override_settings
from pellucid.generation.text_score import ScoringInput, TextScore, TokenScore, score_tokens
from pellucid.generation.text_stream import TextStream
from pellucid.models.decoder_only import DecoderOnly
from pellucid.plurals import pluralize
from pellucid.randomness import generator
from pellucid.tokenizers import ImportedTokenizer, LanguageTokenizer

if TYPE_CHECKING:
    from pellucid.inspection import Look, LookBatch, WhatIf

__all__ = ["LanguageModel"]

OnProgress = Callable[[int], object]

BATCH_TOKENS = 8192  # of prompts and what is to come, in the cache at once
_LARGEST_SEED = 2**32


class LanguageModel:
    """A model that goes on with a text.

    Args:
        model: in the precision and on the device it shall run in.
        tokenizer: its own.
        config: how to go on unless told otherwise.
        new_decoder: makes what generates, each with a memory of its own; unless given, the model itself does it.

    Attributes:
        conversation: how it wants conversations written; None if it has not been taught to converse.
    """

    def __init__(
        self,
        model: DecoderOnly,
        tokenizer: LanguageTokenizer,
        config: SamplingConfig | None = None,
        *,
        new_decoder: Callable[[], BatchDecoder] | None = None,
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.config = config or SamplingConfig()
        self.conversation: Conversation | None = None
        self.new_decoder: Callable[[], BatchDecoder] = new_decoder or (lambda: ModelDecoder(model))
        self.vocabulary = DecodingVocabulary(tokenizer, model.vocab_size)

    def __repr__(self) -> str:
        return f"<language model, context {self.context:,} tokens, vocabulary {self.model.vocab_size:,}>"

    @property
    def context(self) -> int:
        """Most tokens that are read at once."""
        return self.model.config.max_positions

    @overload
    def generate(self, prompt: str, *, on_progress: OnProgress | None = None, **settings: Any) -> Generation: ...

    @overload
    def generate(
        self, prompt: Sequence[str], *, on_progress: OnProgress | None = None, **settings: Any
    ) -> list[Generation]: ...

    def generate(
        self, prompt: str | Sequence[str], *, on_progress: OnProgress | None = None, **settings: Any
    ) -> Generation | list[Generation]:
        r"""Go on with a prompt, or with each of several; as many come back, in the same order.

        In float32 no prompt's continuation depends on its neighbours: each is what it would be alone with this seed.
        The empty prompt begins a new text.

        Args:
            prompt: one text, or any number.
            on_progress: called with the number of new tokens since the last call.
            settings: fields of SamplingConfig, such as `tokens=100`, `temperature=0` or `stop=["\n"]`.

        Raises:
            UserError: for a setting that does not exist or does not fit, and for a prompt that is longer than the
                context, unless `sliding` is set.
        """
        if not isinstance(prompt, str) and not isinstance(prompt, Iterable):
            raise _no_text(prompt, "a text or a list of texts", "generate")
        texts = [prompt] if isinstance(prompt, str) else list(prompt)
        for one in texts:
            if not isinstance(one, str):
                raise _no_text(one, "a text or a list of texts", "generate")
        found = self._continue(texts, [self.prompt_ids(text) for text in texts], self.settings(**settings), on_progress)
        return found[0] if isinstance(prompt, str) else found

    def stream(self, prompt: str, **settings: Any) -> TextStream:
        """Go on with a prompt and give the text as it comes; `generation` of what is returned has the rest, at the end.

        Args:
            prompt: a text.
            settings: as for `generate`, which gives the same text; one sample only.

        Raises:
            UserError: as `generate`.
        """
        if not isinstance(prompt, str):
            raise _no_text(prompt, "one text", "stream")
        return self._stream(prompt, self.prompt_ids(prompt), self.settings(**settings))

    def chat(self, messages: Sequence[Message], **settings: Any) -> Generation:
        """Answer in a conversation.

        Args:
            messages: what was said, each with `role` (system, user, assistant) and `content`; the last is the user's.
            settings: as for `generate`.

        Raises:
            UserError: if the model has not been taught to converse, or refuses these messages; and as `generate`.
        """
        said, ids = self._conversation_ids(messages)
        return self._continue([said], [ids], self.settings(**settings), None)[0]

    def chat_stream(self, messages: Sequence[Message], **settings: Any) -> TextStream:
        """Answer in a conversation and give the text as it comes.

        Args:
            messages: as for `chat`.
            settings: as for `stream`.

        Raises:
            UserError: as `chat`.
        """
        return self._stream(*self._conversation_ids(messages), self.settings(**settings))

    def require_conversation(self) -> Conversation:
        """Return how the model wants conversations written.

        Raises:
            UserError: if it has not been taught to converse.
        """
        if self.conversation is None:
            raise UserError(
                "the model has not been taught to converse: it has no chat template, and learnt no prompts",
                hint="Let it go on with a text instead, by `pellucid generate` or generate().",
            )
        return self.conversation

    def has_room(self, messages: Sequence[Message], **settings: Any) -> bool:
        """Tell whether a conversation leaves room in the context for an answer: for all new tokens, or for half of it.

        Raises:
            UserError: as `chat`.
        """
        answer = min(self.settings(**settings).tokens, self.context // 2)
        return len(self._conversation_ids(messages)[1]) + answer <= self.context

    def score(self, text: str, given: str = "", *, stride: int | None = None) -> TextScore:
        """Tell how probable a text is after another one: the log-probability of each token, natural logarithm.

        The two are encoded as one text. Where a token would reach across the border, each is encoded by itself. What
        is longer than the context is read through windows, see `score_tokens`; nothing is cut.

        Args:
            text: what is scored; all of it, and nothing of `given`.
            given: what stands before it; nothing of it is scored.
            stride: of the windows, tokens; half the context unless given.

        Raises:
            UserError: if the model has nothing that a text could begin with and `given` is empty; for a stride that
                leaves tokens out.
        """
        for one in (text, given):
            if not isinstance(one, str):
                raise _no_text(one, "one text, and perhaps one given before it", "score")
        before, scored = self._split_ids(text, given)
        begin = self.begin_ids(always=not before)
        return self.score_ids(
            ScoringInput([*begin, *before, *scored], len(begin) + len(before)), self.checked_stride(stride)
        )

    def score_ids(self, reading: ScoringInput, stride: int) -> TextScore:
        """Tell how probable the scored ids of a reading are, each with how it is shown."""
        (log_probs,) = score_tokens(self.model, [reading], self.window, stride)
        pieces = self.tokenizer.pieces_from_ids(reading.ids)[reading.first :]
        tokens = [TokenScore(piece.id, piece.display, value) for piece, value in zip(pieces, log_probs, strict=True)]
        return TextScore(sum(log_probs), tuple(tokens))

    def settings(self, **settings: Any) -> SamplingConfig:
        """Return the model's settings with some changed; None changes nothing.

        Raises:
            UserError: for a setting that does not exist or does not fit.
        """
        if isinstance(settings.get("stop"), str):
            settings["stop"] = (settings["stop"],)
        return override_settings(self.config, settings)

    @property
    def window(self) -> ContextWindow:
        """What is read at once of a longer text.

        A start token that the model has seen before every text stays in view. A model trained here has not: pieces of
        its long documents began anywhere.
        """
        return ContextWindow(
            self.context, int(isinstance(self.tokenizer, ImportedTokenizer) and self.tokenizer.adds_start)
        )

    def checked_stride(self, stride: int | None) -> int:
        """Return the stride of windows over texts longer than the context, tokens: half the context unless given.

        Raises:
            UserError: if it is below 1, or so large that tokens would fall between two windows.
        """
        most = self.context - self.window.kept
        if stride is not None and not 1 <= stride <= most:
            raise UserError(f"expected a stride from 1 to {most} tokens, got {stride}", where="stride")
        return stride or max(1, self.context // 2)

    @overload
    def look(  # type: ignore[overload-overlap]  # a text is a sequence of texts to the type checker
        self, text: str, *, tokens: int = 0, what: Sequence[str] | None = None
    ) -> "Look": ...

    @overload
    def look(self, text: Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None) -> "LookBatch": ...

    def look(
        self, text: str | Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None
    ) -> "Look | LookBatch":
        """Look inside while it reads a text: see `pellucid.inspection.look_at_language_model`."""
        from pellucid.inspection import look_at_language_model

        return look_at_language_model(self, text, tokens=tokens, what=what)

    def what_if(self, text: str) -> "WhatIf":
        """Return a run that can be edited, to see what the edit does: see `pellucid.inspection.what_if.WhatIf`."""
        from pellucid.inspection import what_if_language_model

        return what_if_language_model(self, text)

    def prompt_ids(self, text: str) -> list[int]:
        """Return the ids that a prompt is read as, the start's included.

        Raises:
            UserError: if the prompt is empty and the model has nothing that a text could begin with.
        """
        ids = self.tokenizer.encode(text)
        return [*self.begin_ids(always=not ids), *ids]

    def begin_ids(self, *, always: bool) -> list[int]:
        """Return what stands before a text: the start token, or nothing if the model is used to no such token.

        Args:
            always: give something in any case: the end of the text before it where there is no start token.

        Raises:
            UserError: if there is nothing to give.
        """
        if not (always or self.tokenizer.adds_start):
            return []
        number = self.tokenizer.start_id if self.tokenizer.start_id is not None else self.tokenizer.end_id
        if number is None:
            raise UserError("the model has no token that a text begins with", hint="Give a text to go on from.")
        return [number]

    def _split_ids(self, text: str, given: str) -> tuple[list[int], list[int]]:
        """Return the ids of `given` and of `text`, cut from the ids of both where no token reaches across."""
        tokenizer = self.tokenizer
        if not given:
            return [], tokenizer.encode(text)
        before = tokenizer.encode(given)
        border = len(tokenizer.decode(before))
        pieces = tokenizer.pieces(given + text)
        count = next((i for i, piece in enumerate(pieces) if piece.end > border), len(pieces))
        if count < len(pieces) and pieces[count].start < border:
            return before, tokenizer.encode_continuation(text)
        ids = [piece.id for piece in pieces]
        return ids[:count], ids[count:]

    def _conversation_ids(self, messages: Sequence[Message]) -> tuple[str, list[int]]:
        ids = self.require_conversation().encode(messages)
        return messages[-1]["content"] if messages else "", ids

    def _check_room(self, ids: Sequence[int], config: SamplingConfig) -> None:
        if len(ids) > self.context and not config.sliding:
            raise UserError(
                f"the prompt has {pluralize(len(ids), 'token')}, and the model reads {self.context:,} at once",
                hint="Shorten it, or set sliding (`--sliding`): then only its latest tokens are read, half the context "
                "at least.",
            )

    def _continue(
        self,
        texts: Sequence[str],
        prompts: Sequence[list[int]],
        config: SamplingConfig,
        on_progress: OnProgress | None,
    ) -> list[Generation]:
        for ids in prompts:
            self._check_room(ids, config)
        seed = _seed(config)
        rows = [(i, sample) for i in range(len(texts)) for sample in range(config.samples)]
        decoder = self.new_decoder()
        done: dict[tuple[int, int], Sample] = {}
        for batch in self._batches(rows, [len(ids) for ids in prompts], config.tokens, decoder.max_batch_size):
            going = [self._continuation(prompts[i], config, seed, sample) for i, sample in batch]
            for step in run_continuations(decoder, going):
                if on_progress is not None:
                    on_progress(len(step))
            for row, one in zip(batch, going, strict=True):
                done[row] = self._sample(one, prompts[row[0]])
        return [
            Generation(text, len(ids), tuple(done[i, sample] for sample in range(config.samples)), seed)
            for i, (text, ids) in enumerate(zip(texts, prompts, strict=True))
        ]

    def _stream(self, prompt: str, ids: list[int], config: SamplingConfig) -> TextStream:
        if config.samples > 1:
            raise UserError("only one sample can be streamed", where="samples", hint="Leave `samples` out.")
        self._check_room(ids, config)
        seed = _seed(config)
        one = self._continuation(ids, config, seed, 0)
        texts = (text for step in run_continuations(self.new_decoder(), [one]) for _, text in step)
        return TextStream(texts, lambda: Generation(prompt, len(ids), (self._sample(one, ids),), seed))

    def _continuation(self, ids: Sequence[int], config: SamplingConfig, seed: int, sample: int) -> Continuation:
        return Continuation(ids, config, self.vocabulary, self.window, generator(seed, "sample", sample))

    def _batches(
        self, rows: Sequence[tuple[int, int]], lengths: Sequence[int], tokens: int, most: int | None
    ) -> Iterator[list[tuple[int, int]]]:
        """Yield which continuations go side by side, the longest prompts first: what the cache holds is bounded."""
        batch: list[tuple[int, int]] = []
        for row in sorted(rows, key=lambda row: -lengths[row[0]]):
            if batch:
                needed = (len(batch) + 1) * min(lengths[batch[0][0]] + tokens, self.context)
                if len(batch) == (most or len(rows)) or needed > BATCH_TOKENS:
                    yield batch
                    batch = []
            batch.append(row)
        if batch:
            yield batch

    def _sample(self, one: Continuation, prompt: Sequence[int]) -> Sample:
        assert one.finish_reason is not None
        displays = [piece.display for piece in self.tokenizer.pieces_from_ids(one.ids)[len(prompt) :]]
        alternatives = one.alternatives or [()] * len(one.drawn)
        tokens = tuple(
            GeneratedToken(TokenProbability(drawn.id, display, *drawn[1:]), tuple(map(self._odds, others)))
            for drawn, display, others in zip(one.drawn, displays, alternatives, strict=True)
        )
        notices = [
            check_repetition(prompt, one.ids[len(prompt) :], "the text"),
            _withheld(one.withheld),
            _out_of_view(one, len(prompt), self.context),
        ]
        return Sample(
            one.text, tokens, one.finish_reason, one.stop, tuple(notice for notice in notices if notice is not None)
        )

    def _odds(self, drawn: SampledToken) -> TokenProbability:
        (piece,) = self.tokenizer.pieces_from_ids([drawn.id])
        return TokenProbability(drawn.id, piece.display, drawn.log_prob, drawn.sampling_log_prob)


def _no_text(value: object, expected: str, where: str) -> UserError:
    return UserError(f"expected {expected}, got {type(value).__name__}", where=where)


def _seed(config: SamplingConfig) -> int:
    return secrets.randbelow(_LARGEST_SEED) if config.seed is None else config.seed


def _withheld(data: bytes) -> GenerationWarning | None:
    if not data:
        return None
    return GenerationWarning("cut-character", f"the text ended within a character; withheld: {data.hex(' ').upper()}")


def _out_of_view(one: Continuation, prompt: int, context: int) -> GenerationWarning | None:
    if one.finish_reason == "context":
        full = f"the context of {pluralize(context, 'token')} was full"
        return GenerationWarning("context", f"{full}: {pluralize(prompt, 'token')} of the prompt and the new ones")
    if one.slides:
        return GenerationWarning(
            "sliding", f"longer than the context of {pluralize(context, 'token')}: its beginning was not in view"
        )
    return None
