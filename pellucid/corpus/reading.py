"""The user's files → sentence pairs, each with its file and line.

A file's name tells its format (`corpus.formats`), after a compression suffix is removed. Plain texts are taken two at a
time in the order given: source, target, source, target.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from pellucid.corpus.doctor.checks import AUTO_FIXED
from pellucid.corpus.formats import PAIR_FILES, PairFormat, format_of
from pellucid.corpus.pairs import Issue, LanguagePair, Location, RawPair, decode
from pellucid.corpus.text_files import format_suffix, read_lines
from pellucid.errors import UserError

__all__ = ["SourceGroup", "find_languages", "group_sources", "read_group", "read_pairs", "read_valid_pairs"]


class SourceGroup(NamedTuple):
    """Files that are read together: one file of pairs, or two aligned plain texts (`format` is None)."""

    format: PairFormat | None
    files: tuple[str, ...]


def read_pairs(
    sources: Sequence[str | Path], source_lang: str | None = None, target_lang: str | None = None
) -> Iterator[RawPair]:
    """Yield every pair of the files in order and unchanged, including those with issues.

    Args:
        sources: paths; the formats are listed in `corpus.formats`.
        source_lang, target_lang: codes of the languages, for files with several.

    Raises:
        UserError: if the files do not form pairs, cannot be read, or leave the languages open.
    """
    groups = group_sources(sources)
    wanted = LanguagePair(source_lang, target_lang, source_lang is not None or target_lang is not None)
    for group in groups:
        yield from read_group(group, wanted)


def read_valid_pairs(
    sources: Sequence[str | Path], source_lang: str | None = None, target_lang: str | None = None
) -> Iterator[RawPair]:
    """Yield every pair of the files in order; stop with an error at the first one that cannot be read.

    For callers that need every line, such as scoring and alignment.

    Raises:
        UserError: as `read_pairs`, and at the first pair with an issue, with file and line.
    """
    for pair in read_pairs(sources, source_lang, target_lang):
        for issue in pair.issues:
            if issue.check not in AUTO_FIXED:
                names = " ".join(map(str, sources))
                raise UserError(
                    issue.message,
                    where=str(issue.location),
                    hint=f"Fix the file, or run `pellucid doctor {names} --fix clean.tsv` to leave out bad lines.",
                )
        yield pair


def group_sources(sources: Sequence[str | Path]) -> list[SourceGroup]:
    """Group files that are read together, in the order of the first file of each group.

    Raises:
        UserError: if no file is given, a plain text has no partner, or two partners look like the same side.
    """
    if not sources:
        raise UserError("no files given", where="sources", hint=f"Name {PAIR_FILES}.")
    groups: list[SourceGroup] = []
    unpaired: str | None = None
    for path in map(str, sources):
        if (format := format_of(path)) is not None:
            groups.append(SourceGroup(format, (path,)))
        elif unpaired is None:
            unpaired = path
        else:
            groups.append(SourceGroup(None, (unpaired, path)))
            unpaired = None
    if unpaired is not None:
        raise UserError(
            "a plain text file has no partner: expected source and target",
            where=unpaired,
            hint=f"Name {PAIR_FILES}, source first. For a language model: `pellucid doctor --lm`, `pellucid train lm`.",
        )
    _reject_wrong_order([group.files for group in groups if group.format is None])
    return groups


def read_group(group: SourceGroup, wanted: LanguagePair) -> Iterator[RawPair]:
    """Yield the pairs of files that are read together.

    Raises:
        UserError: if they cannot be read or leave the languages open.
    """
    if group.format is None:
        return _read_aligned(*group.files)
    (file,) = group.files
    return group.format.read(file, group.format.find_languages(file, wanted))


def find_languages(groups: Sequence[SourceGroup], wanted: LanguagePair) -> LanguagePair:
    """Find the languages of both sides: those requested, else those that the first file with language codes names.

    Every file is checked to have the languages requested.

    Raises:
        UserError: if a file cannot be read or leaves its languages open.
    """
    found = wanted
    for group in groups:
        named = group.format.find_languages(group.files[0], wanted) if group.format else None
        if named is not None and found.source is None and found.target is None:
            found = named
    return found


def _reject_wrong_order(partners: Sequence[tuple[str, ...]]) -> None:
    """Reject `a.es b.es a.en b.en`: it would pair Spanish with Spanish."""
    suffixes = [(format_suffix(source), format_suffix(target)) for source, target in partners]
    alike = [files for files, (one, other) in zip(partners, suffixes, strict=True) if one == other not in ("", ".txt")]
    sides = Counter(suffix for pair in suffixes for suffix in pair)
    if alike and len(partners) > 1 and len(sides) == 2 and len(set(sides.values())) == 1:
        raise UserError(
            "two files that look like the same side were given as partners",
            where=alike[0],
            hint="Plain texts are paired in order: a.es a.en b.es b.en.",
        )


def _read_aligned(source_file: str, target_file: str) -> Iterator[RawPair]:
    """Yield a pair for each line; a line that the other file lacks is a pair with the issue `line-count`."""
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
