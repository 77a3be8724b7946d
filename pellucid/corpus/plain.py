"""Two aligned text files → pairs: line n of one belongs to line n of the other."""

from collections.abc import Iterator
from itertools import zip_longest

from pellucid.corpus.pairs import Location
from pellucid.corpus.raw_pairs import Issue, RawPair, decode
from pellucid.corpus.text_files import read_lines

__all__ = ["read_aligned"]


def read_aligned(source_file: str, target_file: str) -> Iterator[RawPair]:
    """Yield a pair for each line; a line that the other file lacks is a pair with the issue `line-count`.

    Raises:
        UserError: if a file cannot be read.
    """
    end: tuple[int, bytes | None] = (0, None)
    lines = zip_longest(read_lines(source_file), read_lines(target_file), fillvalue=end)
    for number, ((_, source), (_, target)) in enumerate(lines, start=1):
        source_location, target_location = Location(source_file, number), Location(target_file, number)
        source_text, issues = decode(source, source_location) if source is not None else ("", ())
        target_text, more = decode(target, target_location) if target is not None else ("", ())
        issues += more
        if source is None:
            issues += (Issue("line-count", target_location, f"{source_file} has no such line"),)
        if target is None:
            issues += (Issue("line-count", source_location, f"{target_file} has no such line"),)
        yield RawPair(source_text, target_text, source_location, target_location, issues)
