"""Flags of `pellucid look`: which view, and where it goes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pellucid.cli.flags import Switch
from pellucid.errors import UsageError

__all__ = ["DEFAULT_PICTURE", "PictureFlags"]

FORMATS = (".html", ".png", ".svg", ".json")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PictureFlags:
    """Which numbers are drawn, and where."""

    view: str = ""
    """View to show (see --list); by default alignment for translators and decoder-attention for language models; in a
    page, all views."""

    layer: int | None = None
    """Layer to show; by default the last."""

    head: int | None = None
    """Head to show; by default all, or the first in views of a single head."""

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write a page (.html, self-contained), a picture (.png, .svg) or the Vega-Lite specification (.json)."""

    dark: Switch = False
    """Draw pictures for a dark background; pages follow the reader's browser setting."""

    @property
    def has_all_views(self) -> bool:
        """Whether the output is a page with every view."""
        return self.output is not None and self.output.suffix.lower() == ".html" and not self.view

    def check(self) -> None:
        """Check the view and the file format before anything is loaded.

        Raises:
            UsageError: for an unknown view or format, or a layer or head that the view does not have.
        """
        self._check_format()
        if self.view:
            from pellucid.inspection.views.catalogue import view_type_of

            view_type_of(self.view).reject_unsupported(self.view, self.layer, self.head)

    def check_for_edits(self) -> None:
        """Check that the effect of edits, which has no layer or head, is not narrowed to one.

        Raises:
            UsageError: if it is.
        """
        if not self.view:
            self._reject_selection("the effect of edits has no single", "Name a view with --view.")

    def check_for_words(self) -> None:
        """Check the flags for word vectors; their views are checked by name later.

        Raises:
            UsageError: for a layer, a head or an unknown format.
        """
        self._reject_selection("word vectors have no", "Leave it out.")
        self._check_format()

    def _reject_selection(self, message: str, hint: str) -> None:
        for name, number in (("layer", self.layer), ("head", self.head)):
            if number is not None:
                raise UsageError(f"{message} {name}", where=f"--{name}", hint=hint)

    def _check_format(self) -> None:
        if self.output is not None and self.output.suffix.lower() not in FORMATS:
            raise UsageError(
                f"pictures have no format {self.output.suffix or 'without an extension'}",
                where=f"--output {self.output}",
                hint=f"Use a file name that ends in {', '.join(FORMATS)}.",
            )


DEFAULT_PICTURE = PictureFlags()
