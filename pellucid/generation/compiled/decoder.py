"""A language model that reads one sequence, a token at a time, as fast as memory gives its weights.

What a token costs is the reading of every weight once: at 8 bits a quarter of what float32 takes. Activations, sums,
attention and the cache stay in float32, whatever the weights are; so nothing but the weights is rounded.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.generation.compiled.kernel import run
from pellucid.generation.compiled.packing import Precision, filled_up
from pellucid.generation.compiled.program import compiled
from pellucid.lanes import LANES, new_rows
from pellucid.meeting import new_meeting
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CompiledDecoder"]

_TOKENS_AT_ONCE = 32
_FIRST_ROOM = 256  # tokens
_SHARED_FROM = 4_000_000  # bytes of weights; below it a second thread costs more than it brings


class CompiledDecoder:
    """A `Decoder` (see `generation/decoder.py`) for one sequence on CPU.

    The logits are the same to the bit at any number of threads and however a text is divided between calls.

    Args:
        model: on CPU, in float32; not needed any more afterwards.
        precision: of the weights: float32, bfloat16, or int8 with a scale a row.
        threads: those of PyTorch if not given; one where the model is small.

    Attributes:
        vocab_size: how many logits there are.
        context: most tokens that a sequence may have.
        length: tokens read.
    """

    def __init__(self, model: DecoderOnly, precision: Precision = "int8", threads: int | None = None) -> None:
        self.vocab_size = model.vocab_size
        self.context = model.config.max_positions
        self.length = 0
        self._program = compiled(model, precision, _TOKENS_AT_ONCE)
        small = self._program.weight_bytes < _SHARED_FROM
        self.threads = threads or (1 if small else torch.get_num_threads())
        self._others = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self._meeting = new_meeting()
        blocks, two, kv_heads, length = self._program.cache_shape
        self._cache = new_rows(blocks, two, kv_heads, 0, length)
        self._scores = new_rows(self.threads, 0)
        self._table = self._program.table(0)

    def prefill(self, ids: Sequence[int]) -> NDArray[numpy.float32]:
        """Forget what was read, read `ids` (at least one), and return the logits after the last, [vocab_size]."""
        self.length = 0
        return self.extend(ids)

    def step(self, number: int) -> NDArray[numpy.float32]:
        """Read one more id and return the logits after it, [vocab_size]."""
        return self.extend((number,))

    def extend(self, ids: Sequence[int]) -> NDArray[numpy.float32]:
        """Read some more ids (at least one) and return the logits after the last, [vocab_size].

        Raises:
            UserError: if the sequence grows beyond the context.
        """
        numbers = numpy.asarray(ids, numpy.int64)
        if not len(numbers) or numbers.min() < 0 or numbers.max() >= self.vocab_size:
            raise UserError(f"expected ids below {self.vocab_size}, at least one; got {list(ids)[:10]}")
        if self.length + len(numbers) > self.context:
            raise UserError(
                f"the text has {self.length + len(numbers)} tokens, the model reads {self.context} at most",
                hint="Give it less text.",
            )
        self._make_room(self.length + len(numbers))
        for first in range(0, len(numbers), _TOKENS_AT_ONCE):
            self._run(numbers[first : first + _TOKENS_AT_ONCE])
        place = self._program.logits
        return self._program.arena[place : place + self.vocab_size].copy()

    def cut(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        self.length = min(self.length, length)

    @property
    def weight_bytes(self) -> int:
        """Bytes of matrices: what is read for every token."""
        return self._program.weight_bytes

    def _run(self, ids: NDArray[numpy.int64]) -> None:
        program = self._program
        shared = program.steps, program.numbers, program.arena, self._cache, self._scores, self._table, ids, self.length
        others = [
            self._others.submit(run, *shared, thread, self.threads, self._meeting)
            for thread in range(1, self.threads)
            if self._others is not None
        ]
        run(*shared, 0, self.threads, self._meeting)
        for other in others:
            other.result()
        self.length += len(ids)

    def _make_room(self, tokens: int) -> None:
        """Let the cache hold so many tokens."""
        room = self._cache.shape[3]
        if tokens <= room:
            return
        larger = filled_up(max(_FIRST_ROOM, tokens, min(2 * room, self.context)), LANES)
        blocks, two, kv_heads, length = self._program.cache_shape
        cache = new_rows(blocks, two, kv_heads, larger, length)
        cache[:, :, :, : self.length] = self._cache[:, :, :, : self.length]
        self._cache, self._scores = cache, new_rows(self.threads, larger)
        self._table = self._program.table(larger)
