"""Text ↔ ids: byte-pair encoding, unigram, words, characters; what is unknown becomes bytes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.tokenizers.config import TokenizerConfig
    from pellucid.tokenizers.tokenizer import Piece, Tokenizer
    from pellucid.tokenizers.tokenizer_file import load_tokenizer
    from pellucid.tokenizers.training import train_tokenizer
    from pellucid.tokenizers.vocabulary_size import choose_vocab_size

__all__ = ["Piece", "Tokenizer", "TokenizerConfig", "choose_vocab_size", "load_tokenizer", "train_tokenizer"]

_HOME = {
    "Piece": "tokenizer",
    "Tokenizer": "tokenizer",
    "TokenizerConfig": "config",
    "choose_vocab_size": "vocabulary_size",
    "load_tokenizer": "tokenizer_file",
    "train_tokenizer": "training",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
