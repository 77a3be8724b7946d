"""Continue prompts: batches of them, with several samples each, or one as a stream."""

import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pellucid.errors import UserError
from pellucid.generation.batching import batch_by_length
from pellucid.generation.checks import GenerationWarning, check_repetition
from pellucid.generation.continuation import Continuation, SampledToken, run_continuations
from pellucid.generation.generated_text import GeneratedToken, Generation, Sample, TextStream, TokenProbability
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.text_model import TextModel
from pellucid.plurals import pluralize
from pellucid.randomness import generator

__all__ = ["OnProgress", "Prompt", "generate_texts", "stream_text"]

OnProgress = Callable[[int], object]
"""Called with the number of new tokens since the last call."""

BATCH_TOKENS = 8192  # of prompts and their continuations, in the cache at once
_SEEDS = 2**32


class Prompt(NamedTuple):
    """A text to continue, and its ids, start token included."""

    text: str
    ids: Sequence[int]


def generate_texts(
    model: TextModel, prompts: Sequence[Prompt], config: SamplingConfig, on_progress: OnProgress = lambda tokens: None
) -> list[Generation]:
    """Continue prompts, in order.

    Raises:
        UserError: if a prompt is longer than the context, unless `sliding` is set.
    """
    for prompt in prompts:
        _check_length(model, prompt.ids, config)
    seed = _choose_seed(config)
    rows = [(prompt, sample) for prompt in range(len(prompts)) for sample in range(config.samples)]
    decoder = model.new_decoder()

    def fits(count: int, longest: int) -> bool:
        tokens = count * min(longest + config.tokens, model.context)
        return count <= (decoder.max_batch_size or len(rows)) and tokens <= BATCH_TOKENS

    samples: dict[tuple[int, int], Sample] = {}
    for batch in batch_by_length([len(prompts[prompt].ids) for prompt, _ in rows], fits):
        continuations = [_start(model, prompts[rows[i][0]].ids, config, seed, rows[i][1]) for i in batch]
        for step in run_continuations(decoder, continuations):
            on_progress(len(step))
        for i, continuation in zip(batch, continuations, strict=True):
            samples[rows[i]] = _finish(model, continuation, prompts[rows[i][0]].ids)
    return [
        Generation(text, len(ids), tuple(samples[number, sample] for sample in range(config.samples)), seed)
        for number, (text, ids) in enumerate(prompts)
    ]


def stream_text(model: TextModel, prompt: Prompt, config: SamplingConfig) -> TextStream:
    """Continue a prompt, giving the text as it is generated.

    Raises:
        UserError: for several samples; and as `generate_texts`.
    """
    if config.samples > 1:
        raise UserError("only one sample can be streamed", where="samples", hint="Leave `samples` out.")
    _check_length(model, prompt.ids, config)
    seed = _choose_seed(config)
    continuation = _start(model, prompt.ids, config, seed, 0)
    texts = (text for step in run_continuations(model.new_decoder(), [continuation]) for _, text in step)
    return TextStream(
        texts, lambda: Generation(prompt.text, len(prompt.ids), (_finish(model, continuation, prompt.ids),), seed)
    )


def _check_length(model: TextModel, ids: Sequence[int], config: SamplingConfig) -> None:
    if len(ids) > model.context and not config.sliding:
        raise UserError(
            f"the prompt has {pluralize(len(ids), 'token')}, but the model reads {model.context:,} at once",
            where="prompt",
            hint="Shorten it, or set sliding (`--sliding`) to read its latest tokens only, at least half the context.",
        )


def _choose_seed(config: SamplingConfig) -> int:
    return secrets.randbelow(_SEEDS) if config.seed is None else config.seed


def _start(model: TextModel, ids: Sequence[int], config: SamplingConfig, seed: int, sample: int) -> Continuation:
    return Continuation(ids, config, model.vocabulary, model.window, generator(seed, "sample", sample))


def _finish(model: TextModel, continuation: Continuation, prompt: Sequence[int]) -> Sample:
    assert continuation.finish_reason is not None
    pieces = model.tokenizer.pieces_from_ids(continuation.ids)[len(prompt) :]
    alternatives = continuation.alternatives or [()] * len(continuation.sampled)
    tokens = tuple(
        GeneratedToken(token.id, piece.display, *token[1:], tuple(_readable(model, one) for one in others))
        for token, piece, others in zip(continuation.sampled, pieces, alternatives, strict=True)
    )
    checks = [
        check_repetition(prompt, continuation.ids[len(prompt) :], "the text"),
        _incomplete_character(continuation.withheld),
        _out_of_context(continuation, len(prompt), model.context),
    ]
    return Sample(
        continuation.text,
        tokens,
        continuation.finish_reason,
        continuation.stop,
        tuple(warning for warning in checks if warning is not None),
    )


def _readable(model: TextModel, token: SampledToken) -> TokenProbability:
    (piece,) = model.tokenizer.pieces_from_ids([token.id])
    return TokenProbability(token.id, piece.display, *token[1:])


def _incomplete_character(data: bytes) -> GenerationWarning | None:
    if not data:
        return None
    return GenerationWarning(
        "incomplete_character", f"the text ended within a character; withheld: {data.hex(' ').upper()}"
    )


def _out_of_context(continuation: Continuation, prompt: int, context: int) -> GenerationWarning | None:
    length = pluralize(context, "token")
    if continuation.finish_reason == "context":
        return GenerationWarning(
            "context", f"the context of {length} was full: {pluralize(prompt, 'token')} of the prompt and the new ones"
        )
    if continuation.slides:
        return GenerationWarning("sliding", f"longer than the context of {length}: its beginning was out of view")
    return None
