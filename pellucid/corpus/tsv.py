"""Tab-separated text → pairs: a tab separates, nothing else has a meaning; quotes, NA and null are text."""

from collections.abc import Iterator

from pellucid.corpus.pairs import Place
from pellucid.corpus.raw_pairs import Fault, RawPair, decode
from pellucid.corpus.text_files import read_lines

__all__ = ["read_tsv"]


def read_tsv(file: str) -> Iterator[RawPair]:
    """Yield a pair for each line: source, tab, target; another number of columns is the fault `columns`.

    Raises:
        UserError: if the file cannot be read.
    """
    for number, line in read_lines(file):
        place = Place(file, number)
        text, faults = decode(line, place)
        source, tab, target = text.partition("\t")
        if (not tab and source.strip("\ufeff \t")) or "\t" in target:
            count = text.count("\t") + 1
            faults += (Fault("columns", place, f"{count} column{'s' * (count != 1)} where 2 were expected"),)
        yield RawPair(source, target, place, place, faults)
