"""Text ↔ ids: byte-pair encoding, unigram, words, characters; unknown text becomes bytes."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.tokenizers.chat_template import ChatTemplate
    from pellucid.tokenizers.config import TokenizerConfig
    from pellucid.tokenizers.imported import ImportedTokenizer
    from pellucid.tokenizers.model_tokenizers import LanguageTokenizer, load_language_tokenizer, load_model_tokenizer
    from pellucid.tokenizers.pieces import Piece
    from pellucid.tokenizers.tokenizer import Tokenizer
    from pellucid.tokenizers.tokenizer_file import load_tokenizer
    from pellucid.tokenizers.training import choose_vocab_size, train_tokenizer

__all__ = [
    "ChatTemplate",
    "ImportedTokenizer",
    "LanguageTokenizer",
    "Piece",
    "Tokenizer",
    "TokenizerConfig",
    "choose_vocab_size",
    "load_language_tokenizer",
    "load_model_tokenizer",
    "load_tokenizer",
    "train_tokenizer",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "chat_template": ["ChatTemplate"],
        "config": ["TokenizerConfig"],
        "imported": ["ImportedTokenizer"],
        "model_tokenizers": ["LanguageTokenizer", "load_language_tokenizer", "load_model_tokenizer"],
        "pieces": ["Piece"],
        "tokenizer": ["Tokenizer"],
        "tokenizer_file": ["load_tokenizer"],
        "training": ["choose_vocab_size", "train_tokenizer"],
    },
)
