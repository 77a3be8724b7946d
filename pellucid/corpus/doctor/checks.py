"""The table of checks: what the doctor looks for, how bad it is, and what is done about it.

This table is the published one: `pellucid doctor --list` and `docs/doctor.md` are made from it.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["AUTO_FIXED", "CHECKS", "Check", "Level"]

Level = Literal["error", "drop", "warn"]


class Check(NamedTuple):
    """One thing the doctor looks for.

    Args:
        id: its name, as in reports and in `--drop`, `--keep`, `--skip`.
        level: `error`: training refuses; `drop`: the pair is left out; `warn`: it is only reported.
        meaning: what is wrong when it is reported.
        fix: what `--fix` does about it.
        hint: what the user can do about it.
    """

    id: str
    level: Level
    meaning: str
    fix: str
    hint: str


_LEAVES_OUT = "leaves the pair out"
_KEEPS = "keeps the pair as it is"

_TABLE = (
    Check(
        "line-count",
        "error",
        "two aligned files have different numbers of lines, so that lines belong to the wrong partners",
        "pairs the lines anew along the likeliest path and leaves out the odd ones",
        "Mend the files, or let --fix pair the lines anew and drop the odd ones.",
    ),
    Check(
        "shift",
        "error",
        "from a line on, one side seems to run some lines ahead of the other, by lengths, numbers, names and marks; "
        "stretches of at most 60 pairs that heal, 2 % of all pairs together, are only left out",
        "pairs the lines anew along the likeliest path and leaves out the odd ones",
        "Look at the line and mend the file, let --fix pair the lines anew, or --skip shift if the text is right.",
    ),
    Check(
        "encoding",
        "error",
        "bytes that are not UTF-8, or half a character in JSON",
        _LEAVES_OUT,
        "Mend or convert the file (iconv -f ENCODING -t UTF-8), or leave such pairs out: --drop encoding.",
    ),
    Check(
        "columns",
        "error",
        "a line of a TSV file that has not two columns",
        _LEAVES_OUT,
        "Give two columns (cut -f 1,2 takes the first two), or leave such lines out: --drop columns.",
    ),
    Check(
        "json",
        "error",
        "a line of a JSONL file that is no JSON object with both texts",
        _LEAVES_OUT,
        "Mend the line, or leave such lines out: --drop json.",
    ),
    Check(
        "tmx",
        "error",
        "the XML of a TMX file breaks off or is broken; nothing after that place can be read",
        "keeps what stands before the broken place",
        "Export the memory again, or use what stands before the broken place: --drop tmx.",
    ),
    Check("empty", "error", "nothing is left that can be used", "writes nothing", "See what all was left out for."),
    Check(
        "unpaired",
        "drop",
        "a line to which pairing anew (--fix, --drop shift) found no certain partner",
        "leaves the line out",
        "Look whether its partner is missing.",
    ),
    Check(
        "blank",
        "drop",
        "one side or both are empty; the pair falls as a whole, so that nothing shifts",
        _LEAVES_OUT,
        "Fill in the missing side, or leave it: the pair is left out.",
    ),
    Check(
        "too-long",
        "drop",
        "a side has more than max_characters characters",
        _LEAVES_OUT,
        "Split it into sentences on both sides, or raise --max-characters.",
    ),
    Check(
        "length-ratio",
        "drop",
        "a side is more than max_ratio times as long as the partner lets expect, by the ratio of the whole text",
        _LEAVES_OUT,
        "Look whether the two belong together; --keep length-ratio keeps them.",
    ),
    Check(
        "swapped",
        "drop",
        "the source is written in the target's language and the target in the source's",
        _LEAVES_OUT,
        "Exchange the two sides; if all are swapped, exchange the files or the languages.",
    ),
    Check(
        "duplicate",
        "drop",
        "the same pair has stood before; the first one is kept",
        _LEAVES_OUT,
        "Nothing need be done; --keep duplicate keeps them all.",
    ),
    Check(
        "leak",
        "drop",
        "the pair, or its source, also stands in the files given with --valid or --test",
        _LEAVES_OUT,
        "Nothing need be done: the pair is left out of training, else scores would be too high.",
    ),
    Check(
        "bom",
        "warn",
        "a byte order mark (U+FEFF) before the first word or inside the text",
        "drops the mark",
        "Nothing need be done: it is dropped.",
    ),
    Check(
        "line-separator",
        "warn",
        "a character that other programs take for a line end: CR, VT, FF, U+001C–001E, U+0085, U+2028, U+2029",
        "puts a space in its place",
        "Nothing need be done: it becomes a space. Check that no lines were joined.",
    ),
    Check(
        "control-character",
        "warn",
        "a control character inside the text, a tab included",
        "drops it; a tab or unit separator becomes a space",
        "Nothing need be done: it is dropped, a tab becomes a space.",
    ),
    Check(
        "mojibake",
        "warn",
        "text that was decoded wrongly before it came here (Ã©, â€™), or U+FFFD where a character was lost",
        _KEEPS,
        "Fetch the text again from where it was whole, or leave such pairs out: --drop mojibake.",
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
        "source and target are the same text, from which copying is learnt",
        _KEEPS,
        "A few (names, codes) do no harm; --drop copy leaves them out.",
    ),
    Check(
        "script",
        "warn",
        "a side has letters, but none or few in the script that this side is written in",
        _KEEPS,
        "Look whether the side is translated; --drop script leaves such pairs out.",
    ),
    Check(
        "language",
        "warn",
        "a side has common words of the other side's language and none of its own",
        _KEEPS,
        "Look whether the side is translated; --drop language leaves such pairs out.",
    ),
    Check(
        "number",
        "warn",
        "the digits of the two sides differ (separators, order and small numbers written in words put aside)",
        _KEEPS,
        "Look whether the two belong together; --drop number leaves such pairs out.",
    ),
    Check(
        "url",
        "warn",
        "the web and mail addresses of the two sides differ",
        _KEEPS,
        "Look whether the two belong together; --drop url leaves such pairs out.",
    ),
    Check(
        "placeholder",
        "warn",
        "placeholders or tags of the two sides differ: {name}, {{name}}, ${name}, %s, %(name)s, ###T01###, <b>",
        _KEEPS,
        "Mend the side that lost or changed one; --drop placeholder leaves such pairs out.",
    ),
    Check(
        "punctuation",
        "warn",
        "one side asks or exclaims at its end and the other does not, or only one of two long sides ends in a mark",
        _KEEPS,
        "Look whether a side is cut off; --drop punctuation leaves such pairs out.",
    ),
    Check(
        "near-duplicate",
        "warn",
        "a pair that differs from an earlier one only in case, digits, spaces or punctuation",
        _KEEPS,
        "Harmless in small numbers; --drop near-duplicate leaves them out.",
    ),
)

CHECKS: Mapping[str, Check] = {check.id: check for check in _TABLE}

AUTO_FIXED = frozenset({"bom", "line-separator", "control-character"})
"""Checks whose fault is mended in the text itself; the pair is used all the same."""
