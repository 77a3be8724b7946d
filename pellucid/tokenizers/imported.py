"""Tokenizers of imported models: tokenizer.json of Hugging Face, unchanged.

Two layouts are supported. *Byte-level*: every byte has a printable character, and pieces consist of these (GPT-2,
Llama 3, Qwen, SmolLM). *Byte fallback*: a space is `▁`, and a character without a piece becomes byte pieces `<0x00>` …
(Llama 2, Mistral). Both can encode every text, except for bytes missing from a vocabulary (SmolLM2 has no U+0004): a
text with such a byte is rejected.

Special tokens are out of band: text that spells one is text. Only `encode_rendered` creates them, from the output of a
chat template.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from tokenizers import Tokenizer as RustTokenizer

from pellucid.errors import UserError
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
from pellucid.tokenizers.pieces import ByteTokenizer, CharacterSpan, PieceRun, lone_surrogate_error, make_visible

__all__ = ["ImportedTokenizer", "SpecialIds", "prepends_id", "validate_tokenizer"]


class SpecialIds(NamedTuple):
    """The special ids named in a model's files.

    Attributes:
        start_id: the id before a text; None if the model has none.
        end_ids: the ids that end a text, the usual one first.
        adds_start: whether a prompt begins with `start_id`.
    """

    start_id: int | None
    end_ids: tuple[int, ...]
    adds_start: bool


class ImportedTokenizer(ByteTokenizer):
    """An imported tokenizer with the interface of `Tokenizer`.

    `decode(encode(text)) == text` for every text without lone surrogates that the model's normalisation leaves
    unchanged (Qwen composes accents: NFC). With a layout that puts a space before the first word, a leading space in
    the text counts as that one.

    Args:
        special: the ids that start and end a text.
        vocab_size: rows of the model's embedding, some of which may have no token; the number of tokens by default.
        pad_id: the id that pads shorter texts of a batch.

    Attributes:
        start_id, end_ids, adds_start: as in `special`.
        end_id: the first of `end_ids`; None if the model has none.

    Raises:
        UserError: if the layout is not supported.
    """

    kind = "imported"

    def __init__(
        self, content: Mapping[str, Any], special: SpecialIds, vocab_size: int | None = None, pad_id: int = 0
    ) -> None:
        self._content = content
        self.special = special
        self.start_id, self.end_ids, self.adds_start = special
        self.end_id = special.end_ids[0] if special.end_ids else None
        self.pad_id = pad_id
        self._rust = _rust(content)  # rejects invalid files
        self._byte_level = is_byte_level(content)
        # In Metaspace's "first" scheme, text after a special token gets no mark; here it is encoded separately.
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
    def unused_ids(self) -> frozenset[int]:
        """Rows of the model's embedding without a token, which must not be sampled."""
        return frozenset(number for number, spelling in enumerate(self._spellings) if spelling is None)

    def encode(self, text: str) -> list[int]:
        """Encode a text, without start and end ids; spelled special tokens are text.

        Raises:
            UserError: for a lone surrogate, or a character that the vocabulary cannot represent.
        """
        return self._encode(self._rust, text)

    def encode_continuation(self, text: str) -> list[int]:
        """Encode a text that continues another one: the bytes of its ids (`id_to_bytes`) are exactly the text.

        Raises:
            UserError: for a lone surrogate, or a character that the vocabulary cannot represent.
        """
        return self._encode(self._continuation, text)

    def encode_rendered(self, rendered: str, substitutes: Mapping[str, str]) -> list[int]:
        """Encode the output of a chat template, in which special tokens are spelled out.

        Args:
            substitutes: character → the spelling of a special token in a message, which stays text.
        """
        ids: list[int] = []
        for place, (text, special) in enumerate(self._split_at_special(rendered)):
            for character, spelling in substitutes.items():
                text = text.replace(character, spelling)
            ids += self._encode(self._inside if place else self._rust, text) if text else []
            ids += [] if special is None else [special]
        return ids

    def spelling(self, number: int | None) -> str:
        """The spelling of an id in chat templates; "" for None and for ids without a token."""
        return "" if number is None else self._spellings[number] or ""

    @property
    def special_spellings(self) -> tuple[str, ...]:
        """The spellings of the special tokens in chat templates."""
        return tuple(self._special_spellings)

    def as_dict(self) -> Mapping[str, object]:
        """The content of tokenizer.json, as it was read."""
        return self._content

    @cached_property
    def _continuation(self) -> RustTokenizer:
        return _rust(without_space_prefix(self._content)) if self._strips else self._rust

    def _encode(self, rust: RustTokenizer, text: str) -> list[int]:
        if self._byte_level or SPACE_MARK not in text or len(self._mark_ids) < 3:
            return self._encode_unmarked(rust, text)
        # The mark itself is not a space: it becomes bytes, otherwise it would be decoded as a space.
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
        # A regular piece may be spelled like a special token; replace it by its bytes.
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
        """Reject a text that needs a byte missing from the vocabulary: the library drops it silently."""
        missing = set(self._missing)
        lost = [character for character in dict.fromkeys(text) if not missing.isdisjoint(character.encode())]
        if not lost:
            return
        written = b"".join(self.spelling(i).encode() if i in self.special_ids else self._bytes[i] for i in ids)
        for character in lost:
            if written.count(character.encode()) < text.count(character):
                raise UserError(
                    f"the vocabulary cannot represent the character {make_visible(character)} (U+{ord(character):04X})",
                    where=f"character {text.index(character) + 1}",
                    hint="Remove the character: the vocabulary lacks one of its bytes.",
                )

    def _split_at_special(self, rendered: str) -> Iterator[tuple[str, int | None]]:
        """Yield the text up to each special token, and that token; then the rest, and None."""
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
        """Yield the ids up to each special id with their bytes, and that id; then the rest, and None."""
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
        """Format a piece for people, with hexadecimal bytes after characters that it covers only partly."""
        if number in self.special_ids or self._spellings[number] is None:
            return f"⟨{make_visible(self._spellings[number] or f'unused {number}')}⟩"
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

    def _tokens(self, vocab_size: int | None) -> list[str | None]:
        numbers = self._rust.get_vocab(with_added_tokens=True)
        size = max(numbers.values(), default=-1) + 1
        if vocab_size is not None and vocab_size < size:
            raise UserError(
                f"the tokenizer has {size} ids, the model has only {vocab_size}",
                where="tokenizer.json",
                hint="Use the tokenizer.json that belongs to the model.",
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
    """Check that the library can read a tokenizer.json.

    Raises:
        UserError: with the library's message if it cannot.
    """
    _rust(content)


def prepends_id(content: Mapping[str, Any], number: int) -> bool:
    """Whether a tokenizer.json puts this id before every text."""
    ids: list[int] = _rust(content).encode("a", add_special_tokens=True).ids
    return ids[:1] == [number]


def _rust(content: Mapping[str, Any]) -> RustTokenizer:
    try:
        rust = RustTokenizer.from_str(json.dumps(content))
    except Exception as error:  # the library raises bare Exception
        raise UserError(
            f"tokenizer.json cannot be read: {error}",
            where="tokenizer.json",
            hint="Install a newer version of the package `tokenizers`.",
        ) from error
    rust.no_truncation()
    rust.no_padding()
    rust.encode_special_tokens = True
    return rust
