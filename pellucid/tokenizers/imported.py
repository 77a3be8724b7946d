"""Tokenizers of other people's models: a tokenizer.json of Hugging Face's, as it is.

Two layouts are read. *Byte-level*: every byte has a printable stand-in, pieces are made of those (GPT-2, Llama 3, Qwen,
SmolLM). *Marked*: a space is `▁`, a character without a piece becomes byte pieces `<0x00>` … (Llama 2, Mistral).
Both can write every text, but for bytes that a vocabulary lacks (SmolLM2 has no U+0004): a text with one is refused.

The special tokens are out of band: text that spells one is text. Only `encode_rendered` makes them, of the text that a
chat template has written.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer as RustTokenizer

from pellucid.errors import UserError
from pellucid.storage.files import write_text
from pellucid.tokenizers.layouts import (
    BYTE_CHARACTERS,
    SPACE_MARK,
    adds_space_prefix,
    decode_byte_fallback,
    decode_byte_level,
    is_byte_level,
    without_initial_mark,
    without_space_prefix,
)
from pellucid.tokenizers.pieces import (
    CharacterSpan,
    Piece,
    PieceRun,
    lone_surrogate_error,
    make_visible,
    pieces_from_runs,
)

__all__ = ["ImportedTokenizer", "SpecialIds", "prepends_id", "validate_tokenizer"]


class SpecialIds(NamedTuple):
    """What a model's files say about its special ids.

    Attributes:
        start_id: stands before a text; None if the model has none.
        end_ids: each of them ends a text, the usual one first.
        adds_start: whether a text that is continued begins with `start_id`.
    """

    start_id: int | None
    end_ids: tuple[int, ...]
    adds_start: bool


class ImportedTokenizer:
    """Text ↔ ids of another program's making, with the interface of `Tokenizer`.

    `decode(encode(text)) == text` for every text that the model's own normalisation leaves as it is (Qwen's composes
    accents: NFC), without lone surrogates; with a layout that puts a space before the first word, a space that stands
    there already is taken for it.

    Args:
        content: what tokenizer.json holds.
        special: which ids start and end a text.
        vocab_size: rows of the model's embedding, of which some may have no token; as many as there are tokens if not
            given.
        pad_id: fills a batch up behind its shorter texts.

    Raises:
        UserError: if the layout is none of the two.
    """

    kind = "imported"

    def __init__(
        self, content: Mapping[str, Any], special: SpecialIds, vocab_size: int | None = None, pad_id: int = 0
    ) -> None:
        self._content = content
        self.special = special
        self.pad_id = pad_id
        self._rust = _rust(content)  # refuses what is no tokenizer at all
        self._byte_level = is_byte_level(content)
        # In Metaspace's "first" scheme what stands behind a special token gets no mark; it is encoded by itself here.
        self._inside = _rust(without_initial_mark(content))
        self._special_spellings = {
            str(token["content"]): int(token["id"]) for token in content.get("added_tokens", ()) if token["special"]
        }
        self.special_ids = frozenset(self._special_spellings.values())
        self._spellings = self._tokens(vocab_size)
        self._bytes = self._all_bytes()
        self._strips = adds_space_prefix(content)
        self._byte_ids = self._ids_of_bytes()
        mark = SPACE_MARK.encode()
        self._mark_ids = [self._byte_ids[value] for value in mark if value in self._byte_ids]
        self._missing = [value for value in range(256) if value not in self._byte_ids]

    def __repr__(self) -> str:
        return f"ImportedTokenizer(vocab_size={self.vocab_size})"

    @property
    def vocab_size(self) -> int:
        """How many ids the model has, special ones and rows without a token included; all are below it."""
        return len(self._bytes)

    @property
    def start_id(self) -> int | None:
        """Stands before a text; None if the model has none."""
        return self.special.start_id

    @property
    def end_id(self) -> int | None:
        """Stands after a text; None if the model has none."""
        return self.special.end_ids[0] if self.special.end_ids else None

    @property
    def end_ids(self) -> tuple[int, ...]:
        """Each of these ends a text."""
        return self.special.end_ids

    @property
    def adds_start(self) -> bool:
        """Whether a text that is continued begins with `start_id`."""
        return self.special.adds_start

    @property
    def unused_ids(self) -> frozenset[int]:
        """Rows of the model's embedding that no token has; never to be sampled."""
        return frozenset(number for number, spelling in enumerate(self._spellings) if spelling is None)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without start and end; what spells a special token is text.

        Raises:
            UserError: at a lone surrogate, or a character that the vocabulary cannot write.
        """
        return self._encode(self._rust, text)

    def encode_continuation(self, text: str) -> list[int]:
        """Return the ids of a text that goes on from another one: what `id_to_bytes` gives for them is the text.

        Raises:
            UserError: at a lone surrogate, or a character that the vocabulary cannot write.
        """
        return self._encode(self._continuation, text)

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Return the ids of each text, without start and end.

        Raises:
            UserError: at a lone surrogate, or a character that the vocabulary cannot write.
        """
        if isinstance(texts, str):
            raise UserError(
                "expected a list of texts, got one text", where="texts", hint="Put it in a list, or use encode()."
            )
        return [self.encode(text) for text in texts]

    def encode_rendered(self, rendered: str, substitutes: Mapping[str, str]) -> list[int]:
        """Return the ids of what a chat template has written, in which special tokens stand spelt out.

        Args:
            rendered: the template's text.
            substitutes: character → the spelling of a special token in a message, which it stands for; it stays text.
        """
        ids: list[int] = []
        for place, (text, special) in enumerate(self._split_at_special(rendered)):
            for character, spelling in substitutes.items():
                text = text.replace(character, spelling)
            ids += self._encode(self._inside if place else self._rust, text) if text else []
            ids += [] if special is None else [special]
        return ids

    def spelling(self, number: int | None) -> str:
        """Return how a chat template writes an id; "" for None and for ids without a token."""
        return "" if number is None else self._spellings[number] or ""

    @property
    def special_spellings(self) -> tuple[str, ...]:
        """How chat templates write the special tokens."""
        return tuple(self._special_spellings)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; special ones are skipped, and bytes that are no UTF-8 become U+FFFD.

        Raises:
            UserError: at an id that is not in the vocabulary.
        """
        return "".join(b"".join(part for _, part in run).decode("utf-8", "replace") for run, _ in self._runs(ids))

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of a text, with their bytes and offsets; the ids are those of `encode`."""
        return self.pieces_from_ids(self.encode(text))

    def pieces_from_ids(self, ids: Iterable[int]) -> list[Piece]:
        """Return the pieces of ids, with offsets in the text that `decode` makes of them.

        Special ids are pieces without bytes; bytes that are no UTF-8 have the offsets of their U+FFFD.
        """
        return pieces_from_runs(self._runs(ids), self._display, lambda number: f"⟨{self._name(number)}⟩")

    def id_to_bytes(self, number: int, *, at_start: bool = False) -> bytes:
        """Decode one id to the bytes that it adds to a text, perhaps part of a character; b"" for special ids.

        Args:
            number: the id.
            at_start: whether it is the first that has bytes: a space that encoding put there is then no text.
        """
        if not 0 <= number < len(self._bytes):
            raise UserError(
                f"id {number} is not in the vocabulary of {len(self._bytes)} ids",
                where="number",
                hint="Ids are counted from 0; use the tokenizer of the model that produced the id.",
            )
        return self._bytes[number].removeprefix(b" ") if at_start and self._strips else self._bytes[number]

    def save(self, path: str | Path) -> None:
        """Write tokenizer.json as it was read, whole or not at all.

        Raises:
            UserError: if the file cannot be written.
        """
        write_text(path, json.dumps(self._content, ensure_ascii=False, indent=1) + "\n")

    @cached_property
    def _continuation(self) -> RustTokenizer:
        return _rust(without_space_prefix(self._content)) if self._strips else self._rust

    def _encode(self, rust: RustTokenizer, text: str) -> list[int]:
        if self._byte_level or SPACE_MARK not in text or len(self._mark_ids) < 3:
            return self._encode_unmarked(rust, text)
        # The mark itself is no space: it becomes its bytes, or it would come back as one.
        first, *others = text.split(SPACE_MARK)
        ids = self._encode_unmarked(rust, first)
        for other in others:
            ids += [*self._mark_ids, *self._encode_unmarked(self._continuation, other)]
        return ids

    def _encode_unmarked(self, rust: RustTokenizer, text: str) -> list[int]:
        try:
            ids: list[int] = rust.encode(text, add_special_tokens=False).ids
        except (UnicodeEncodeError, TypeError):
            raise lone_surrogate_error(text) from None
        if self._missing:
            self._check_written(text, ids)
        if self.special_ids.isdisjoint(ids):
            return ids
        # A piece of the model's own may be spelt like a special token; its bytes say the same.
        return [
            part
            for number in ids
            for part in (
                [self._byte_ids[byte] for byte in self.spelling(number).encode()]
                if number in self.special_ids
                else [number]
            )
        ]

    def _check_written(self, text: str, ids: Iterable[int]) -> None:
        """Refuse a text of which something is lost for want of a byte: the library leaves it out without a word."""
        missing = set(self._missing)
        lost = [character for character in dict.fromkeys(text) if not missing.isdisjoint(character.encode())]
        if not lost:
            return
        written = b"".join(self.spelling(i).encode() if i in self.special_ids else self._bytes[i] for i in ids)
        for character in lost:
            if written.count(character.encode()) < text.count(character):
                raise UserError(
                    f"the model has no way to write the character {make_visible(character)} (U+{ord(character):04X})",
                    where=f"character {text.index(character) + 1}",
                    hint="Its vocabulary lacks a byte of it; remove the character.",
                )

    def _split_at_special(self, rendered: str) -> Iterator[tuple[str, int | None]]:
        """Give the text up to each special token, and that token; then the rest, and None."""
        if not self._special_spellings:
            yield rendered, None
            return
        longest_first = sorted(self._special_spellings, key=len, reverse=True)
        at = 0
        for match in re.finditer("|".join(map(re.escape, longest_first)), rendered):
            yield rendered[at : match.start()], self._special_spellings[match[0]]
            at = match.end()
        yield rendered[at:], None

    def _runs(self, ids: Iterable[int]) -> Iterator[PieceRun]:
        """Give the ids up to each special one with what each adds, and that one; then the rest, and None."""
        run: list[tuple[int, bytes]] = []
        at_start = self._strips
        for number in map(int, ids):
            part = self.id_to_bytes(number)
            if number in self.special_ids or self._spellings[number] is None:
                yield run, number
                run, at_start = [], False
                continue
            if at_start and part:
                part, at_start = part.removeprefix(b" "), False
            run.append((number, part))
        yield run, None

    def _display(self, number: int, covered: list[CharacterSpan], neighbours: tuple[int, int]) -> str:
        """Write a piece for people, the bytes of a character that it has not all of in hexadecimal behind it."""
        data = self._bytes[number][-len(covered) :] if covered else b""
        mark = SPACE_MARK if len(data) < len(self._bytes[number]) else ""
        shown: list[str] = []
        for start in dict.fromkeys(span.start for span in covered):
            places = [place for place, span in enumerate(covered) if span.start == start]
            character = covered[places[0]].character
            whole = character and start not in neighbours
            code = "" if whole else f"⟨{data[places[0] : places[-1] + 1].hex(' ').upper()}⟩"
            shown.append(make_visible(character).replace(" ", SPACE_MARK) + code)
        return mark + "".join(shown)

    def _name(self, number: int) -> str:
        return make_visible(self._spellings[number] or f"unused {number}")

    def _tokens(self, vocab_size: int | None) -> list[str | None]:
        numbers = self._rust.get_vocab(with_added_tokens=True)
        size = max(numbers.values(), default=-1) + 1
        if vocab_size is not None and vocab_size < size:
            raise UserError(
                f"the tokenizer has {size} ids, the model has only {vocab_size}",
                where="tokenizer.json",
                hint="Use the tokenizer.json that the model was trained with.",
            )
        spellings: list[str | None] = [None] * (vocab_size or size)
        for spelling, number in numbers.items():
            spellings[number] = spelling
        return spellings

    def _all_bytes(self) -> list[bytes]:
        added = {int(token["id"]): str(token["content"]) for token in self._content.get("added_tokens", ())}
        bytes_of = decode_byte_level if self._byte_level else decode_byte_fallback

        def find(number: int, spelling: str | None) -> bytes:
            if spelling is None or number in self.special_ids:
                return b""
            return added[number].encode() if number in added else bytes_of(spelling)

        return [find(number, spelling) for number, spelling in enumerate(self._spellings)]

    def _ids_of_bytes(self) -> dict[int, int]:
        numbers = self._rust.get_vocab(with_added_tokens=False)
        names = BYTE_CHARACTERS if self._byte_level else [f"<0x{value:02X}>" for value in range(256)]
        return {value: numbers[name] for value, name in enumerate(names) if name in numbers}


def validate_tokenizer(content: Mapping[str, Any]) -> None:
    """Refuse what is no tokenizer.json that the library reads.

    Raises:
        UserError: saying what the library says.
    """
    _rust(content)


def prepends_id(content: Mapping[str, Any], number: int) -> bool:
    """Tell whether a tokenizer.json puts this id before every text."""
    ids: list[int] = _rust(content).encode("a", add_special_tokens=True).ids
    return ids[:1] == [number]


def _rust(content: Mapping[str, Any]) -> RustTokenizer:
    try:
        rust = RustTokenizer.from_str(json.dumps(content))
    except Exception as error:  # the library raises bare Exception
        raise UserError(
            f"tokenizer.json has an unknown format: {error}",
            where="tokenizer.json",
            hint="Try a newer version of the package `tokenizers`.",
        ) from error
    rust.no_truncation()
    rust.no_padding()
    rust.encode_special_tokens = True
    return rust
