"""Key–value caches: the keys and values of earlier tokens, kept so that they are computed once.

`BeamCache` serves a translator: all hypotheses of a sentence share it without copying. They lie side by side on the
query axis, and the key and value that each computes at a step are written once, into its slot. A hypothesis is then
defined by the slots it may attend to: its own and its ancestors'. Reordering a beam reorders the rows of that small
mask, never keys or values.

`SequenceCache` serves a language model. Sequences of unequal length are aligned at their ends: a shorter one is padded
at its beginning, which no token may attend to, and its positions are counted from its own first token. So each
sequence gives the same result as on its own.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from pellucid.layers.attention import KeyValue

__all__ = ["BeamCache", "NewTokens", "SequenceCache"]

_STEPS = 32  # initial capacity of a beam's cache, in steps


class _Buffers:
    """Keys and values of each block, side by side in slots, in buffers that grow by doubling."""

    def __init__(self, blocks: int, room: int) -> None:
        self._room = max(room, 1)
        self._pairs: list[tuple[Tensor, Tensor] | None] = [None] * blocks

    def append(self, block: int, new: KeyValue, length: int) -> tuple[Tensor, Tensor]:
        """Store new keys and values so that they end at slot `length`; return those of all slots up to there."""
        start = length - new.key.shape[2]
        pair = self._pairs[block]
        if pair is None or pair[0].shape[2] < length:
            pair = self._pairs[block] = self._grow(pair, new, start, length)
        key, value = pair
        key[:, :, start:length] = new.key
        value[:, :, start:length] = new.value
        return key[:, :, :length], value[:, :, :length]

    def stored(self, block: int, length: int) -> tuple[Tensor, Tensor, int]:
        """Return a block's keys and values, and how many bytes are reserved for them."""
        pair = self._pairs[block]
        assert pair is not None, "nothing has been stored yet"
        return pair[0][:, :, :length], pair[1][:, :, :length], _bytes_of(pair)

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order."""
        self._pairs = [None if pair is None else (pair[0][rows], pair[1][rows]) for pair in self._pairs]

    @property
    def nbytes(self) -> int:
        """Reserved bytes."""
        return sum(_bytes_of(pair) for pair in self._pairs if pair)

    def _grow(self, old: tuple[Tensor, Tensor] | None, new: KeyValue, used: int, length: int) -> tuple[Tensor, Tensor]:
        batch, heads, _, d_head = new.key.shape
        size = max(self._room, length, 2 * used)
        key, value = (x.new_zeros(batch, heads, size, d_head) for x in (new.key, new.value))
        if old is not None:
            key[:, :, :used], value[:, :, :used] = old[0][:, :, :used], old[1][:, :, :used]
        return key, value


class BeamCache:
    """Keys and values of all earlier steps of a beam search, and of the source.

    Args:
        source: per block, keys and values of the encoder's states, [batch kv_heads source d_head].
        may_attend_source: True where a source token may be attended to, [batch 1 1 source].

    Attributes:
        step: number of stored steps.
        may_attend: True where a hypothesis may attend to a slot, [batch 1 hypotheses step·hypotheses]; slot
            s·hypotheses + h contains what hypothesis h computed at step s.
    """

    def __init__(
        self, source: list[KeyValue], may_attend_source: Bool[Tensor, "batch 1 1 source"], hypotheses: int
    ) -> None:
        self.source = source
        self.may_attend_source = may_attend_source
        self.hypotheses = hypotheses
        self.step = 0
        device = may_attend_source.device
        self.may_attend: Tensor = torch.ones(len(may_attend_source), 1, hypotheses, 0, dtype=torch.bool, device=device)
        self._itself = torch.eye(hypotheses, dtype=torch.bool, device=device)[None, None]
        self._buffers = _Buffers(len(source), _STEPS * hypotheses)

    def open_step(self) -> None:
        """Extend the mask by a step: each hypothesis may attend to what it computes itself."""
        own = self._itself.expand(len(self.may_attend), -1, -1, -1)
        self.may_attend = torch.cat((self.may_attend, own), dim=-1)
        self.step += 1

    def append(self, block: int, new: KeyValue) -> KeyValue:
        """Append this step's keys and values of a block; return those of all steps so far."""
        key, value = self._buffers.append(block, new, self.step * self.hypotheses)
        return KeyValue(key, value, self._positions(key.device))

    def reorder(self, parents: Int[Tensor, "batch hypotheses"]) -> None:
        """Make each hypothesis descend from the given one of the same sentence."""
        rows = parents[:, None, :, None].expand(-1, -1, -1, self.may_attend.shape[-1])
        self.may_attend = self.may_attend.gather(2, rows)

    def select(self, sentences: Int[Tensor, " left"]) -> None:
        """Keep these sentences only. This copies what is left: call it when many are done, not at every step."""
        self.source = [KeyValue(s.key[sentences], s.value[sentences], s.positions) for s in self.source]
        self.may_attend_source = self.may_attend_source[sentences]
        self.may_attend = self.may_attend[sentences]
        self._buffers.select(sentences)

    def stored(self, block: int) -> tuple[KeyValue, int]:
        """Return a block's keys and values of all steps so far, at least one, and the bytes reserved for them."""
        key, value, reserved = self._buffers.stored(block, self.step * self.hypotheses)
        return KeyValue(key, value, self._positions(key.device)), reserved

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values, of the source and of earlier steps."""
        return self._buffers.nbytes + sum(_bytes_of((kv.key, kv.value)) for kv in self.source)

    def _positions(self, device: torch.device) -> Int[Tensor, " slots"]:
        return torch.arange(self.step, device=device).repeat_interleave(self.hypotheses)


class NewTokens(NamedTuple):
    """The positions of the next tokens, and their attention mask.

    Attributes:
        positions: position of each token in its own sequence; 0 for padding.
        may_attend: True where a new token may attend to a stored one or to a new one.
        end: the largest position plus one.
    """

    positions: Int[Tensor, "*batch seq"]
    may_attend: Bool[Tensor, "#batch 1 seq key"]
    end: int


class SequenceCache:
    """Keys and values of all tokens so far, for each block.

    Args:
        room: initial capacity in tokens per sequence; it grows as needed.
        padding: number of padding tokens at the start of each row, [batch]; None if no row is padded.

    Attributes:
        length: stored tokens, padding included; the same for all rows.
    """

    def __init__(self, n_layers: int, room: int = 256, padding: Int[Tensor, " batch"] | None = None) -> None:
        self.length = 0
        self.padding = padding
        self._buffers = _Buffers(n_layers, room)

    def open_tokens(self, count: int, device: torch.device) -> NewTokens:
        """Extend the sequences by some tokens, each of which may attend to itself and to those before it."""
        self.length += count
        slots = torch.arange(self.length, device=device)
        new = slots[self.length - count :]
        may_attend = (slots <= new[:, None])[None, None]
        if self.padding is None:
            return NewTokens(new, may_attend, self.length)
        is_token = slots >= self.padding[:, None]
        return NewTokens(self._positions(new), may_attend & is_token[:, None, None], self.length)

    def append(self, block: int, new: KeyValue) -> KeyValue:
        """Append the new tokens' keys and values of a block; return those of all tokens so far."""
        key, value = self._buffers.append(block, new, self.length)
        return KeyValue(key, value, self._positions(torch.arange(self.length, device=key.device)))

    def truncate(self, length: int) -> None:
        """Drop all but the first `length` tokens of each row."""
        self.length = min(self.length, length)

    def select(self, rows: Int[Tensor, " chosen"]) -> None:
        """Keep these rows of the batch, in this order; a row that is listed several times is copied."""
        self._buffers.select(rows)
        if self.padding is not None:
            self.padding = self.padding[rows]

    def stored(self, block: int) -> tuple[KeyValue, int]:
        """Return a block's keys and values of all tokens so far, at least one, and the bytes reserved for them."""
        key, value, reserved = self._buffers.stored(block, self.length)
        positions = self._positions(torch.arange(self.length, device=key.device))
        return KeyValue(key, value, positions), reserved

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return self._buffers.nbytes

    def _positions(self, slots: Tensor) -> Tensor:
        return slots if self.padding is None else (slots - self.padding[:, None]).clamp(min=0)


def _bytes_of(pair: tuple[Tensor, Tensor]) -> int:
    return sum(x.numel() * x.element_size() for x in pair)
