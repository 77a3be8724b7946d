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
        "ChatTemplate": "chat_template",
        "ImportedTokenizer": "imported",
        "LanguageTokenizer": "model_tokenizers",
        "Piece": "pieces",
        "Tokenizer": "tokenizer",
        "TokenizerConfig": "config",
        "choose_vocab_size": "training",
        "load_language_tokenizer": "model_tokenizers",
        "load_model_tokenizer": "model_tokenizers",
        "load_tokenizer": "tokenizer_file",
        "train_tokenizer": "training",
    },
)
