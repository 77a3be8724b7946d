"""Text ↔ ids, the same for all kinds of tokenizer.

Ids in order: padding, start, end and ten placeholders, which have no written form, so that no text can produce them;
then the 256 bytes, the space mark and the alphabet's characters; then the model's longer pieces.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from pellucid.errors import UserError
from pellucid.randomness import derive_seed
from pellucid.tokenizers.alphabet import BYTES, PLACEHOLDERS, SPACE_MARK, Alphabet
from pellucid.tokenizers.byte_pairs import BytePairs
from pellucid.tokenizers.config import TokenizerKind
from pellucid.tokenizers.pieces import ByteTokenizer, CharacterSpan, PieceRun, make_visible

__all__ = ["FORMAT", "SPECIAL_IDS", "SubwordModel", "Tokenizer"]

FORMAT = 1
SPECIAL_IDS = 3 + len(PLACEHOLDERS)
_SPECIAL_NAMES = ("pad", "start", "end", *(f"placeholder {number}" for number in range(len(PLACEHOLDERS))))
_BYTE_IDS = range(SPECIAL_IDS, SPECIAL_IDS + len(BYTES))

# Words are cached, because text repeats itself. The limits keep the cache below about 100 MB.
_MAX_CACHED_WORDS = 400_000
_MAX_CACHED_LENGTH = 24


class SubwordModel(Protocol):
    """The interface shared by all kinds of tokenizer: splits a word (see `Alphabet.split`) into pieces.

    A piece's number is its index in `pieces`, which begins with the alphabet's base symbols, so that every word can be
    split. Special ids are handled by `Tokenizer`, which puts them before the pieces.
    """

    @property
    def kind(self) -> TokenizerKind:
        """The kind of tokenizer."""

    @property
    def pieces(self) -> Sequence[str]:
        """All pieces, escaped, by number."""

    def split(self, word: str) -> list[int]:
        """Split a word into the numbers of its pieces; the pieces joined are the word."""

    def as_dict(self) -> dict[str, object]:
        """What the file holds besides the alphabet."""


class Tokenizer(ByteTokenizer):
    """Text ↔ ids. Create one with `train_tokenizer` or `load_tokenizer`.

    For every text without lone surrogates `decode(encode(text)) == text`; nothing is normalised.

    Attributes:
        kind: "bpe", "unigram", "words" or "characters".
        pad_id: the id that pads shorter texts of a batch.
        start_id, end_id: the ids before and after a sentence.
        end_ids: the ids that end a text.
        adds_start: whether a prompt begins with `start_id`.
        placeholder_ids: the ids of placeholders, see `encode_segments`.
    """

    pad_id: int = 0
    start_id: int = 1
    end_id: int = 2
    end_ids: tuple[int, ...] = (2,)
    adds_start: bool = True
    placeholder_ids: range = range(3, SPECIAL_IDS)

    def __init__(self, alphabet: Alphabet, model: SubwordModel, trained_on: dict[str, int] | None = None) -> None:
        self.alphabet = alphabet
        self.kind: TokenizerKind = model.kind
        self.trained_on = trained_on or {}
        self._model = model
        self._bytes = [b""] * SPECIAL_IDS + [_bytes_of(piece) for piece in model.pieces]
        self._known = {character: [number] for number, character in enumerate(PLACEHOLDERS, self.placeholder_ids[0])}

    def __repr__(self) -> str:
        return f"Tokenizer(kind={self.kind!r}, vocab_size={self.vocab_size})"

    def encode(self, text: str) -> list[int]:
        """Encode a text, without start and end ids.

        Raises:
            UserError: for a lone surrogate.
        """
        return self._encode_escaped(self.alphabet.escape(text))

    def encode_continuation(self, text: str) -> list[int]:
        """Encode a text that continues another one: the bytes of its ids (`id_to_bytes`) are exactly the text.

        Raises:
            UserError: for a lone surrogate.
        """
        return self._ids_of(self.alphabet.split(self.alphabet.escape(text)))

    def encode_batch(self, texts: Iterable[str], *, dropout: float = 0.0, seed: int = 0) -> list[list[int]]:
        """Encode each text, without start and end ids.

        Args:
            dropout: probability of skipping a merge (bpe only); the result is a pure function of the texts in order,
                the probability and `seed`.

        Raises:
            UserError: for a lone surrogate, or for dropout with a kind without merges.
        """
        if dropout and not isinstance(texts, str):
            return self._encode_with_dropout(texts, dropout, seed)
        return super().encode_batch(texts)

    def encode_segments(self, segments: Iterable[str | int]) -> list[int]:
        """Encode text with placeholders, each given by its number from 0 to 9.

        The strings are encoded as one text with the placeholders inside; adjacent strings are joined.
        """
        escaped = [
            self.alphabet.escape(segment) if isinstance(segment, str) else _placeholder(segment) for segment in segments
        ]
        return self._encode_escaped("".join(escaped))

    def decode_segments(self, ids: Iterable[int]) -> list[str | int]:
        """Decode ids into strings and the numbers of placeholders; empty strings are left out."""
        segments: list[str | int] = []
        for run, placeholder in self._runs(ids):
            text = b"".join(part for _, part in run).decode("utf-8", "replace")
            segments += [text] if text else []
            segments += [] if placeholder is None else [placeholder - self.placeholder_ids[0]]
        return segments

    def as_dict(self) -> dict[str, object]:
        """The content of the file; deterministic for a training text."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "vocab_size": self.vocab_size,
            "trained_on": self.trained_on,
            "alphabet": {
                "letters": self.alphabet.letters,
                "unspaced": self.alphabet.unspaced,
                "digits": self.alphabet.digits,
                "symbols": self.alphabet.symbols,
            },
            "model": self._model.as_dict(),
        }

    def _words(self, escaped: str) -> list[str]:
        return self.alphabet.split(self.alphabet.mark_start(escaped))

    def _encode_escaped(self, escaped: str) -> list[int]:
        return self._ids_of(self._words(escaped))

    def _ids_of(self, words: Iterable[str]) -> list[int]:
        known = self._known
        ids: list[int] = []
        for word in words:
            ids += known.get(word) or self._split(word)
        return ids

    def _split(self, word: str) -> list[int]:
        ids = [SPECIAL_IDS + number for number in self._model.split(word)]
        if len(self._known) < _MAX_CACHED_WORDS and len(word) <= _MAX_CACHED_LENGTH:
            self._known[word] = ids
        return ids

    def _encode_with_dropout(self, texts: Iterable[str], dropout: float, seed: int) -> list[list[int]]:
        model = self._model
        if not isinstance(model, BytePairs):
            raise UserError(
                f"dropout skips merges, and a tokenizer of kind {self.kind} has none",
                where="tokenizer.dropout",
                hint="Set tokenizer.dropout to 0, or train a tokenizer of kind bpe.",
            )
        draw = random.Random(derive_seed(seed, "bpe-dropout")).random
        return [
            [
                SPECIAL_IDS + number
                for word in self._words(self.alphabet.escape(text))
                for number in model.split_with_dropout(word, dropout, draw)
            ]
            for text in texts
        ]

    def _runs(self, ids: Iterable[int]) -> Iterator[PieceRun]:
        """Yield the ids up to each placeholder with their bytes, and that placeholder; then the rest, and None.

        The leading space added by encoding is removed.
        """
        run: list[tuple[int, bytes]] = []
        at_start = True
        for number in map(int, ids):
            part = self.id_to_bytes(number, at_start=at_start)
            if number in self.placeholder_ids:
                yield run, number
                run, at_start = [], False
                continue
            at_start = at_start and not self._bytes[number]
            run.append((number, part))
        yield run, None

    def _display(self, number: int, covered: list[CharacterSpan], neighbours: tuple[int, int]) -> str:
        if number < SPECIAL_IDS:
            return f"⟨{_SPECIAL_NAMES[number]}⟩"
        if number in _BYTE_IDS:
            character = covered[0].character if covered else ""
            return f"{make_visible(character)}⟨{number - _BYTE_IDS[0]:02X}⟩"
        return make_visible(self._model.pieces[number - SPECIAL_IDS])


def _placeholder(number: int) -> str:
    if not 0 <= number < len(PLACEHOLDERS):
        raise UserError(
            f"no placeholder has the number {number}",
            where="segments",
            hint=f"Use numbers from 0 to {len(PLACEHOLDERS) - 1}.",
        )
    return PLACEHOLDERS[number]


def _bytes_of(piece: str) -> bytes:
    if BYTES[0] <= piece <= BYTES[-1]:
        return bytes([ord(piece) - ord(BYTES[0])])
    return piece.replace(SPACE_MARK, " ").encode("utf-8")
