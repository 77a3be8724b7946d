"""Pieces of a text (their bytes, the characters they cover, their display form), and what tokenizers have in common."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pellucid.errors import UserError
from pellucid.storage.files import write_text

__all__ = ["ByteTokenizer", "CharacterSpan", "Piece", "PieceRun", "lone_surrogate_error", "make_visible"]


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


def _character_spans(data: bytes) -> tuple[list[CharacterSpan], int]:
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


class ByteTokenizer(ABC):
    """What all tokenizers have in common: every id adds bytes to a text.

    A subclass sets `_bytes`, the bytes of each id (none for special ids), and `_strips`, whether encoding puts a space
    before a text, which decoding removes.
    """

    _bytes: list[bytes]
    _strips: bool = True

    @property
    def vocab_size(self) -> int:
        """Number of ids, including special ids, bytes and ids without a token."""
        return len(self._bytes)

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Encode a text, without start and end ids.

        Raises:
            UserError: for a lone surrogate, or a character that the vocabulary cannot represent.
        """

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Encode each text, without start and end ids.

        Raises:
            UserError: for a lone surrogate, or a character that the vocabulary cannot represent.
        """
        if isinstance(texts, str):
            hint = "Put it in a list, or use encode()."
            raise UserError("expected a list of texts, got one text", where="texts", hint=hint)
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """Decode ids; special ids are skipped, and invalid UTF-8 becomes U+FFFD.

        Raises:
            UserError: for an id outside the vocabulary.
        """
        return "".join(b"".join(part for _, part in run).decode("utf-8", "replace") for run, _ in self._runs(ids))

    def pieces(self, text: str) -> list[Piece]:
        """Encode a text as pieces, with their bytes and offsets; the ids are those of `encode`."""
        return self.pieces_from_ids(self.encode(text))

    def pieces_from_ids(self, ids: Iterable[int]) -> list[Piece]:
        """Build the pieces of ids, with offsets in the decoded text.

        Special ids are pieces without bytes; invalid UTF-8 has the offsets of its U+FFFD.
        """
        pieces: list[Piece] = []
        offset = 0
        for run, special in self._runs(ids):
            spans, length = _character_spans(b"".join(part for _, part in run))
            at = 0
            for number, part in run:
                covered = spans[at : at + len(part)]
                start = offset + (spans[at].start if at < len(spans) else length)
                end = offset + covered[-1].end if covered else start
                before = spans[at - 1].start if at else -1
                after = spans[at + len(part)].start if at + len(part) < len(spans) else -1
                pieces.append(Piece(number, part, start, end, self._display(number, covered, (before, after))))
                at += len(part)
            offset += length
            if special is not None:
                pieces.append(Piece(special, b"", offset, offset, self._display(special, [], (-1, -1))))
        return pieces

    def id_to_bytes(self, number: int, *, at_start: bool = False) -> bytes:
        """The UTF-8 bytes that an id adds to a text, possibly part of a character; b"" for special ids.

        Args:
            at_start: whether it is the first id with bytes: a space added by encoding is then not text.
        """
        if not 0 <= number < len(self._bytes):
            raise UserError(
                f"id {number} is not in the vocabulary",
                where="ids",
                hint=f"Use ids from 0 to {len(self._bytes) - 1}, from the same tokenizer.",
            )
        return self._bytes[number].removeprefix(b" ") if at_start and self._strips else self._bytes[number]

    @abstractmethod
    def as_dict(self) -> Mapping[str, object]:
        """The content of the tokenizer's file."""

    def save(self, path: str | Path) -> None:
        """Write the tokenizer to a file atomically.

        Raises:
            UserError: if the file cannot be written.
        """
        write_text(path, json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n")

    @abstractmethod
    def _runs(self, ids: Iterable[int]) -> Iterator[PieceRun]:
        """Yield the ids up to each special id with their bytes, and that id; then the rest, and None."""

    @abstractmethod
    def _display(self, number: int, covered: list[CharacterSpan], neighbours: tuple[int, int]) -> str:
        """Format an id for people.

        Args:
            covered: the characters that its bytes belong to.
            neighbours: the starts of the characters before and after these, −1 if there are none.
        """


def lone_surrogate_error(text: str) -> UserError:
    """Create the error for a text with a lone surrogate, which has no UTF-8."""
    place, code = next((i, ord(c)) for i, c in enumerate(text) if 0xD800 <= ord(c) < 0xE000)
    return UserError(
        f"lone surrogate U+{code:04X} at character {place + 1} of the text",
        where=f"character {place + 1}",
        hint="Read the text again as UTF-8, or remove the character: it comes from a faulty conversion.",
    )
