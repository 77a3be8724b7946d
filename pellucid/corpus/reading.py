"""The user's files → sentence pairs, whatever their form; every pair knows its file and line.

A file's name says its form, `.gz`, `.xz` and `.zst` put aside: `.tsv` and `.tab` are tab-separated, `.tmx` is a
translation memory, `.jsonl` and `.ndjson` are JSON lines, and everything else is plain text. Plain texts are taken two
by two in the order given: source, target, source, target.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pellucid.corpus.jsonl import jsonl_languages, read_jsonl
from pellucid.corpus.plain import read_aligned
from pellucid.corpus.raw_pairs import LanguagePair, RawPair
from pellucid.corpus.text_files import format_suffix
from pellucid.corpus.tmx import read_tmx, tmx_languages
from pellucid.corpus.tsv import read_tsv
from pellucid.errors import UserError

__all__ = ["SourceGroup", "find_languages", "group_sources", "read_group", "read_pairs"]

_FORMATS: dict[str, Literal["tsv", "tmx", "jsonl"]] = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".tmx": "tmx",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_REJECTED = {
    ".json": "Write one object a line and name it .jsonl.",
    ".csv": "Write it tab-separated and name it .tsv.",
    ".xlsx": "Save it as tab-separated text and name it .tsv.",
    ".zip": "Unpack it first; .gz, .xz and .zst are read as they are.",
}


class SourceGroup(NamedTuple):
    """Files that hold pairs together: one, or two aligned plain texts."""

    format: Literal["plain", "tsv", "tmx", "jsonl"]
    files: tuple[str, ...]


def read_pairs(
    sources: Sequence[str | Path], source_lang: str | None = None, target_lang: str | None = None
) -> Iterator[RawPair]:
    """Yield every pair of the files, as it stands there and in their order, faults included.

    Args:
        sources: paths; see the module for what their names mean.
        source_lang: code of the source language, where a file has several.
        target_lang: the same for the target.

    Raises:
        UserError: if the files do not go together, cannot be read, or their languages are not clear.
    """
    groups = group_sources(sources)
    wanted = LanguagePair(source_lang, target_lang, source_lang is not None or target_lang is not None)
    for group in groups:
        yield from read_group(group, wanted)


def group_sources(sources: Sequence[str | Path]) -> list[SourceGroup]:
    """Return which files hold pairs together, in the order of the first of each.

    Raises:
        UserError: if no file is given, a plain text has no partner, or two partners look like the same side.
    """
    if not sources:
        raise UserError("no files were given", hint="Name a .tsv, .tmx or .jsonl file, or two aligned text files.")
    groups: list[SourceGroup] = []
    waiting: str | None = None
    for path in map(str, sources):
        suffix = format_suffix(path)
        if suffix in _REJECTED:
            raise UserError(f"{suffix} files are not read", where=path, hint=_REJECTED[suffix])
        if suffix in _FORMATS:
            groups.append(SourceGroup(_FORMATS[suffix], (path,)))
        elif waiting is None:
            waiting = path
        else:
            groups.append(SourceGroup("plain", (waiting, path)))
            waiting = None
    if waiting is not None:
        raise UserError(
            "a plain text file has no partner: source and target were expected",
            where=waiting,
            hint="Name both files, source first; pairs in one file end in .tsv, .tmx or .jsonl. For a language model: "
            "`pellucid doctor --lm`, `pellucid train lm`.",
        )
    _reject_wrong_order([group.files for group in groups if group.format == "plain"])
    return groups


def read_group(group: SourceGroup, wanted: LanguagePair) -> Iterator[RawPair]:
    """Yield the pairs of files that belong together.

    Raises:
        UserError: if they cannot be read or their languages are not clear.
    """
    if group.format == "plain":
        return read_aligned(*group.files)
    if group.format == "tsv":
        return read_tsv(group.files[0])
    if group.format == "tmx":
        return read_tmx(group.files[0], tmx_languages(group.files[0], wanted))
    return read_jsonl(group.files[0], jsonl_languages(group.files[0], wanted))


def find_languages(groups: Sequence[SourceGroup], wanted: LanguagePair) -> LanguagePair:
    """Return the languages of both sides: those asked for, else those that the first file with codes names.

    Raises:
        UserError: if a file cannot be read or its languages are not clear.
    """
    found = wanted
    for group in groups:
        named: LanguagePair | None = None
        if group.format == "tmx":
            named = tmx_languages(group.files[0], wanted)
        elif group.format == "jsonl":
            named = jsonl_languages(group.files[0], wanted)
        if named is not None and found.source is None and found.target is None:
            found = named
    return found


def _reject_wrong_order(partners: Sequence[tuple[str, ...]]) -> None:
    """Refuse `a.es b.es a.en b.en`: it would pair Spanish with Spanish."""
    suffixes = [(format_suffix(source), format_suffix(target)) for source, target in partners]
    alike = [files for files, (one, other) in zip(partners, suffixes, strict=True) if one == other not in ("", ".txt")]
    sides = Counter(suffix for pair in suffixes for suffix in pair)
    if alike and len(partners) > 1 and len(sides) == 2 and len(set(sides.values())) == 1:
        raise UserError(
            "two files that look like the same side were given as partners",
            where=alike[0],
            hint="Plain texts go two by two: a.es a.en b.es b.en.",
        )
