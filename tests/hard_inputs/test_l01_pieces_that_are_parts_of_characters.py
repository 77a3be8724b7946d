"""L1: pieces of `Seán`, 水 and 🤗 that are bytes are shown with their bytes and their character, never as mojibake."""

import pytest

from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
def test_bytes_are_shown_with_their_character(kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(["Sen saw it"] * 5, TokenizerConfig(kind=kind))
    pieces = [piece for piece in tokenizer.pieces("Seán 水🤗") if len(piece.bytes) == 1 and piece.bytes[0] > 0x7F]
    assert [piece.display for piece in pieces] == [
        *("á⟨C3⟩", "á⟨A1⟩", "水⟨E6⟩", "水⟨B0⟩", "水⟨B4⟩", "🤗⟨F0⟩", "🤗⟨9F⟩", "🤗⟨A4⟩", "🤗⟨97⟩")
    ]
    assert [(piece.start, piece.end) for piece in pieces] == [(2, 3)] * 2 + [(5, 6)] * 3 + [(6, 7)] * 4
    assert b"".join(piece.bytes for piece in pieces).decode() == "á水🤗"


def test_a_byte_without_its_character_is_shown_as_a_byte() -> None:
    tokenizer = train_tokenizer(["a"])
    first, *_ = tokenizer.encode("水")
    assert tokenizer.decode([first]) == "\ufffd"
    assert tokenizer.pieces_from_ids([first]) == [(first, b"\xe6", 0, 1, "⟨E6⟩")]
    assert tokenizer.id_to_bytes(first) == b"\xe6"
