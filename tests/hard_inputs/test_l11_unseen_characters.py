"""L11: a character that was never seen in training."""

import pytest

from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.tokenizers.config import Kind


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
def test_an_unseen_character_becomes_its_bytes(kind: Kind) -> None:
    tokenizer = train_tokenizer(["the cat"] * 5, TokenizerConfig(kind=kind))
    for text in ("鱼", "the 鱼", "🤗the", "CAT", "thé", "\u200f", "\U0010ffff", "\n"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert [tokenizer.id_to_bytes(number) for number in tokenizer.encode("鱼")] == [b"\xe9", b"\xb1", b"\xbc"]
