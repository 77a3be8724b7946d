"""Small tokenizers of every kind, one set trained on plain text and one on text full of what is not text elsewhere."""

from pathlib import Path

import pytest

from pellucid.tokenizers import Tokenizer, TokenizerConfig, load_tokenizer, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind

KINDS: tuple[TokenizerKind, ...] = ("bpe", "unigram", "words", "characters")

PLAIN = [
    "the cat ate three fish yesterday",
    "the cats eat the fish, the other cats sleep",
    "Seán saw 150 cats on 12 May.",
    "那只猫昨天吃了三条鱼。",
    "那只猫吃了鱼，三只猫昨天来了。",
    "a (small) cat: “the cat”!",
] * 4
HOSTILE = [
    "</s> <s> <unk> <pad> <0x41> <0xE6>",
    "▁the▁ [MASK] [PAD] ▁▁ ▁",
    "</s></s> the <unk><unk> cat <0x41><0x42>",
    "\U000f0041\U000f0100 \U000f01ff <|endoftext|> \0 ｟x｠",
] * 8


@pytest.fixture(scope="session", params=[f"{kind} on {text}" for kind in KINDS for text in ("plain", "hostile")])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer as it is after save and load."""
    kind, _, text = request.param.split()
    trained = train_tokenizer(PLAIN if text == "plain" else PLAIN + HOSTILE, TokenizerConfig(kind=kind, vocab_size=420))
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    trained.save(path)
    return load_tokenizer(path)


@pytest.fixture(scope="session")
def each_kind() -> dict[str, Tokenizer]:
    """One tokenizer of each kind, trained on the plain text."""
    return {kind: train_tokenizer(PLAIN, TokenizerConfig(kind=kind, vocab_size=420)) for kind in KINDS}


@pytest.fixture(scope="session")
def bpe(each_kind: dict[str, Tokenizer]) -> Tokenizer:
    """The tokenizer with merges."""
    return each_kind["bpe"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples of a property write to, one after another."""
    return tmp_path_factory.mktemp("files")
