"""Tab-separated text → pairs. Only tabs separate: quotes, NA and null are text."""

from collections.abc import Iterator

from pellucid.corpus.pairs import Issue, LanguagePair, Location, RawPair, decode
from pellucid.corpus.text_files import read_lines
from pellucid.plurals import pluralize

__all__ = ["read_tsv"]


def read_tsv(file: str, languages: LanguagePair | None = None) -> Iterator[RawPair]:
    """Yield a pair for each line: source, tab, target; any other number of columns is the issue `columns`.

    Args:
        languages: not used: the columns are source and target, whatever their languages are.

    Raises:
        UserError: if the file cannot be read.
    """
    for number, line in read_lines(file):
        location = Location(file, number)
        text, issues = decode(line, location)
        source, tab, target = text.partition("\t")
        if (not tab and source.strip("\ufeff \t")) or "\t" in target:
            columns = pluralize(text.count("\t") + 1, "column")
            issues += (Issue("columns", location, f"expected 2 columns, got {columns}"),)
        yield RawPair(source, target, location, location, issues)
