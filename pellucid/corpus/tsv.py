"""Tab-separated text → pairs: a tab separates, nothing else has a meaning; quotes, NA and null are text."""

from collections.abc import Iterator

from pellucid.corpus.pairs import Location
from pellucid.corpus.raw_pairs import Issue, RawPair, decode
from pellucid.corpus.text_files import read_lines

__all__ = ["read_tsv"]


def read_tsv(file: str) -> Iterator[RawPair]:
    """Yield a pair for each line: source, tab, target; another number of columns is the fault `columns`.

    Raises:
        UserError: if the file cannot be read.
    """
    for number, line in read_lines(file):
        location = Location(file, number)
        text, issues = decode(line, location)
        source, tab, target = text.partition("\t")
        if (not tab and source.strip("\ufeff \t")) or "\t" in target:
            count = text.count("\t") + 1
            issues += (Issue("columns", location, f"{count} column{'s' * (count != 1)} where 2 were expected"),)
        yield RawPair(source, target, location, location, issues)
