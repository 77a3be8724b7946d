"""JSON lines → pairs: one object per line with `source` and `target`, or with two language codes as keys."""

import json
import re
from collections.abc import Iterator

from pellucid.corpus.languages import choose_languages, find_language
from pellucid.corpus.pairs import Issue, LanguagePair, Location, RawPair, decode
from pellucid.corpus.text_files import read_lines
from pellucid.errors import UserError

__all__ = ["JSONL_SUFFIXES", "is_unicode", "jsonl_languages", "read_jsonl", "read_record"]

JSONL_SUFFIXES = (".jsonl", ".ndjson")
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def jsonl_languages(file: str, wanted: LanguagePair) -> LanguagePair | None:
    """Find the language codes that the first readable line uses as keys; None if its keys are source and target.

    Raises:
        UserError: if the file cannot be read, or that line lacks the wanted languages or has more than two.
    """
    for number, line in read_lines(file):
        record, _ = read_record(line, Location(file, number))
        if record is None:
            continue
        if "source" in record and "target" in record:
            return None
        codes = [name for name, value in record.items() if isinstance(value, str) and _CODE.fullmatch(name)]
        if len(codes) >= 2 or wanted.requested:
            return choose_languages(file, codes, wanted)
        raise UserError(
            f"neither source and target nor two language codes among the fields: {', '.join(record) or 'none'}",
            where=f"{file}:{number}",
            hint='Write each line as {"source": "…", "target": "…"} or {"es": "…", "en": "…"}. For a language model: '
            "`pellucid doctor --lm`, `pellucid train lm`.",
        )
    return None


def read_jsonl(file: str, languages: LanguagePair | None) -> Iterator[RawPair]:
    """Yield a pair for each line; a line without such an object is a pair with the issue `json`.

    Args:
        languages: the keys of the two texts, as `jsonl_languages` found them; None for `source` and `target`.

    Raises:
        UserError: if the file cannot be read.
    """
    wanted = ("source", "target") if languages is None else (languages.source or "", languages.target or "")
    names = wanted
    for number, line in read_lines(file):
        location = Location(file, number)
        record, issues = read_record(line, location)
        if record is None:
            yield RawPair("", "", location, location, issues)
            continue
        if languages is not None and not (names[0] in record and names[1] in record):
            found = [find_language(code, list(record)) for code in wanted]
            names = (found[0] or wanted[0], found[1] or wanted[1])
        source, target = record.get(names[0]), record.get(names[1])
        for name, text in zip(names, (source, target), strict=True):
            if not isinstance(text, str):
                what = "no field" if name not in record else "not a string: field"
                issues += (Issue("json", location, f"{what} {name}"),)
            elif not text.isprintable() and not is_unicode(text):
                issues += (Issue("encoding", location, f"lone surrogate in {name}"),)
        yield RawPair(_shown(source), _shown(target), location, location, issues)


def read_record(line: bytes, location: Location) -> tuple[dict[str, object] | None, tuple[Issue, ...]]:
    """Parse the object on a line; None for a blank line, and None with an issue for a line without an object."""
    text, issues = decode(line, location)
    if issues:
        return None, issues
    if text.startswith("\ufeff"):
        text = text[1:]
        issues = (Issue("bom", location, "a byte order mark before the first character"),)
    if not text.strip():
        return None, issues
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return None, (Issue("json", location, f"not JSON: {error.msg} at character {error.pos + 1}"),)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
        return None, (Issue("json", location, "not readable JSON: a number is too long or the nesting too deep"),)
    if isinstance(value, dict) and isinstance(value.get("translation"), dict):  # as Hugging Face datasets write it
        value = value["translation"]
    if not isinstance(value, dict):
        return None, (Issue("json", location, "not a JSON object"),)
    return value, issues


def is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: object) -> str:
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else ""
