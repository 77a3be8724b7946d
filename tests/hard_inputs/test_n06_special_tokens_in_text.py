"""N6: control symbols of other software are written in the text."""

from pathlib import Path

import pytest

from pellucid.tokenizers import TokenizerConfig, load_tokenizer, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind

SPELLINGS = [
    *(
        "</s>",
        "<s>",
        "<unk>",
        "<pad>",
        "[MASK]",
        "[PAD]",
        "[CLS]",
        "<0x41>",
        "<0xE6>",
        "<|endoftext|>",
        "<bos>",
        "<eos>",
    ),
    *("⟨end⟩", "⟨pad⟩", "▁", "Ġ", "@@", "##ing", "｟0｠", "\0", "\ufffd", "\U000f0000", "\U000f0102"),
]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
@pytest.mark.parametrize("full_of_them", [True, False])
def test_they_are_text_in_training_in_use_and_after_loading(
    kind: TokenizerKind, full_of_them: bool, tmp_path: Path
) -> None:
    lines = ["a cat ate a fish"] * 20 + [*SPELLINGS, " ".join(SPELLINGS), "".join(SPELLINGS)] * 20 * full_of_them
    tokenizer = train_tokenizer(lines, TokenizerConfig(kind=kind, vocab_size=600))
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    special = {tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id, *tokenizer.placeholder_ids}
    for spelling in SPELLINGS:
        for text in (spelling, f"a {spelling} cat", f"a{spelling}{spelling}", f" {spelling} "):
            ids = tokenizer.encode(text)
            assert not special & set(ids)
            assert tokenizer.decode(ids) == text
            assert loaded.encode(text) == ids
            assert loaded.decode(ids) == text


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
def test_a_spelt_byte_is_not_the_byte(kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(["<0x41> </s>"] * 20, TokenizerConfig(kind=kind))
    assert tokenizer.encode("<0x41>") != tokenizer.encode("A")
    assert tokenizer.decode([tokenizer.end_id]) == ""
