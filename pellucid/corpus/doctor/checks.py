"""The table of checks: what the doctor looks for, how severe it is, and what is done about it.

`pellucid doctor --list` and docs/doctor.md (`python docs/make_doctor.py`) are made from this table.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["AUTO_FIXED", "CHECKS", "UNUSABLE", "Check", "Level", "hint_in_training"]

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


_REALIGNS = "realigns the lines along the most likely path and leaves out unpaired ones"


def _error(check: str, meaning: str, hint: str, fix: str = "leaves the pair out") -> Check:
    return Check(check, "error", meaning, fix, hint)


def _drop(check: str, meaning: str, hint: str, fix: str = "leaves the pair out") -> Check:
    return Check(check, "drop", meaning, fix, hint)


def _warn(check: str, meaning: str, hint: str, fix: str = "keeps the pair unchanged") -> Check:
    return Check(check, "warn", meaning, fix, hint)


_TABLE = (
    _error(
        "line-count",
        "two aligned files have different numbers of lines, so lines are paired with the wrong partners",
        "Fix the files, or let --fix realign the lines and leave out unpaired ones.",
        _REALIGNS,
    ),
    _error(
        "shift",
        "from some line on, one side seems to run ahead of the other, judging by lengths, numbers, names and "
        "punctuation; short shifts (at most 60 pairs, and 2 % of all pairs in total) are not errors: their pairs "
        "are left out",
        "Check the line and fix the file, let --fix realign the lines, or use --skip shift if the text is right.",
        _REALIGNS,
    ),
    _error(
        "encoding",
        "bytes that are not UTF-8, or lone surrogates in JSON",
        "Fix or convert the file (iconv -f ENCODING -t UTF-8), or leave such pairs out: --drop encoding.",
    ),
    _error(
        "columns",
        "a line of a TSV file does not have two columns",
        "Write two columns (cut -f 1,2 takes the first two), or leave such lines out: --drop columns.",
    ),
    _error(
        "json",
        "a line of a JSONL file is not a JSON object with both texts",
        "Fix the line, or leave such lines out: --drop json.",
    ),
    _error(
        "tmx",
        "the XML of a TMX file is broken or incomplete; nothing after that location can be read",
        "Export the translation memory again, or use the units before the broken location: --drop tmx.",
        "keeps the units before the broken location",
    ),
    _error("empty", "no usable pair is left", "See the other checks for why pairs were left out.", "writes nothing"),
    _drop(
        "unpaired",
        "a line for which realignment found no certain partner",
        "Check whether its partner is missing.",
        "leaves the line out",
    ),
    _drop(
        "blank",
        "one or both sides are empty; the whole pair is left out, so the other lines stay aligned",
        "Fill in the missing side, or do nothing: the pair is left out.",
    ),
    _drop(
        "too-long",
        "a side has more than max_characters characters",
        "Split it into sentences on both sides, or raise --max-characters.",
    ),
    _drop(
        "length-ratio",
        "a side is more than max_ratio times as long as expected from its partner's length and the average length "
        "ratio of the text",
        "Check whether the two belong together; --keep length-ratio keeps them.",
    ),
    _drop(
        "swapped",
        "the source is written in the target's language and the target in the source's",
        "Swap the two sides; if all pairs are swapped, swap the files or the languages.",
    ),
    _drop(
        "duplicate",
        "the same pair occurred before; the first one is kept",
        "Nothing to do; --keep duplicate keeps them all.",
    ),
    _drop(
        "leak",
        "the pair or its source is also in the files given with --valid or --test",
        "Nothing to do: the pair is left out, since training on it would inflate the scores.",
    ),
    _warn(
        "bom",
        "a byte order mark (U+FEFF) before the first word or inside the text",
        "Nothing to do: it is removed.",
        "removes the mark",
    ),
    _warn(
        "line-separator",
        "a character that other programs treat as a line end: CR, VT, FF, U+001C–001E, U+0085, U+2028, U+2029",
        "Nothing to do: it becomes a space. Check that no lines were joined.",
        "replaces it by a space",
    ),
    _warn(
        "control-character",
        "a control character inside the text, including tabs",
        "Nothing to do: it is removed, a tab becomes a space.",
        "removes it; a tab or unit separator becomes a space",
    ),
    _warn(
        "mojibake",
        "text that was decoded with the wrong encoding (Ã©, â€™), or U+FFFD where a character was lost",
        "Get the text again from an intact source, or leave such pairs out: --drop mojibake.",
    ),
    _warn(
        "too-short",
        "a side has fewer than min_characters characters",
        "Short pairs are kept; --drop too-short leaves them out.",
    ),
    _warn(
        "copy",
        "source and target are the same text, which teaches the model to copy",
        "A few (names, codes) do no harm; --drop copy leaves them out.",
    ),
    _warn(
        "script",
        "a side has letters, but few or none in the script that this side is written in",
        "Check whether the side is translated; --drop script leaves such pairs out.",
    ),
    _warn(
        "language",
        "a side has common words of the other side's language and none of its own",
        "Check whether the side is translated; --drop language leaves such pairs out.",
    ),
    _warn(
        "number",
        "the digits of the two sides differ (ignoring separators, order and small numbers written in words)",
        "Check whether the two belong together; --drop number leaves such pairs out.",
    ),
    _warn(
        "url",
        "the web and e-mail addresses of the two sides differ",
        "Check whether the two belong together; --drop url leaves such pairs out.",
    ),
    _warn(
        "placeholder",
        "placeholders or tags of the two sides differ: {name}, {{name}}, ${name}, %s, %(name)s, ###T01###, <b>",
        "Fix the side that lost or changed one; --drop placeholder leaves such pairs out.",
    ),
    _warn(
        "punctuation",
        "only one side ends in a question or exclamation mark, or only one of two long sides ends in a punctuation "
        "mark",
        "Check whether a side is cut off; --drop punctuation leaves such pairs out.",
    ),
    _warn(
        "near-duplicate",
        "a pair differs from an earlier one only in case, digits, spaces or punctuation",
        "Harmless in small numbers; --drop near-duplicate leaves them out.",
    ),
)

CHECKS: Mapping[str, Check] = {check.id: check for check in _TABLE}

AUTO_FIXED = frozenset({"bom", "line-separator", "control-character"})
"""Checks whose issue is fixed in the text itself; the pair is still used."""

UNUSABLE = frozenset(check.id for check in _TABLE if check.level == "error" and check.id != "shift")
"""Checks whose lines cannot be read as a pair: they can be dropped, but neither kept nor skipped."""


def hint_in_training(check: str) -> str:
    """The hint of a check with the flags of training instead of the doctor's, such as `--data.drop` for `--drop`."""
    hint = CHECKS[check].hint.replace("--fix", "`pellucid doctor --fix`")
    return re.sub(r"--(drop|keep|skip|max-\w+)", lambda flag: "--data." + flag[1].replace("-", "_"), hint)
