"""Sentence pairs for commands that use every line: one that cannot be read is an error, not left out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pellucid.corpus.raw_pairs import RawPair
from pellucid.corpus.reading import read_pairs
from pellucid.errors import UserError

__all__ = ["AUTO_FIXED", "usable_pairs"]

AUTO_FIXED = frozenset({"bom", "line-separator"})
"""Faults that the reader has mended already."""


def usable_pairs(
    sources: Sequence[Path], source_lang: str | None = None, target_lang: str | None = None
) -> Iterator[RawPair]:
    """Yield the pairs of the files in their order.

    Raises:
        UserError: at the first pair that cannot be read, with file and line.
    """
    for pair in read_pairs(sources, source_lang, target_lang):
        for issue in pair.issues:
            if issue.check not in AUTO_FIXED:
                names = " ".join(map(str, sources))
                raise UserError(
                    issue.message,
                    where=str(issue.location),
                    hint=f"Mend the file, or let `pellucid doctor {names} --fix clean.tsv` leave the line out.",
                )
        yield pair
