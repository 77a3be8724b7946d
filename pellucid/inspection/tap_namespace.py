"""Recorded arrays by attribute: `look.encoder[0].heads[3].scores.content_position`, with completion."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pellucid.errors import UserError
from pellucid.inspection.attention import attention_mask
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.score_decomposition import FOUR_PARTS, decompose_scores

__all__ = ["AttentionHead", "AttentionHeads", "HeadScores", "TapNamespace"]


class TapNamespace:
    """All arrays whose names begin alike: the next word of a name is an attribute, the number of a layer an index."""

    def __init__(self, look: RecordedRun, path: str) -> None:
        self._look = look
        self._path = path

    def __repr__(self) -> str:
        return f"TapNamespace({self._path!r}: {', '.join(self._next_words())})"

    def __dir__(self) -> list[str]:
        names = [name for name in self._next_words() if not name.isdigit()]
        if self._path.endswith("attention"):
            names.append("mask")
        if self._attention():
            names.append("heads")
        return names

    def __len__(self) -> int:
        return sum(name.isdigit() for name in self._next_words())

    def __iter__(self) -> Iterator["TapNamespace"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, layer: int) -> "TapNamespace":
        """Select a layer, from 0; −1 is the last."""
        count = len(self)
        if not -count <= layer < count:
            raise IndexError(f"{self._path} has {count} layers, got {layer}")
        return TapNamespace(self._look, f"{self._path}.{layer % count}")

    def __getattr__(self, name: str) -> Any:  # an array, a namespace or heads: only the look knows which
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        if path in self._look.arrays:
            return self._look.arrays[path]
        if any(known.startswith(f"{path}.") for known in self._look.arrays):
            return TapNamespace(self._look, path)
        if name == "heads" and (attention := self._attention()):
            return AttentionHeads(self._look, attention)
        if name == "mask" and self._path.endswith("attention"):
            return attention_mask(self._look, self._path)
        raise AttributeError(f"{self._path} has no {name}; it has {', '.join(dir(self)) or 'nothing recorded'}")

    def _next_words(self) -> list[str]:
        """List what can follow this path, in the order recorded."""
        start = f"{self._path}."
        rest = [name.removeprefix(start) for name in self._look.arrays if name.startswith(start)]
        return list(dict.fromkeys(name.split(".")[0] for name in rest))

    def _attention(self) -> str:
        """Return the attention whose heads are meant: this one, or a layer's self-attention."""
        if self._path.endswith("attention"):
            return self._path
        return f"{self._path}.self_attention" if "self_attention" in self._next_words() else ""


class AttentionHeads:
    """The heads of an attention, from 0."""

    def __init__(self, look: RecordedRun, attention: str) -> None:
        self._look = look
        self._attention = attention

    def __len__(self) -> int:
        return self._look.attention(self._attention).module.n_heads

    def __iter__(self) -> Iterator["AttentionHead"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, head: int) -> "AttentionHead":
        """Select a head; −1 is the last."""
        count = len(self)
        if not -count <= head < count:
            raise IndexError(f"{self._attention} has {count} heads, got {head}")
        return AttentionHead(self._look, self._attention, head % count)


class AttentionHead:
    """The arrays of one head: query, key, value, scores (with their parts), mask, weights, head_output."""

    def __init__(self, look: RecordedRun, attention: str, number: int) -> None:
        self._look = look
        self._attention = attention
        self._number = number

    def __dir__(self) -> list[str]:
        names = ("query", "key", "value", "scores", "weights", "head_output")
        return [*(name for name in names if f"{self._attention}.{name}" in self._look.arrays), "mask"]

    def __getattr__(self, name: str) -> Any:  # an array; for scores, HeadScores
        if name not in dir(self):
            raise AttributeError(f"a head of {self._attention} has no {name}; it has {', '.join(dir(self))}")
        if name == "mask":  # the same for all heads
            return attention_mask(self._look, self._attention)
        array = self._look.arrays[f"{self._attention}.{name}"]
        module = self._look.attention(self._attention).module
        heads_per_row = module.n_heads // module.n_kv_heads if name in ("key", "value") else 1
        part = replace(array[self._number // heads_per_row], name=f"{self._attention}.heads.{self._number}.{name}")
        if name != "scores":
            return part
        fields = (part.name, part.values, part.axes, part.unit, part.meaning, part.code_location)
        return HeadScores(*fields, look=self._look, attention=self._attention, head=self._number)


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadScores(LabelledArray):
    """The scores of a head; their parts are attributes: content_position …, or content and bias.

    Attributes:
        look: that has them.
        attention: full name, such as `encoder.0.self_attention`.
        head: number of the head.
    """

    look: RecordedRun = field(repr=False)
    attention: str
    head: int

    @cached_property
    def parts(self) -> Mapping[str, LabelledArray]:
        """The parts that add up to the scores, by name.

        Raises:
            UserError: where the split is not defined, with the reason.
        """
        return {name: part[self.head] for name, part in decompose_scores(self.look, self.attention).parts.items()}

    def __dir__(self) -> list[str]:
        try:
            return [*super().__dir__(), *self.parts]
        except UserError:
            return list(super().__dir__())

    def __getattr__(self, name: str) -> LabelledArray:
        if name not in (*FOUR_PARTS, "content", "bias"):
            raise AttributeError(f"scores have no {name}")
        if name not in self.parts:
            raise AttributeError(f"{self.name} has no {name}; it has {', '.join(self.parts)}")
        return self.parts[name]
