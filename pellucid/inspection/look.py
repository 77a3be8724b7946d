"""A look: the recorded numbers of one run, and what a user does with them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from pellucid.inspection.checks import SanityCheck, verify
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.recorded_run import InspectedModel, RecordedRun, TokenizedText, label_rows
from pellucid.inspection.tap_namespace import TapNamespace
from pellucid.inspection.taps import tap_info
from pellucid.inspection.tokens import Token, padding

if TYPE_CHECKING:
    from pellucid.inspection.views.charts import Chart

__all__ = ["Look", "LookBatch"]


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
    def embedding(self) -> TapNamespace:
        """The arrays that the residual streams start from."""
        return TapNamespace(self, "embedding")

    @property
    def encoder(self) -> TapNamespace:
        """The arrays of the encoder, by layer."""
        return TapNamespace(self, "encoder")

    @property
    def decoder(self) -> TapNamespace:
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

    def chart(self, view: str = "", *, layer: int | None = None, head: int | None = None) -> "Chart":
        """Draw a view as an Altair chart.

        Args:
            view: a name in `inspection.views.catalogue.VIEWS`; unless given, where the decoder looked.
            layer: from 0; the last unless given.
            head: from 0; shown large among the others.
        """
        from pellucid.inspection.views.catalogue import build_view
        from pellucid.inspection.views.view import ViewRequest

        return build_view(ViewRequest(self, layer=layer, head=head), view).chart()

    def show(self, view: str = "", *, layer: int | None = None, head: int | None = None) -> "Chart":
        """Draw a view in a notebook, which displays the value of a cell's last line."""
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
        """Write a picture (.png, .svg), Vega-Lite (.json) or a page (.html), which has all views unless one is named.

        Args:
            path: of the file.
            view: a name in `inspection.views.catalogue.VIEWS`.
            layer: from 0; the last unless given.
            head: from 0.
            dark: draw for a dark background; a page follows the reader's setting.

        Raises:
            UsageError: for another file extension.
            UserError: if a PNG needs a font that this system does not have, or the file cannot be written.
        """
        from pellucid.inspection.views.catalogue import save_view
        from pellucid.inspection.views.view import ViewRequest

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

    def __init__(self, inspected: InspectedModel, texts: Sequence[TokenizedText], arrays: Mapping[str, Array]) -> None:
        self._looks = label_rows(Look, inspected, texts, arrays)
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
