"""A look: the recorded numbers of one run, and what a user does with them.

Recorded arrays are also reached by attribute, with completion: `look.encoder[0].heads[3].scores.content_position`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast, overload

from pellucid.errors import UserError
from pellucid.inspection.attention import attention_mask
from pellucid.inspection.checks import SanityCheck, verify
from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.recording import InspectedModel, RecordedRun, TokenizedText, label_rows, record
from pellucid.inspection.score_decomposition import FOUR_PARTS, decompose_scores
from pellucid.inspection.taps import tap_info
from pellucid.inspection.tokens import Token, padding
from pellucid.inspection.views.catalogue import build_view, save_view
from pellucid.inspection.views.charts import Chart
from pellucid.inspection.views.view import ViewRequest

__all__ = ["AttentionHead", "AttentionHeads", "HeadScores", "Look", "LookBatch", "TapNamespace"]


class Look(RecordedRun):
    """Every number of one run over one text, each with its name, axes, unit and the line of code that computes it.

    `look["encoder.0.self_attention.weights"]` or `look.encoder[0].self_attention.weights`;
    `look.encoder[0].heads[3].scores.content_position`. `numpy.asarray(…)` of any of them is a plain array.
    """

    def __repr__(self) -> str:
        tokens = f"{len(self.source)} source and {len(self.target)} target" if self.source else f"{len(self.target)}"
        edited = f", edited: {'; '.join(self.edits)}" if self.edits else ""
        return f"Look({tokens} tokens, {len(self.arrays)} arrays, {self.nbytes / 1e6:.1f} MB{edited})"

    def __getitem__(self, name: str) -> LabelledArray:
        return self.require(name)[0]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all recorded arrays, in the order the model computed them."""
        return tuple(self.arrays)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens that were read: of the source, then of the target."""
        return (*self.source, *self.target)

    @property
    def nbytes(self) -> int:
        """Bytes of the recorded arrays."""
        return sum(array.values.nbytes for array in self.arrays.values())

    @property
    def embedding(self) -> "TapNamespace":
        """The arrays that the residual streams start from."""
        return TapNamespace(self, "embedding")

    @property
    def encoder(self) -> "TapNamespace":
        """The arrays of the encoder, by layer."""
        return TapNamespace(self, "encoder")

    @property
    def decoder(self) -> "TapNamespace":
        """The arrays of the decoder, by layer."""
        return TapNamespace(self, "decoder")

    @property
    def logits(self) -> LabelledArray:
        """Score of each token to come next."""
        return self["logits"]

    def check(self) -> list[SanityCheck]:
        """Check that weights sum to 1, parts add up, and the fast and the cached path compute the same numbers.

        Raises:
            InexactError: if an error is larger than rounding explains.
        """
        return verify(self)

    def chart(self, view: str = "", *, layer: int | None = None, head: int | None = None) -> Chart:
        """Draw a view as an Altair chart.

        Args:
            view: a name in `inspection.views.catalogue.VIEWS`; unless given, where the decoder looked.
            layer, head: from 0; the last layer unless given. The head is shown large among the others.
        """
        return build_view(ViewRequest(self, layer=layer, head=head), view).chart()

    def show(self, view: str = "", *, layer: int | None = None, head: int | None = None) -> Chart:
        """Draw a view in a notebook, which displays the value of a cell's last line."""
        return self.chart(view, layer=layer, head=head)

    def save(
        self, path: str | Path, view: str = "", *, layer: int | None = None, head: int | None = None, dark: bool = False
    ) -> None:
        """Write a picture (.png, .svg), Vega-Lite (.json) or a page (.html), which has all views unless one is named.

        Args:
            view, layer, head: as for `chart`.
            dark: draw for a dark background; a page follows the reader's setting.

        Raises:
            UsageError: for another file extension.
            UserError: if a PNG needs a font that this system does not have, or the file cannot be written.
        """
        save_view(ViewRequest(self, layer=layer, head=head), path, view, dark=dark)

    def as_dict(self) -> dict[str, Any]:
        """Convert everything to JSON types; large."""
        return {
            "text": self.encoded.text,
            "target_text": self.encoded.target_text,
            "precision": self.inspected.precision,
            "source": [token.as_dict() for token in self.source],
            "target": [token.as_dict() for token in self.target],
            "next_tokens": [token.as_dict() for token in self.next_tokens],
            "notes": list(self.encoded.notes),
            "edits": list(self.edits),
            "arrays": {name: array.as_dict() for name, array in self.arrays.items()},
        }


class LookBatch(Sequence[Look]):
    """Looks at several texts that went through the model in one batch.

    `looks[1]` is the look at the second text, without padding: what a look at it alone gives, to rounding.
    `looks["encoder.0.self_attention.weights"]` is the whole batch with its padding; `looks.tokens` tells which tokens
    are padding.
    """

    def __init__(
        self, inspected: InspectedModel, texts: Sequence[TokenizedText], what: Sequence[str] | None = None
    ) -> None:
        self._inspected = inspected
        self._arrays = record(inspected.model, texts, what)
        self._looks = label_rows(Look, inspected, texts, self._arrays)

    def __len__(self) -> int:
        return len(self._looks)

    def __iter__(self) -> Iterator[Look]:
        return iter(self._looks)

    @overload
    def __getitem__(self, index: int) -> Look: ...

    @overload
    def __getitem__(self, index: slice) -> list[Look]: ...

    @overload
    def __getitem__(self, index: str) -> LabelledArray: ...

    def __getitem__(self, index: int | slice | str) -> Look | list[Look] | LabelledArray:
        return self._padded(index) if isinstance(index, str) else self._looks[index]

    @property
    def tokens(self) -> list[tuple[Token, ...]]:
        """The target tokens of each text in the batch, padding included."""
        return self._padded_tokens("target")

    @property
    def source_tokens(self) -> list[tuple[Token, ...]]:
        """The source tokens of each text in the batch, padding included."""
        return self._padded_tokens("source")

    def check(self) -> list[list[SanityCheck]]:
        """Check every look."""
        return [look.check() for look in self._looks]

    def _padded_tokens(self, side: str) -> list[tuple[Token, ...]]:
        rows = [look.tokens_on(side) for look in self._looks]
        longest = max(map(len, rows))
        pad_id = max(0, cast(int, self._inspected.model.pad_id))
        return [(*row, *padding(pad_id, len(row), longest - len(row))) for row in rows]

    def _padded(self, name: str) -> LabelledArray:
        first = self._looks[0][name]
        values = self._arrays[name]
        axes: list[Axis] = []
        if values.ndim > len(first.axes):  # positions have no batch axis: they are the same for all texts
            axes.append(Axis("batch", tuple(look.encoded.text for look in self._looks)))
        for axis, size in zip(first.axes, values.shape[len(axes) :], strict=True):
            labels = [look[name].labels(axis.name) for look in self._looks]
            # Tokens differ from row to row: their axis is numbered.
            is_shared = len(labels[0]) == size and all(other == labels[0] for other in labels)
            axes.append(axis if is_shared else numbered_axis(axis.name, size))
        info = tap_info(self._inspected.model, name)
        return LabelledArray(name, values, tuple(axes), info.unit, info.meaning, first.code_location)


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
        return HeadScores(**vars(part), look=self._look, attention=self._attention, head=self._number)


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadScores(LabelledArray):
    """The scores of a head; their parts are attributes: content_position …, or content and bias."""

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
