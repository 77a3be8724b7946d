"""A look's numbers by attribute path: `look.encoder[0].heads[3].scores.content_position`, with completion."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pellucid.errors import UserError
from pellucid.inspection.attention import mask
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.score_decomposition import decompose_scores

__all__ = ["Branch", "Head", "HeadScores", "Heads"]


class Branch:
    """All numbers whose names begin alike; the rest of a name is an attribute, the number of a layer an index."""

    def __init__(self, look: RecordedRun, path: str) -> None:
        self._look = look
        self._path = path

    def __repr__(self) -> str:
        return f"Branch({self._path!r}: {', '.join(map(str, self._next()))})"

    def __dir__(self) -> list[str]:
        own = ["mask"] if self._path.endswith("attention") else []
        return [
            *(name for name in self._next() if not name.isdigit()), *own, *(["heads"] if self._attention() else [])
        ]  # fmt: skip

    def __len__(self) -> int:
        return sum(name.isdigit() for name in self._next())

    def __iter__(self) -> Iterator["Branch"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, layer: int) -> "Branch":
        """Return a layer, from 0; −1 is the last."""
        count = len(self)
        if not -count <= layer < count:
            raise IndexError(f"{self._path} has {count} layers, got {layer}")
        return Branch(self._look, f"{self._path}.{layer % count}")

    def __getattr__(self, name: str) -> Any:  # a LabelledArray, a Branch or Heads: which, only a look knows
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        if path in self._look.arrays:
            return self._look.arrays[path]
        if any(known.startswith(f"{path}.") for known in self._look.arrays):
            return Branch(self._look, path)
        if name == "heads" and (attention := self._attention()):
            return Heads(self._look, attention)
        if name == "mask" and self._path.endswith("attention"):
            return mask(self._look, self._path)
        raise AttributeError(f"{self._path} has no {name}; it has {', '.join(dir(self)) or 'nothing recorded'}")

    def _next(self) -> list[str]:
        """List the possible continuations of this path, in the order of recording."""
        start = f"{self._path}."
        rest = [name.removeprefix(start) for name in self._look.arrays if name.startswith(start)]
        return list(dict.fromkeys(name.split(".")[0] for name in rest))

    def _attention(self) -> str:
        """Return the attention whose heads are meant: this one, or a layer's self-attention."""
        if self._path.endswith("attention"):
            return self._path
        return f"{self._path}.self_attention" if "self_attention" in self._next() else ""


class Heads:
    """The heads of an attention, from 0."""

    def __init__(self, look: RecordedRun, attention: str) -> None:
        self._look = look
        self._attention = attention

    def __len__(self) -> int:
        return self._look.attention(self._attention).module.n_heads

    def __iter__(self) -> Iterator["Head"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, head: int) -> "Head":
        """Return a head; −1 is the last."""
        count = len(self)
        if not -count <= head < count:
            raise IndexError(f"{self._attention} has {count} heads, got {head}")
        return Head(self._look, self._attention, head % count)


class Head:
    """One head's numbers: query, key, value, scores (with their parts), mask, weights, mixed."""

    def __init__(self, look: RecordedRun, attention: str, number: int) -> None:
        self._look = look
        self._attention = attention
        self._number = number

    def __dir__(self) -> list[str]:
        names = ("query", "key", "value", "scores", "weights", "head_output")
        return [*(name for name in names if f"{self._attention}.{name}" in self._look.arrays), "mask"]

    def __getattr__(self, name: str) -> Any:  # a LabelledArray; of scores, HeadScores
        if name not in dir(self):
            raise AttributeError(f"a head of {self._attention} has no {name}; it has {', '.join(dir(self))}")
        if name == "mask":  # the same for all heads
            return mask(self._look, self._attention)
        array = self._look.arrays[f"{self._attention}.{name}"]
        module = self._look.attention(self._attention).module
        served = module.n_heads // module.n_kv_heads if name in ("key", "value") else 1
        part = array[self._number // served]
        part = replace(part, name=f"{self._attention}.heads.{self._number}.{name}")
        if name != "scores":
            return part
        whole = (part.name, part.values, part.axes, part.unit, part.meaning, part.code_location)
        return HeadScores(*whole, look=self._look, attention=self._attention, head=self._number)


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadScores(LabelledArray):
    """A head's scores; what they are made of are attributes: content_position …, or with ALiBi content and bias.

    Attributes:
        look, attention, head: where they come from.
    """

    look: RecordedRun = field(repr=False)
    attention: str
    head: int

    @cached_property
    def parts(self) -> Mapping[str, LabelledArray]:
        """What the scores are the sum of, by name.

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
        if name.startswith("_") or name not in (
            "content_content", "content_position", "position_content", "position_position", "content", "bias"
        ):  # fmt: skip
            raise AttributeError(f"{self.name} has no {name}")
        if name not in self.parts:
            raise AttributeError(f"{self.name} has no {name}; it has {', '.join(self.parts)}")
        return self.parts[name]
