"""L11: a character that was never seen in training."""

import pytest

from pellucid.language_model import LanguageModel
from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind
from tests.generation.small_language_model import imported_language_model, small_language_model


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters"])
def test_an_unseen_character_becomes_its_bytes(kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(["the cat"] * 5, TokenizerConfig(kind=kind))
    for text in ("鱼", "the 鱼", "🤗the", "CAT", "thé", "\u200f", "\U0010ffff", "\n"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert [tokenizer.id_to_bytes(number) for number in tokenizer.encode("鱼")] == [b"\xe9", b"\xb1", b"\xbc"]


@pytest.mark.parametrize("model", [small_language_model(), imported_language_model()], ids=["own", "imported"])
def test_a_prompt_with_an_unseen_character_is_continued_and_scored(model: LanguageModel) -> None:
    prompt = "ﷺ 𓀀 ☃"
    assert model.generate(prompt).prompt == prompt
    scored = model.score("☃", given=prompt)
    assert b"".join(model.tokenizer.id_to_bytes(token.id) for token in scored.tokens) == "☃".encode()
