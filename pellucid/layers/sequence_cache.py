"""The key–value cache of a decoder-only model: what earlier tokens left for later ones to look at.

Sequences of a batch stand at the right: where a prompt is shorter than the longest, its row begins with padding, which
nobody may look at, and its positions are counted from its own first token. So each gives what it gives alone.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from pellucid.layers.attention import KeyValue

__all__ = ["NewTokens", "SequenceCache"]


class NewTokens(NamedTuple):
    """Where the tokens that come next stand, and what they may look at.

    Attributes:
        positions: of each, in its own sequence; 0 for padding.
        may_attend: True where a new token may look at a stored one or at a new one.
        furthest: the highest position and one, tokens.
    """

    positions: Int[Tensor, "*batch seq"]
    may_attend: Bool[Tensor, "#batch 1 seq key"]
    furthest: int


class SequenceCache:
    """Keys and values of all tokens so far, for each block.

    Args:
        n_layers: blocks of the model.
        room: tokens a sequence to make room for at first; it grows when they are more.
        padding: how many of a row's first tokens are padding, [batch]; None if none are in any.

    Attributes:
        length: tokens stored, padding included; the same for all rows.
    """

    def __init__(self, n_layers: int, room: int = 256, padding: Int[Tensor, " batch"] | None = None) -> None:
        self.length = 0
        self.padding = padding
        self._room = max(room, 1)
        self._stored: list[tuple[Tensor, Tensor] | None] = [None] * n_layers

    def make_room(self, count: int, device: torch.device) -> NewTokens:
        """Make room for some more tokens a sequence; each may look at itself and at what stands before it."""
        self.length += count
        slots = torch.arange(self.length, device=device)
        new = slots[self.length - count :]
        may_attend = (slots <= new[:, None])[None, None]
        if self.padding is None:
            return NewTokens(new, may_attend, self.length)
        is_token = slots >= self.padding[:, None]
        return NewTokens(self._positions(new), may_attend & is_token[:, None, None], self.length)

    def append(self, block: int, new: KeyValue) -> KeyValue:
        """Store the new tokens' keys and values of a block; return those of all tokens so far."""
        start = self.length - new.key.shape[2]
        stored = self._stored[block]
        if stored is None or stored[0].shape[2] < self.length:
            stored = self._stored[block] = self._grown(stored, new, start)
        key, value = stored
        key[:, :, start : self.length] = new.key
        value[:, :, start : self.length] = new.value
        slots = torch.arange(self.length, device=key.device)
        return KeyValue(key[:, :, : self.length], value[:, :, : self.length], self._positions(slots))

    def cut(self, length: int) -> None:
        """Forget all but the first `length` tokens of each row."""
        self.length = min(self.length, length)

    def select(self, rows: Int[Tensor, " chosen"]) -> None:
        """Go on with these rows of the batch, in this order; a row may be named several times (copies)."""
        self._stored = [None if kv is None else (kv[0][rows], kv[1][rows]) for kv in self._stored]
        if self.padding is not None:
            self.padding = self.padding[rows]

    def stored(self, block: int) -> tuple[KeyValue, int]:
        """Return a block's keys and values of all tokens so far, and how many bytes are set aside for them.

        One token has been read at least.
        """
        held = self._stored[block]
        assert held is not None, "a token comes first"
        slots = torch.arange(self.length, device=held[0].device)
        reserved = sum(x.numel() * x.element_size() for x in held)
        return KeyValue(held[0][:, :, : self.length], held[1][:, :, : self.length], self._positions(slots)), reserved

    @property
    def nbytes(self) -> int:
        """Bytes held by keys and values."""
        return sum(x.numel() * x.element_size() for kv in self._stored if kv for x in kv)

    def _positions(self, slots: Tensor) -> Tensor:
        return slots if self.padding is None else (slots - self.padding[:, None]).clamp(min=0)

    def _grown(self, stored: tuple[Tensor, Tensor] | None, new: KeyValue, used: int) -> tuple[Tensor, Tensor]:
        batch, heads, _, d_head = new.key.shape
        room = max(self._room, self.length if stored is None else 2 * self.length)
        longer = (new.key.new_zeros(batch, heads, room, d_head), new.value.new_zeros(batch, heads, room, d_head))
        if stored is not None:
            longer[0][:, :, :used], longer[1][:, :, :used] = stored[0][:, :, :used], stored[1][:, :, :used]
        return longer
