"""Placeholders that translations keep byte for byte: `{{name}}`, `%s`, `###T01###`, tags, URLs, e-mail addresses."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from pellucid.generation.sentence_splitting import is_unspaced
from pellucid.tokenizers.pieces import Piece

__all__ = [
    "ProtectedText",
    "has_all_placeholders",
    "insert_by_alignment",
    "insert_placeholders",
    "placeholder_spans",
    "protect",
    "protect_pair",
    "restore_placeholders",
    "unbalanced_tags",
]

_PATTERN = re.compile(
    r"(?P<tag></?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))*\s*/?>)"
    r"|(?P<other>"
    r"\{\{[^{}\n]+\}\}"  # {{person.name}}
    r"|\$?\{[A-Za-z0-9_][\w.:\[\]-]*\}"  # {0}, {name}, ${name}, {x:.2f}
    r"|\{\}"
    r"|%\([A-Za-z_]\w*\)[#0+-]*\d*(?:\.\d+)?[sdifgrxX]"  # %(name)s
    r"|%(?:\d+\$)?[#0+-]*\d*(?:\.\d+)?(?:hh?|ll?)?[sdiufgxXc@](?![A-Za-z])"  # %s, %1$d, %.2f
    r"|\#\#\#[A-Za-z0-9_]+\#\#\#"
    r"|&(?:[A-Za-z]{2,8}|\#\d{1,6}|\#x[0-9A-Fa-f]{1,6});"
    r"|https?://[^\s<>\"'，。、）」』”]*[^\s<>\"'，。、）」』”.,;:!?)\]]"
    r"|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
    r")"
)
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]*)[^>]*?(?P<alone>/?)>")


class ProtectedText(NamedTuple):
    """A text whose placeholders are numbered.

    Attributes:
        segments: stretches of text, and numbers in the place of placeholders.
        values: the placeholders by number; equal ones share a number.
    """

    segments: list[str | int]
    values: list[str]

    @property
    def bare(self) -> str:
        """The text without its placeholders; between two spaces, one space is removed with the placeholder."""
        text = ""
        for segment in self.segments:
            if isinstance(segment, str):
                doubled = text[-1:].isspace() or not text
                text += segment.lstrip() if doubled and segment[:1].isspace() else segment
        return text


def placeholder_spans(text: str) -> list[tuple[int, int]]:
    """Find the placeholders of a text: start and end of each."""
    return [match.span() for match in _PATTERN.finditer(text)]


def protect(text: str, values: Sequence[str] = ()) -> ProtectedText:
    """Number the placeholders of a text in the order of their first occurrence.

    Args:
        text: any text; `restore_placeholders` of the result is the text again.
        values: placeholders that have the first numbers already.
    """
    numbers = {value: number for number, value in enumerate(values)}
    segments: list[str | int] = []
    done = 0
    for start, end in placeholder_spans(text):
        if done < start:
            segments.append(text[done:start])
        segments.append(numbers.setdefault(text[start:end], len(numbers)))
        done = end
    if done < len(text):
        segments.append(text[done:])
    return ProtectedText(segments, list(numbers))


def protect_pair(source: str, target: str, most: int = 10) -> tuple[ProtectedText, ProtectedText] | None:
    """Number the placeholders of a sentence pair consistently.

    None if the sides do not hold the same ones equally often, or more than `most` different ones.
    """
    one = protect(source)
    other = protect(target, one.values)
    if _count(one.segments) != _count(other.segments) or len(one.values) > most:
        return None
    return one, other


def restore_placeholders(segments: Iterable[str | int], values: Sequence[str]) -> str:
    """Replace the numbers by their placeholders."""
    return "".join(segment if isinstance(segment, str) else values[segment] for segment in segments)


def unbalanced_tags(segments: Iterable[str | int], values: Sequence[str]) -> list[str]:
    """Find the tags that remain when every opening tag is removed with its closing tag; none if balanced."""
    left: list[str] = []
    for segment in segments:
        match = _TAG.fullmatch(values[segment]) if isinstance(segment, int) else None
        if match is None or match["alone"]:
            continue
        opening = f"<{match['name']}"
        if match["close"] and left and left[-1] == opening:
            left.pop()
        else:
            left.append(f"</{match['name']}" if match["close"] else opening)
    return left


def has_all_placeholders(source: ProtectedText, segments: Sequence[str | int]) -> bool:
    """Check that a translation has each placeholder as often as its source, and tags balanced alike."""
    return _count(source.segments) == _count(segments) and unbalanced_tags(
        source.segments, source.values
    ) == unbalanced_tags(segments, source.values)


def insert_placeholders(source: ProtectedText, translation: str, places: Sequence[int]) -> str:
    """Insert the source's placeholders into a translation that was made without them.

    Args:
        source: what was translated; its `bare` text is what the model saw.
        translation: of the bare text.
        places: for each placeholder of the source, in order, the character of the translation it stands before.
    """
    wanted = [segment for segment in source.segments if isinstance(segment, int)]
    at = [_word_edge(translation, place) for place in places]
    for _ in range(2):
        pieces = _pieces(translation, wanted, at)
        if unbalanced_tags(pieces, source.values) == unbalanced_tags(source.segments, source.values):
            break
        at = _in_order(at, len(translation))
    gaps = _neighbours(source)
    text = ""
    for i, piece in enumerate(pieces):
        if isinstance(piece, str):
            text += piece
            continue
        value, (before, after) = source.values[piece], gaps[piece]
        following = pieces[i + 1] if i + 1 < len(pieces) else ""
        text += _space_between(text, value, before) + value
        if isinstance(following, str):
            text += _space_between(value, following, after)
    return text


def insert_by_alignment(
    protected: ProtectedText,
    source_pieces: Sequence[Piece],
    target_pieces: Sequence[Piece],
    weights: Float[Tensor, "target source"],
    translation: str,
) -> str:
    """Insert the placeholders of the source into the translation of its bare text.

    A pair of tags encloses what was translated from the text between them. Any other placeholder precedes the token
    that attended most to the source token after it, or ends the translation if it ended the source.

    Args:
        source_pieces: of its bare text, without surrounding spaces.
        weights: attention of each target token to each source token; further columns are ignored.
    """
    offsets = _offsets(protected)
    partners = _partners(protected)
    if not source_pieces or not target_pieces:
        return insert_placeholders(protected, translation, [len(translation) if offset else 0 for offset in offsets])
    weights = weights[:, : len(source_pieces)]
    attended = weights.argmax(1).tolist()
    starts: list[int] = []
    for i, offset in enumerate(offsets):
        partner = partners[i]
        if partner is not None:
            first, last = sorted((offset, offsets[partner]))
            inside = [
                piece
                for piece, source in zip(target_pieces, attended, strict=True)
                if first <= source_pieces[source].start and source_pieces[source].end <= last
            ]
            if inside:
                starts.append(min(p.start for p in inside) if i < partner else max(p.end for p in inside))
                continue
        following = next((n for n, piece in enumerate(source_pieces) if piece.end > offset), None)
        starts.append(
            len(translation) if following is None else target_pieces[int(weights[:, following].argmax())].start
        )
    return insert_placeholders(protected, translation, [_skip_spaces(translation, start) for start in starts])


def _count(segments: Iterable[str | int]) -> Counter[str | int]:
    return Counter(segment for segment in segments if isinstance(segment, int))


def _word_edge(text: str, place: int) -> int:
    """Move an offset within a word to the start of the word."""
    while 0 < place < len(text) and _joined_letters(text[place - 1], text[place]):
        place -= 1
    return place


def _joined_letters(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and not (is_unspaced(left) or is_unspaced(right))


def _pieces(text: str, numbers: Sequence[int], at: Sequence[int]) -> list[str | int]:
    order = sorted(range(len(at)), key=lambda i: (at[i], i))
    pieces: list[str | int] = []
    done = 0
    for i in order:
        if done < at[i]:
            pieces.append(text[done : at[i]])
        pieces.append(numbers[i])
        done = max(done, at[i])
    if done < len(text):
        pieces.append(text[done:])
    return pieces


def _in_order(at: Sequence[int], length: int) -> list[int]:
    """Bring offsets into the order of the source, so that tags are balanced as they are there."""
    moved: list[int] = []
    for place in at:
        moved.append(min(length, max(place, moved[-1] if moved else 0)))
    return moved


def _neighbours(source: ProtectedText) -> dict[int, tuple[bool, bool]]:
    """Find out for each placeholder whether a space, or text without spaces, precedes and follows it."""
    found: dict[int, tuple[bool, bool]] = {}
    for i, segment in enumerate(source.segments):
        if isinstance(segment, int) and segment not in found:
            tag = source.values[segment].startswith("<")
            before = source.segments[i - 1] if i else ""
            after = source.segments[i + 1] if i + 1 < len(source.segments) else ""
            found[segment] = (
                isinstance(before, str) and _apart(before[-1:], tag),
                isinstance(after, str) and _apart(after[:1], tag),
            )
    return found


def _apart(neighbour: str, tag: bool) -> bool:
    return neighbour.isspace() or (not tag and bool(neighbour) and is_unspaced(neighbour))


def _space_between(left: str, right: str, apart: bool) -> str:
    if not apart or not left or not right or left[-1].isspace() or right[0].isspace():
        return ""
    placeholder_left = right[0].isalnum() and not is_unspaced(right[0])
    placeholder_right = left[-1].isalnum() and not is_unspaced(left[-1])
    return " " if placeholder_left or placeholder_right else ""


def _skip_spaces(text: str, start: int) -> int:
    """Skip the space that a token begins with: the placeholder goes between it and the word."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _offsets(protected: ProtectedText) -> list[int]:
    """Compute the offset of each placeholder in the bare text without surrounding spaces."""
    indent = len(protected.bare) - len(protected.bare.lstrip())
    return [
        max(0, len(ProtectedText(protected.segments[:i], protected.values).bare) - indent)
        for i, segment in enumerate(protected.segments)
        if isinstance(segment, int)
    ]


def _partners(protected: ProtectedText) -> list[int | None]:
    """Find for each tag the index of its counterpart; None for other placeholders."""
    values = [protected.values[segment] for segment in protected.segments if isinstance(segment, int)]
    partners: list[int | None] = [None] * len(values)
    open_tags: list[tuple[str, int]] = []
    for i, value in enumerate(values):
        if not value.startswith("<") or value.endswith("/>"):
            continue
        name = value.strip("</>").split()[0]
        if not value.startswith("</"):
            open_tags.append((name, i))
        elif open_tags and open_tags[-1][0] == name:
            start = open_tags.pop()[1]
            partners[i], partners[start] = start, i
    return partners
