"""Pieces of a text: their bytes, the characters they cover, and their display form."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from pellucid.errors import UserError

__all__ = [
    "CharacterSpan",
    "Piece",
    "PieceRun",
    "character_spans",
    "lone_surrogate_error",
    "make_visible",
    "pieces_from_runs",
]


class Piece(NamedTuple):
    """One id of a text.

    Attributes:
        bytes: the UTF-8 bytes that it adds to the text; all pieces' bytes joined are the text. Empty for special ids.
        start, end: the characters of the text that it covers, end excluded. A piece that is part of a character has the
            offsets of the whole character.
        display: its form for people: `▁` for a space, `水⟨E6⟩` for the byte E6 of 水, `⟨U+000A⟩` for invisible
            characters, `⟨end⟩` for a special id. The space mark before the first word is shown but adds no byte.
    """

    id: int
    bytes: bytes
    start: int
    end: int
    display: str


class CharacterSpan(NamedTuple):
    """The character that a byte belongs to: its offsets, and the character itself ("" for invalid bytes)."""

    start: int
    end: int
    character: str


PieceRun: TypeAlias = tuple[list[tuple[int, bytes]], int | None]
"""Ids with the bytes that each adds, and the special id after them; None at the end of a text."""


def make_visible(text: str) -> str:
    """Make every character of a text visible."""
    return "".join(character if character.isprintable() else f"⟨U+{ord(character):04X}⟩" for character in text)


def character_spans(data: bytes) -> tuple[list[CharacterSpan], int]:
    """Find the character of each byte of a text, and the number of characters.

    As in decoding with "replace", each invalid stretch of bytes becomes one U+FFFD; its character here is "".
    """
    spans: list[CharacterSpan] = []
    characters = position = 0
    while position < len(data):
        rest, bad = data[position:], 0
        try:
            good = rest.decode("utf-8")
        except UnicodeDecodeError as error:
            good, bad = rest[: error.start].decode("utf-8"), error.end - error.start
        for character in good:
            spans += [CharacterSpan(characters, characters + 1, character)] * len(character.encode("utf-8"))
            characters += 1
        if bad:
            spans += [CharacterSpan(characters, characters + 1, "")] * bad
            characters += 1
        position = len(spans)
    return spans, characters


def pieces_from_runs(
    runs: Iterable[PieceRun],
    display: Callable[[int, list[CharacterSpan], tuple[int, int]], str],
    special_display: Callable[[int], str],
) -> list[Piece]:
    """Build the pieces of a text's runs, with offsets in the decoded text.

    Special ids are pieces without bytes; invalid bytes have the offsets of their U+FFFD.

    Args:
        runs: the runs of the text.
        display: formats an id, given the characters that its bytes belong to and the starts of the characters before
            and after them, −1 if there are none.
        special_display: formats a special id.
    """
    pieces: list[Piece] = []
    offset = 0
    for run, special in runs:
        spans, length = character_spans(b"".join(part for _, part in run))
        at = 0
        for number, part in run:
            covered = spans[at : at + len(part)]
            start = offset + (spans[at].start if at < len(spans) else length)
            end = offset + covered[-1].end if covered else start
            before = spans[at - 1].start if at else -1
            after = spans[at + len(part)].start if at + len(part) < len(spans) else -1
            pieces.append(Piece(number, part, start, end, display(number, covered, (before, after))))
            at += len(part)
        offset += length
        if special is not None:
            pieces.append(Piece(special, b"", offset, offset, special_display(special)))
    return pieces


def lone_surrogate_error(text: str) -> UserError:
    """Create the error for a text with a lone surrogate, which has no UTF-8."""
    place, code = next((i, ord(c)) for i, c in enumerate(text) if 0xD800 <= ord(c) < 0xE000)
    return UserError(
        f"lone surrogate U+{code:04X} at character {place + 1} of the text",
        where=f"character {place + 1}",
        hint="Read the text again as UTF-8, or remove the character: it comes from a faulty conversion.",
    )
