"""The table of file formats that hold sentence pairs.

Everything else derives from it: which reader reads a file, the help and hints of the commands, and the tables of
docs/doctor.md and the READMEs (`python docs/make_doctor.py`). To add a format, write its reader and add a row.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pellucid.corpus.jsonl import JSONL_SUFFIXES, jsonl_languages, read_jsonl
from pellucid.corpus.pairs import LanguagePair, RawPair
from pellucid.corpus.text_files import format_suffix
from pellucid.corpus.tmx import read_tmx, tmx_languages
from pellucid.corpus.tsv import read_tsv
from pellucid.errors import UserError

__all__ = ["PAIR_FILES", "PAIR_FORMATS", "PLAIN_TEXT", "PairFormat", "format_of"]


def _names_no_languages(file: str, wanted: LanguagePair) -> LanguagePair | None:
    return None


@dataclass(frozen=True)
class PairFormat:
    """A format of files that hold sentence pairs.

    Args:
        name: as people call it.
        suffixes: what its files' names end in, the usual one first.
        pair: what a pair is, for docs/doctor.md.
        read: reads the pairs of a file, given the languages that `find_languages` found.
        find_languages: finds the languages that a file names; None where it names none.
    """

    name: str
    suffixes: tuple[str, ...]
    pair: str
    read: Callable[[str, LanguagePair | None], Iterator[RawPair]]
    find_languages: Callable[[str, LanguagePair], LanguagePair | None] = _names_no_languages


PAIR_FORMATS = (
    PairFormat(
        "TSV",
        (".tsv", ".tab"),
        "A line: source, tab, target. Only tabs separate; quotes, `NA` and `null` are text.",
        read_tsv,
    ),
    PairFormat(
        "TMX",
        (".tmx",),
        "A unit of a translation memory (TMX 1.4), in UTF-8 or the encoding that the file declares. Inline codes "
        "(`bpt`, `ept`, `ph`, `it`, `ut`, `sub`) are left out, text in `hi` is kept. Files that declare entities are "
        "rejected; nothing is fetched.",
        read_tmx,
        tmx_languages,
    ),
    PairFormat(
        "JSONL",
        JSONL_SUFFIXES,
        "A JSON object per line with `source` and `target`, or with two language codes, or with these inside "
        "`translation`.",
        read_jsonl,
        jsonl_languages,
    ),
)

PLAIN_TEXT = "Plain text, two files at a time: source, target, source, target. Line n belongs to line n."
"""What a pair is in files of any other name."""


def _one_of(names: list[str]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}"


PAIR_FILES = f"a {_one_of([form.suffixes[0] for form in PAIR_FORMATS])} file, or two aligned text files"
"""The files that hold pairs, for help texts and hints."""

_BY_SUFFIX = {suffix: form for form in PAIR_FORMATS for suffix in form.suffixes}
_REJECTED = {
    ".json": "Write one object per line and name the file .jsonl.",
    ".csv": "Separate the columns by tabs and name the file .tsv.",
    ".xlsx": "Save it as tab-separated text and name the file .tsv.",
    ".zip": "Unpack it first; .gz, .xz and .zst files are read directly.",
}


def format_of(file: str | Path) -> PairFormat | None:
    """Find a file's format by its name; None for plain text.

    Raises:
        UserError: for a format that is not supported, with a way out.
    """
    suffix = format_suffix(file)
    if suffix in _REJECTED:
        raise UserError(f"{suffix} files are not supported", where=str(file), hint=_REJECTED[suffix])
    return _BY_SUFFIX.get(suffix)
