"""Tokenizers of other people's models: byte-level ones, and those that mark spaces and fall back on bytes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.errors import UserError
from pellucid.tokenizers import ImportedTokenizer
from pellucid.tokenizers.imported import SpecialIds, prepends_id
from tests.interop.test_gguf import settings_of
from tests.interop.twins import byte_level_tokenizer

SPECIAL = SpecialIds(1, (2, 0), adds_start=False)


def byte_level_content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(byte_level_tokenizer().to_str())
    return content


def marked_content() -> dict[str, Any]:
    from pellucid.interop.gguf_tokenizer import read_gguf_tokenizer

    return read_gguf_tokenizer(settings_of(), "").content


def metaspace_content() -> dict[str, Any]:
    """As newer Llama 2 tokenizers are: no normalizer, and a pre-tokenizer that marks the first word of a text only."""
    content = marked_content()
    content["normalizer"] = None
    content["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    return content


CONTENTS = {"byte-level": byte_level_content, "marked": marked_content, "Metaspace": metaspace_content}


@pytest.fixture(scope="module", params=list(CONTENTS.values()), ids=list(CONTENTS))
def any_layout(request: pytest.FixtureRequest) -> ImportedTokenizer:
    return ImportedTokenizer(request.param(), SPECIAL)


@pytest.fixture(scope="module")
def byte_level() -> ImportedTokenizer:
    return ImportedTokenizer(byte_level_content(), SPECIAL)


def test_the_mark_of_a_space_is_text_itself() -> None:
    tokenizer = ImportedTokenizer(marked_content(), SPECIAL)
    assert [piece.display for piece in tokenizer.pieces("ab▁a b")][-4:] == ["▁⟨81⟩", "a", "▁", "b"]
    assert tokenizer.decode(tokenizer.encode("▁ab▁▁ a▁")) == "▁ab▁▁ a▁"


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.lists(
    st.sampled_from(["<|im_end|>", "<s>", "</s>", "<0x41>", "<unk>", "▁", "Ġ", " ", "a", "ab", "水", "🤗", "é", "\n"]),
    max_size=12,
).map("".join)


@given(text=texts)
def test_decoding_gives_back_every_text(any_layout: ImportedTokenizer, text: str) -> None:
    ids = any_layout.encode(text)
    # With a space put first, one that stands there already is taken for it where the layout does not add another.
    same = {text, text.removeprefix(" ")} if any_layout.decode(any_layout.encode(" a")) == "a" else {text}
    assert any_layout.decode(ids) in same
    assert any_layout.special_ids.isdisjoint(ids)


@given(text=texts)
def test_the_bytes_of_the_pieces_are_the_text(any_layout: ImportedTokenizer, text: str) -> None:
    pieces = any_layout.pieces(text)
    decoded = any_layout.decode(piece.id for piece in pieces)
    assert b"".join(piece.bytes for piece in pieces).decode() == decoded
    for piece in pieces:
        covered = decoded[piece.start : piece.end]
        assert piece.bytes in covered.encode()
        assert covered or not piece.bytes


def test_a_piece_that_is_part_of_a_character_shows_its_bytes_and_its_character(byte_level: ImportedTokenizer) -> None:
    assert [piece.display for piece in byte_level.pieces("Seán")] == ["Se", "á⟨C3⟩", "á⟨A1⟩n"]
    displays = [piece.display for piece in byte_level.pieces("龙🦊")]
    assert displays == ["龙⟨E9⟩", "龙⟨BE⟩", "龙⟨99⟩", "🦊⟨F0⟩", "🦊⟨9F⟩", "🦊⟨A6⟩", "🦊⟨8A⟩"]
    assert [(piece.start, piece.end) for piece in byte_level.pieces("龙")] == [(0, 1)] * 3


def test_bytes_that_are_no_character_are_shown(byte_level: ImportedTokenizer) -> None:
    first = byte_level.encode("龙")[0]
    (piece,) = byte_level.pieces_from_ids([first])
    assert (piece.bytes, piece.display) == (b"\xe9", "⟨E9⟩")
    assert byte_level.decode([first]) == "�"


def test_special_ids_have_no_bytes_and_are_named(byte_level: ImportedTokenizer) -> None:
    pieces = byte_level.pieces_from_ids([1, *byte_level.encode("cat"), 2])
    assert pieces[0].display == "⟨<|im_start|>⟩" and pieces[-1].bytes == b""
    assert byte_level.decode([1, *byte_level.encode("cat"), 2]) == "cat"
    assert (byte_level.start_id, byte_level.end_id, byte_level.end_ids) == (1, 2, (2, 0))


def test_rows_without_a_token_are_unused_ids() -> None:
    tokenizer = ImportedTokenizer(byte_level_content(), SPECIAL, vocab_size=310)
    assert tokenizer.vocab_size == 310
    assert tokenizer.unused_ids == frozenset(range(300, 310))
    assert tokenizer.id_to_bytes(305) == b"" and tokenizer.pieces_from_ids([305])[0].display == "⟨unused 305⟩"
    with pytest.raises(UserError, match="300 ids, the model has only 299"):
        ImportedTokenizer(byte_level_content(), SPECIAL, vocab_size=299)
    with pytest.raises(UserError, match="id 310 is not in the vocabulary"):
        tokenizer.id_to_bytes(310)


def test_half_a_character_is_refused(byte_level: ImportedTokenizer) -> None:
    with pytest.raises(UserError, match=r"U\+D83E at character 2"):
        byte_level.encode("a\ud83e")


def test_a_character_whose_bytes_the_vocabulary_lacks_is_refused_not_lost() -> None:
    content = byte_level_content()
    del content["model"]["vocab"]["\u0104"]  # stands for the byte 04
    tokenizer = ImportedTokenizer(content, SPECIAL)
    assert tokenizer.decode(tokenizer.encode("a\x05b")) == "a\x05b"
    with pytest.raises(UserError, match=r"cannot represent the character ⟨U\+0004⟩") as refused:
        tokenizer.encode("ab\x04")
    assert refused.value.where == ("character 3",)


def test_a_piece_spelt_like_a_special_token_becomes_bytes() -> None:
    content = byte_level_content()
    content["added_tokens"][0]["content"] = "cat"  # a word of the text is the special token now
    content["model"]["ignore_merges"] = True
    vocabulary = content["model"]["vocab"]
    vocabulary["cat"] = vocabulary.pop("<|endoftext|>")
    tokenizer = ImportedTokenizer(content, SPECIAL)
    ids = tokenizer.encode("cat")
    assert len(ids) == 3 and tokenizer.decode(ids) == "cat"


def test_the_file_stays_what_it_was(byte_level: ImportedTokenizer, tmp_path: Path) -> None:
    byte_level.save(tmp_path / "tokenizer.json")
    assert json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8")) == byte_level_content()


def test_it_is_told_whether_texts_begin_with_the_start() -> None:
    content = byte_level_content()
    assert not prepends_id(content, 1)
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}},
    }
    assert prepends_id(content, 1)


def broken() -> Iterator[Any]:
    no_bytes = byte_level_content()
    no_bytes["pre_tokenizer"] = {"type": "Whitespace"}
    yield pytest.param(no_bytes, "neither byte-level nor", id="words without bytes")
    model = {"type": "WordPiece", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    word_piece = {"model": {**model, "max_input_chars_per_word": 100}}
    yield pytest.param(word_piece, "of type WordPiece, expected BPE", id="WordPiece")
    no_vocabulary = byte_level_content()
    del no_vocabulary["model"]["vocab"]
    yield pytest.param(no_vocabulary, "cannot be read", id="no vocabulary")


@pytest.mark.parametrize(("content", "what"), list(broken()))
def test_a_layout_that_cannot_write_every_text_is_refused(content: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError, match=what):
        ImportedTokenizer(content, SPECIAL)
