"""The key–value cache of a decoder, shared by the hypotheses of a beam without copying.

All hypotheses of a sentence stand side by side on the query axis. What each of them computes at a step is written
once, into its slot; afterwards a hypothesis is told apart only by the slots it may look at: its ancestry. Re-ordering
a beam re-orders rows of that small mask, never keys or values.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from pellucid.layers.attention import KeyValue

__all__ = ["DecoderCache"]


class DecoderCache:
    """Keys and values of all earlier steps, and of the source.

    Args:
        source: per block, keys and values of the encoder's states, [batch kv_heads source d_head].
        may_attend_source: True where a source token may be looked at, [batch 1 1 source].
        hypotheses: how many stand side by side for each sentence.

    Attributes:
        step: how many steps are stored.
        may_attend: True where a hypothesis may look at a slot, [batch 1 hypotheses step·hypotheses]; slot
            s·hypotheses + h holds what hypothesis h computed at step s.
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
        self._stored: list[tuple[Tensor, Tensor] | None] = [None] * len(source)

    def open_step(self) -> None:
        """Make room for a step in the mask: each hypothesis may look at what it computes itself."""
        own = self._itself.expand(len(self.may_attend), -1, -1, -1)
        self.may_attend = torch.cat((self.may_attend, own), dim=-1)
        self.step += 1

    def append(self, block: int, new: KeyValue) -> KeyValue:
        """Store this step's keys and values of a block; return those of all steps so far."""
        stop = self.step * self.hypotheses
        start = stop - new.key.shape[2]
        stored = self._stored[block]
        if stored is None or stored[0].shape[2] < stop:
            stored = self._stored[block] = self._grown(stored, new, start)
        key, value = stored
        key[:, :, start:stop] = new.key
        value[:, :, start:stop] = new.value
        positions = torch.arange(self.step, device=key.device).repeat_interleave(self.hypotheses)
        return KeyValue(key[:, :, :stop], value[:, :, :stop], positions)

    def reorder(self, parents: Int[Tensor, "batch hypotheses"]) -> None:
        """Let each hypothesis descend from the given one of the same sentence."""
        rows = parents[:, None, :, None].expand(-1, -1, -1, self.may_attend.shape[-1])
        self.may_attend = self.may_attend.gather(2, rows)

    def select(self, sentences: Int[Tensor, " left"]) -> None:
        """Go on with these sentences only (copies what is left: call it when many are done, not at every step)."""
        self.source = [KeyValue(s.key[sentences], s.value[sentences], s.positions) for s in self.source]
        self.may_attend_source = self.may_attend_source[sentences]
        self.may_attend = self.may_attend[sentences]
        self._stored = [None if kv is None else (kv[0][sentences], kv[1][sentences]) for kv in self._stored]

    def stored(self, block: int) -> tuple[KeyValue, int]:
        """Return a block's keys and values of all steps so far, and how many bytes are set aside for them.

        One step has been taken at least.
        """
        held = self._stored[block]
        assert held is not None, "a step comes first"
        used = self.step * self.hypotheses
        positions = torch.arange(self.step, device=held[0].device).repeat_interleave(self.hypotheses)
        reserved = sum(x.numel() * x.element_size() for x in held)
        return KeyValue(held[0][:, :, :used], held[1][:, :, :used], positions), reserved

    @property
    def nbytes(self) -> int:
        """Bytes held by keys and values, of the source and of earlier steps."""
        held = [x for kv in self.source for x in (kv.key, kv.value)] + [x for kv in self._stored if kv for x in kv]
        return sum(x.numel() * x.element_size() for x in held)

    def _grown(self, stored: tuple[Tensor, Tensor] | None, new: KeyValue, used: int) -> tuple[Tensor, Tensor]:
        batch, heads, _, d_head = new.key.shape
        room = max(32 * self.hypotheses, 2 * used)
        longer = (new.key.new_zeros(batch, heads, room, d_head), new.value.new_zeros(batch, heads, room, d_head))
        if stored is not None:
            longer[0][:, :, :used], longer[1][:, :, :used] = stored[0][:, :, :used], stored[1][:, :, :used]
        return longer
