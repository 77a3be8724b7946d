"""Text ↔ ids: byte-pair encoding, unigram, words, characters; unknown text becomes bytes."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.tokenizers.chat_template import ChatTemplate
    from pellucid.tokenizers.config import TokenizerConfig
    from pellucid.tokenizers.imported import ImportedTokenizer
    from pellucid.tokenizers.language_tokenizer import LanguageTokenizer, load_language_tokenizer
    from pellucid.tokenizers.pieces import Piece
    from pellucid.tokenizers.tokenizer import Tokenizer
    from pellucid.tokenizers.tokenizer_file import load_tokenizer
    from pellucid.tokenizers.training import train_tokenizer
    from pellucid.tokenizers.vocabulary_size import choose_vocab_size

__all__ = [
    "ChatTemplate",
    "ImportedTokenizer",
    "LanguageTokenizer",
    "Piece",
    "Tokenizer",
    "TokenizerConfig",
    "choose_vocab_size",
    "load_language_tokenizer",
    "load_tokenizer",
    "train_tokenizer",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ChatTemplate": "chat_template",
        "ImportedTokenizer": "imported",
        "LanguageTokenizer": "language_tokenizer",
        "Piece": "pieces",
        "Tokenizer": "tokenizer",
        "TokenizerConfig": "config",
        "choose_vocab_size": "vocabulary_size",
        "load_language_tokenizer": "language_tokenizer",
        "load_tokenizer": "tokenizer_file",
        "train_tokenizer": "training",
    },
)
