"""A look: the numbers of one run, and everything that can be read from them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from pellucid.inspection.checks import SanityCheck, verify
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.recorded_run import InspectedModel, RecordedRun, TokenizedText, label_rows
from pellucid.inspection.tap_namespace import Branch
from pellucid.inspection.taps import tap_info
from pellucid.inspection.tokens import Token, padding

if TYPE_CHECKING:
    from pellucid.inspection.views.charts import Chart

__all__ = ["Look", "LookBatch"]


class Look(RecordedRun):
    """All numbers of one run over one text, each with its name, axes, unit and the line of code that made it.

    `look["encoder.0.self_attention.weights"]` or `look.encoder[0].self_attention.weights`;
    `look.encoder[0].heads[3].scores.content_position`; `numpy.asarray(…)` of any of them is the numbers alone.
    """

    def __repr__(self) -> str:
        sides = f"{len(self.source)} source and {len(self.target)} target" if self.source else f"{len(self.target)}"
        edited = f", edited: {'; '.join(self.edits)}" if self.edits else ""
        return f"Look({sides} tokens, {len(self.arrays)} arrays, {self.nbytes / 1e6:.1f} MB{edited})"

    def __getitem__(self, name: str) -> LabelledArray:
        return self.require(name)[0]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    @property
    def names(self) -> tuple[str, ...]:
        """What was recorded, in the order the model computed it."""
        return tuple(self.arrays)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens that were read: of the source, then of the target."""
        return (*self.source, *self.target)

    @property
    def nbytes(self) -> int:
        """Bytes of the recorded numbers."""
        return sum(array.values.nbytes for array in self.arrays.values())

    @property
    def embedding(self) -> Branch:
        """What the residual streams begin with."""
        return Branch(self, "embedding")

    @property
    def encoder(self) -> Branch:
        """The encoder's layers."""
        return Branch(self, "encoder")

    @property
    def decoder(self) -> Branch:
        """The decoder's layers."""
        return Branch(self, "decoder")

    @property
    def logits(self) -> LabelledArray:
        """Score of each token to come next."""
        return self["logits"]

    def check(self) -> list[SanityCheck]:
        """Measure that rows sum to 1, parts add up, and that this is what the fast and the cached path compute.

        Raises:
            InexactError: if anything is further off than rounding.
        """
        return verify(self)

    def chart(self, view: str = "", *, layer: int | None = None, head: int | None = None) -> "Chart":
        """Return a picture as a chart of Altair; `inspection.views.VIEWS` has the names.

        Args:
            view: which; where the decoder looked, unless given.
            layer: from 0; the last unless given.
            head: from 0; large at first among the others.
        """
        from pellucid.inspection.views.catalogue import build_view
        from pellucid.inspection.views.view import ViewRequest

        return build_view(ViewRequest(self, layer=layer, head=head), view).chart()

    def show(self, view: str = "", *, layer: int | None = None, head: int | None = None) -> "Chart":
        """Show a picture in a notebook: what a cell ends in is shown."""
        return self.chart(view, layer=layer, head=head)

    def save(
        self,
        path: str | Path,
        view: str = "",
        *,
        layer: int | None = None,
        head: int | None = None,
        dark: bool = False,
    ) -> None:
        """Write a picture: .png, .svg, .json (Vega-Lite) or .html; the page has all views unless one is named.

        Args:
            path: of the file.
            view: which; `inspection.views.VIEWS` has the names.
            layer: from 0; the last unless given.
            head: from 0.
            dark: for a dark background; a page follows whoever reads it.

        Raises:
            UsageError: for another ending.
            UserError: if a PNG needs a font that this system does not have, or the file cannot be written.
        """
        from pellucid.inspection.views.catalogue import save_view
        from pellucid.inspection.views.view import ViewRequest

        save_view(ViewRequest(self, layer=layer, head=head), path, view, dark=dark)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it; large."""
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
    """Looks at several texts that went through the model together.

    `looks[1]` is the look at the second text, without padding: what a look at it alone gives, to rounding.
    `looks["encoder.0.self_attention.weights"]` is the whole batch with its padding; `looks.tokens` says which is
    padding.
    """

    def __init__(self, inspected: InspectedModel, rows: Sequence[TokenizedText], arrays: Mapping[str, Array]) -> None:
        self._looks = label_rows(Look, inspected, rows, arrays)
        self._inspected = inspected
        self._arrays = arrays

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
        """The target's tokens of each text as they stood in the batch, padding included."""
        return self._rows_of("target")

    @property
    def source_tokens(self) -> list[tuple[Token, ...]]:
        """The source's tokens of each text as they stood in the batch, padding included."""
        return self._rows_of("source")

    def check(self) -> list[list[SanityCheck]]:
        """Check every look."""
        return [look.check() for look in self._looks]

    def _rows_of(self, side: str) -> list[tuple[Token, ...]]:
        rows = [look.tokens_on(side) for look in self._looks]
        longest = max(map(len, rows))
        pad_id = max(0, cast(int, self._inspected.model.pad_id))
        return [(*row, *padding(pad_id, len(row), longest - len(row))) for row in rows]

    def _padded(self, name: str) -> LabelledArray:
        first = self._looks[0].require(name)[0]
        values = self._arrays[name]
        if values.ndim == len(first.axes):  # the same for all texts, as positions are
            axes, rest = [], zip(first.axes, values.shape, strict=True)
        else:
            axes = [Axis("batch", tuple(look.encoded.text for look in self._looks))]
            rest = zip(first.axes, values.shape[1:], strict=True)
        for axis, size in rest:
            longest = max((look[name].labels(axis.name) for look in self._looks), key=len)
            # Tokens differ from row to row, so that along a batch they are counted; padding cannot be told there.
            is_same = all(look[name].labels(axis.name) == longest for look in self._looks)
            axes.append(axis if is_same and len(longest) == size else Axis(axis.name, tuple(map(str, range(size)))))
        info = tap_info(self._inspected.model, name)
        return LabelledArray(name, values, tuple(axes), info.unit, info.meaning, first.code_location)
