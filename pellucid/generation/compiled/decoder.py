"""A decoder that is limited by memory bandwidth only.

What a token costs is the reading of every weight once: at 8 bits a quarter of what float32 takes. Texts side by side
share that reading. Activations, sums, attention and the cache stay in float32, whatever the weights are; so nothing but
the weights is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy
import torch
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.generation.batching import unique_rows
from pellucid.generation.compiled.kernel import run
from pellucid.generation.compiled.packing import Precision, round_up
from pellucid.generation.compiled.program import Program, compile_model
from pellucid.kernels.barrier import create_barrier
from pellucid.kernels.simd import LANES, aligned_zeros
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CompiledDecoder", "compile_at_first_use"]

_FIRST_ROOM = 256  # tokens
_SHARED_FROM = 4_000_000  # bytes of weights; below it a second thread costs more than it brings


def compile_at_first_use(model: DecoderOnly, precision: Precision) -> Callable[[], CompiledDecoder]:
    """Create a function that creates decoders of a model, each with its own cache; the first call compiles it."""
    program = cache(lambda: compile_model(model, precision))
    return lambda: CompiledDecoder(program())


class CompiledDecoder:
    """A `BatchDecoder` (see `generation/decoder.py`) for the CPU.

    The logits of a text are the same to the bit at any number of threads, however it is divided between calls, and
    whatever its neighbours are.

    Args:
        program: a compiled model; any number of decoders may share it.
        threads: those of PyTorch if not given; one where the model is small.

    Attributes:
        lengths: tokens read, of each text.
    """

    max_batch_size = None

    def __init__(self, program: Program, threads: int | None = None) -> None:
        self.lengths: list[int] = []
        self._program = program
        self._arena = aligned_zeros(len(program.arena))
        self._arena[:] = program.arena
        place, length = program.logits
        self._logits = self._arena[place : place + length * program.tokens].reshape(-1, length)
        small = program.weight_bytes < _SHARED_FROM
        self.threads = threads or (1 if small else torch.get_num_threads())
        self._others = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self._barrier = create_barrier()
        self._slots: list[int] = []  # where each text's keys and values are in the cache
        self._cache = aligned_zeros(0, *program.cache_shape[:-1], 0, program.cache_shape[-1])
        self._scores = aligned_zeros(self.threads, 0)
        self._table = program.table(0)

    @property
    def vocab_size(self) -> int:
        """Number of logits."""
        return self._program.vocab_size

    @property
    def context(self) -> int:
        """Maximum length of a text, tokens."""
        return self._program.context

    def prefill(self, prompts: Sequence[Sequence[int]]) -> NDArray[numpy.float32]:
        """Start over with these prompts, at least a token each, and return the logits after each.

        A prompt given several times is read once.

        Raises:
            UserError: if one is longer than the context.
        """
        texts, rows = unique_rows(prompts)
        self._slots, self.lengths = list(range(len(texts))), [0] * len(texts)
        logits = self.extend(texts)
        if len(rows) == len(texts):
            return logits
        self.select(rows)
        return logits[rows]

    def step(self, ids: Sequence[int]) -> NDArray[numpy.float32]:
        """Append an id to each text and return the logits after it, [texts vocab_size].

        Raises:
            UserError: if a text grows beyond the context.
        """
        return self.extend([(number,) for number in ids])

    def extend(self, texts: Sequence[Sequence[int]]) -> NDArray[numpy.float32]:
        """Append at least one id to each text and return the logits after the last, [texts vocab_size].

        Raises:
            UserError: if a text grows beyond the context.
        """
        self._check(texts)
        self._make_room(len(self._cache), max(map(int.__add__, self.lengths, map(len, texts))))
        # A text's last token is the one whose logits are wanted: they come last, all else before.
        rows = list(zip(texts, self._slots, self.lengths, strict=True))
        before = [
            (number, slot, length + place) for text, slot, length in rows for place, number in enumerate(text[:-1])
        ]
        last = [(text[-1], slot, length + len(text) - 1) for text, slot, length in rows]
        tokens = numpy.array(before + last, numpy.int64)
        logits = numpy.empty((len(texts), self.vocab_size), numpy.float32)
        first_wanted = len(before)
        for start in range(0, len(tokens), self._program.tokens):
            part = tokens[start : start + self._program.tokens]
            wanted = min(len(part), max(0, start + len(part) - first_wanted))
            self._run(part, wanted)
            if wanted:
                done = start + len(part) - first_wanted
                logits[done - wanted : done] = self._logits[len(part) - wanted : len(part), : self.vocab_size]
        self.lengths = [length + len(text) for length, text in zip(self.lengths, texts, strict=True)]
        return logits

    def select(self, rows: Sequence[int]) -> None:
        """Keep these texts, in this order; one may be named several times."""
        used: set[int] = set()
        free = iter(sorted(set(range(max(len(rows), len(self._cache)))) - {self._slots[row] for row in rows}))
        slots = []
        self._make_room(len(rows), max(self.lengths))
        for row in rows:
            slot = self._slots[row]
            if slot in used:
                copy = next(free)
                self._cache[copy, :, :, :, : self.lengths[row]] = self._cache[slot, :, :, :, : self.lengths[row]]
                slot = copy
            used.add(slot)
            slots.append(slot)
        self._slots, self.lengths = slots, [self.lengths[row] for row in rows]

    def truncate(self, length: int) -> None:
        """Drop all but the first `length` tokens of each text."""
        self.lengths = [min(one, length) for one in self.lengths]

    def _check(self, texts: Sequence[Sequence[int]]) -> None:
        for text, length in zip(texts, self.lengths, strict=True):
            if not text or min(text) < 0 or max(text) >= self.vocab_size:
                raise UserError(
                    f"expected ids below {self.vocab_size}, at least one; got {list(text)[:10]}",
                    where="texts",
                    hint="Encode the text with the tokenizer of this model.",
                )
            if length + len(text) > self.context:
                raise UserError(
                    f"the text has {length + len(text)} tokens, the model reads {self.context} at most",
                    where="texts",
                    hint="Shorten the text.",
                )

    def _run(self, tokens: NDArray[numpy.int64], wanted: int) -> None:
        program, arena = self._program, self._arena
        shared = program.ops, program.scalars, arena, self._cache, self._scores, self._table, tokens, wanted
        others = (
            [self._others.submit(run, *shared, n, self.threads, self._barrier) for n in range(1, self.threads)]
            if self._others is not None
            else []
        )
        run(*shared, 0, self.threads, self._barrier)
        for other in others:
            other.result()

    def _make_room(self, texts: int, tokens: int) -> None:
        """Grow the cache to this many texts of this many tokens."""
        room = self._cache.shape[4]
        texts = max(texts, len(self._slots))
        if texts <= len(self._cache) and tokens <= room:
            return
        if tokens > room:
            room = round_up(max(_FIRST_ROOM, tokens, min(2 * room, self.context)), LANES)
            self._scores, self._table = aligned_zeros(self.threads, room), self._program.table(room)
        blocks, two, kv_heads, length = self._program.cache_shape
        cache = aligned_zeros(texts, blocks, two, kv_heads, room, length)
        old = self._cache[:texts]
        cache[: len(old), :, :, :, : old.shape[4]] = old
        self._cache = cache
