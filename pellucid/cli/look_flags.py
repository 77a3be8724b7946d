"""Flags of `pellucid look` that say which picture is wanted, and where it goes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pellucid.errors import UsageError

__all__ = ["DEFAULT_PICTURE", "PictureFlags"]

FORMATS = (".html", ".png", ".svg", ".json")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PictureFlags:
    """Which numbers are drawn, and where."""

    view: str = ""
    """Which numbers; --list has the names. Where the decoder looked, unless given; a page has all of them."""

    layer: int | None = None
    """Of which layer; the last unless given."""

    head: int | None = None
    """Of which head."""

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write a page (.html, which needs no network), a picture (.png, .svg), or its Vega-Lite (.json)."""

    dark: Annotated[bool, Parameter(negative="")] = False
    """A picture for a dark background; a page follows whoever reads it."""

    @property
    def is_page_of_all(self) -> bool:
        """Whether a page with every view is asked for."""
        return self.output is not None and self.output.suffix.lower() == ".html" and not self.view

    def reject_unknown(self) -> None:
        """Make sure, before anything is loaded, that there is such a view, and a form for the file.

        Raises:
            UsageError: if there is not.
        """
        self.reject_unknown_format()
        if self.view:
            from pellucid.inspection.views.catalogue import view_type_of

            view_type_of(self.view).reject_unsupported(self.view, self.layer, self.head)

    def reject_without_view(self) -> None:
        """Make sure that no layer and no head is named where the picture is of the whole run.

        Raises:
            UsageError: if one is.
        """
        for name, number in (("layer", self.layer), ("head", self.head)):
            if number is not None and not self.view:
                raise UsageError(
                    f"what a change does is not of one {name}", where=f"--{name}", hint="Name a view with --view."
                )

    def reject_unknown_format(self) -> None:
        """Make sure that there is a form for the file.

        Raises:
            UsageError: if there is not.
        """
        if self.output is not None and self.output.suffix.lower() not in FORMATS:
            raise UsageError(
                f"expected a file name that ends in {', '.join(FORMATS)}, got {self.output.name}",
                where=f"--output {self.output}",
                hint="Name a page or a picture, such as -o look.html.",
            )


DEFAULT_PICTURE = PictureFlags()
