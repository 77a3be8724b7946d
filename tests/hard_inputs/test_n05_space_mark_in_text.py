"""N5: the character that subword tokenizers put in place of spaces is written in the text."""

import pytest

from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
@pytest.mark.parametrize(
    "text", ["abc▁d d", "▁", "▁▁", " ▁", "▁ ", "▁a", "a▁", "a ▁ b", " ▁▁ a", "\U000f0020▁\U000f0100", "ab\u2581\u2582"]
)
def test_text_with_the_space_mark_comes_back(kind: TokenizerKind, text: str) -> None:
    for lines in (["abc d d"], ["abc▁d d", text, "a▁b ▁▁"]):
        tokenizer = train_tokenizer(lines * 5, TokenizerConfig(kind=kind))
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(piece.bytes for piece in tokenizer.pieces(text)) == text.encode()


def test_the_mark_and_a_space_have_different_ids() -> None:
    tokenizer = train_tokenizer(["abc▁d d"] * 5)
    assert tokenizer.encode("c d") != tokenizer.encode("c▁d")
