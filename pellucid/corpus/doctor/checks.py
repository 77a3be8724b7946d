"""The table of checks: what the doctor looks for, how severe it is, and what is done about it.

`pellucid doctor --list` and docs/doctor.md (`python docs/make_doctor.py`) are made from this table.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["AUTO_FIXED", "CHECKS", "UNUSABLE", "Check", "Level"]

Level = Literal["error", "drop", "warn"]


class Check(NamedTuple):
    """One thing the doctor looks for.

    Attributes:
        id: its name, as in reports and in `--drop`, `--keep`, `--skip`.
        level: `error`: training refuses the text; `drop`: the pair is left out; `warn`: it is only reported.
        meaning: what is wrong when it is reported.
        fix: what `--fix` does about it.
        hint: what the user can do about it.
    """

    id: str
    level: Level
    meaning: str
    fix: str
    hint: str


_DROPS = "leaves the pair out"
_KEEPS = "keeps the pair unchanged"
_REALIGNS = "realigns the lines along the most likely path and leaves out unpaired ones"

_TABLE = (
    Check(
        "line-count",
        "error",
        "two aligned files have different numbers of lines, so lines are paired with the wrong partners",
        _REALIGNS,
        "Fix the files, or let --fix realign the lines and leave out unpaired ones.",
    ),
    Check(
        "shift",
        "error",
        "from some line on, one side seems to run ahead of the other, judging by lengths, numbers, names and "
        "punctuation; short shifts (at most 60 pairs, and 2 % of all pairs in total) are not errors: their pairs are "
        "left out",
        _REALIGNS,
        "Check the line and fix the file, let --fix realign the lines, or use --skip shift if the text is right.",
    ),
    Check(
        "encoding",
        "error",
        "bytes that are not UTF-8, or lone surrogates in JSON",
        _DROPS,
        "Fix or convert the file (iconv -f ENCODING -t UTF-8), or leave such pairs out: --drop encoding.",
    ),
    Check(
        "columns",
        "error",
        "a line of a TSV file does not have two columns",
        _DROPS,
        "Write two columns (cut -f 1,2 takes the first two), or leave such lines out: --drop columns.",
    ),
    Check(
        "json",
        "error",
        "a line of a JSONL file is not a JSON object with both texts",
        _DROPS,
        "Fix the line, or leave such lines out: --drop json.",
    ),
    Check(
        "tmx",
        "error",
        "the XML of a TMX file is broken or incomplete; nothing after that location can be read",
        "keeps the units before the broken location",
        "Export the memory again, or use the units before the broken location: --drop tmx.",
    ),
    Check(
        "empty",
        "error",
        "no usable pair is left",
        "writes nothing",
        "See the other checks for why pairs were left out.",
    ),
    Check(
        "unpaired",
        "drop",
        "a line for which realignment (--fix, --drop shift) found no certain partner",
        "leaves the line out",
        "Check whether its partner is missing.",
    ),
    Check(
        "blank",
        "drop",
        "one or both sides are empty; the whole pair is left out, so the other lines stay aligned",
        _DROPS,
        "Fill in the missing side, or do nothing: the pair is left out.",
    ),
    Check(
        "too-long",
        "drop",
        "a side has more than max_characters characters",
        _DROPS,
        "Split it into sentences on both sides, or raise --max-characters.",
    ),
    Check(
        "length-ratio",
        "drop",
        "a side is more than max_ratio times as long as expected from its partner's length and the average length "
        "ratio of the text",
        _DROPS,
        "Check whether the two belong together; --keep length-ratio keeps them.",
    ),
    Check(
        "swapped",
        "drop",
        "the source is written in the target's language and the target in the source's",
        _DROPS,
        "Swap the two sides; if all pairs are swapped, swap the files or the languages.",
    ),
    Check(
        "duplicate",
        "drop",
        "the same pair occurred before; the first one is kept",
        _DROPS,
        "Nothing to do; --keep duplicate keeps them all.",
    ),
    Check(
        "leak",
        "drop",
        "the pair or its source is also in the files given with --valid or --test",
        _DROPS,
        "Nothing to do: the pair is left out, since training on it would inflate the scores.",
    ),
    Check(
        "bom",
        "warn",
        "a byte order mark (U+FEFF) before the first word or inside the text",
        "removes the mark",
        "Nothing to do: it is removed.",
    ),
    Check(
        "line-separator",
        "warn",
        "a character that other programs treat as a line end: CR, VT, FF, U+001C–001E, U+0085, U+2028, U+2029",
        "replaces it by a space",
        "Nothing to do: it becomes a space. Check that no lines were joined.",
    ),
    Check(
        "control-character",
        "warn",
        "a control character inside the text, including tabs",
        "removes it; a tab or unit separator becomes a space",
        "Nothing to do: it is removed, a tab becomes a space.",
    ),
    Check(
        "mojibake",
        "warn",
        "text that was decoded with the wrong encoding (Ã©, â€™), or U+FFFD where a character was lost",
        _KEEPS,
        "Get the text again from an intact source, or leave such pairs out: --drop mojibake.",
    ),
    Check(
        "too-short",
        "warn",
        "a side has fewer than min_characters characters",
        _KEEPS,
        "Short pairs are kept; --drop too-short leaves them out.",
    ),
    Check(
        "copy",
        "warn",
        "source and target are the same text, which teaches the model to copy",
        _KEEPS,
        "A few (names, codes) do no harm; --drop copy leaves them out.",
    ),
    Check(
        "script",
        "warn",
        "a side has letters, but few or none in the script that this side is written in",
        _KEEPS,
        "Check whether the side is translated; --drop script leaves such pairs out.",
    ),
    Check(
        "language",
        "warn",
        "a side has common words of the other side's language and none of its own",
        _KEEPS,
        "Check whether the side is translated; --drop language leaves such pairs out.",
    ),
    Check(
        "number",
        "warn",
        "the digits of the two sides differ (ignoring separators, order and small numbers written in words)",
        _KEEPS,
        "Check whether the two belong together; --drop number leaves such pairs out.",
    ),
    Check(
        "url",
        "warn",
        "the web and e-mail addresses of the two sides differ",
        _KEEPS,
        "Check whether the two belong together; --drop url leaves such pairs out.",
    ),
    Check(
        "placeholder",
        "warn",
        "placeholders or tags of the two sides differ: {name}, {{name}}, ${name}, %s, %(name)s, ###T01###, <b>",
        _KEEPS,
        "Fix the side that lost or changed one; --drop placeholder leaves such pairs out.",
    ),
    Check(
        "punctuation",
        "warn",
        "only one side ends in a question or exclamation mark, or only one of two long sides ends in a mark",
        _KEEPS,
        "Check whether a side is cut off; --drop punctuation leaves such pairs out.",
    ),
    Check(
        "near-duplicate",
        "warn",
        "a pair differs from an earlier one only in case, digits, spaces or punctuation",
        _KEEPS,
        "Harmless in small numbers; --drop near-duplicate leaves them out.",
    ),
)

CHECKS: Mapping[str, Check] = {check.id: check for check in _TABLE}

AUTO_FIXED = frozenset({"bom", "line-separator", "control-character"})
"""Checks whose issue is fixed in the text itself; the pair is still used."""

UNUSABLE = frozenset(check.id for check in _TABLE if check.level == "error" and check.id != "shift")
"""Checks whose lines cannot be read as a pair: they can be dropped, but neither kept nor skipped."""
