"""Text ↔ ids: byte-pair encoding, unigram, words, characters; what is unknown becomes bytes."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.tokenizers.config import TokenizerConfig
    from pellucid.tokenizers.tokenizer import Piece, Tokenizer
    from pellucid.tokenizers.tokenizer_file import load_tokenizer
    from pellucid.tokenizers.training import train_tokenizer
    from pellucid.tokenizers.vocabulary_size import choose_vocab_size

__all__ = ["Piece", "Tokenizer", "TokenizerConfig", "choose_vocab_size", "load_tokenizer", "train_tokenizer"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Piece": "tokenizer",
        "Tokenizer": "tokenizer",
        "TokenizerConfig": "config",
        "choose_vocab_size": "vocabulary_size",
        "load_tokenizer": "tokenizer_file",
        "train_tokenizer": "training",
    },
)
