"""The tokenizers of a model folder: one for each language of a translator or one for both, one of a language model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pellucid.errors import UserError
from pellucid.storage.model_folder import read_config, read_json
from pellucid.tokenizers.imported import ImportedTokenizer, SpecialIds
from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.tokenizers.tokenizer_file import load_tokenizer

__all__ = [
    "LanguageTokenizer",
    "TokenizerPair",
    "load_language_tokenizer",
    "load_model_tokenizer",
    "load_tokenizer_pair",
    "read_tokenizers",
    "write_tokenizers",
]

LanguageTokenizer: TypeAlias = Tokenizer | ImportedTokenizer
"""The tokenizer of a language model: trained by Pellucid, or imported with a model."""


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizers of a translator, the same object if both languages share one."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        """Whether both languages share one tokenizer."""
        return self.source is self.target


def write_tokenizers(folder: Path, tokenizers: TokenizerPair) -> None:
    """Write tokenizer.json, or source_tokenizer.json and target_tokenizer.json."""
    if tokenizers.joint:
        tokenizers.source.save(folder / "tokenizer.json")
    else:
        tokenizers.source.save(folder / "source_tokenizer.json")
        tokenizers.target.save(folder / "target_tokenizer.json")


def read_tokenizers(folder: Path) -> TokenizerPair:
    """Read what `write_tokenizers` wrote.

    Raises:
        UserError: if a file is missing or damaged.
    """
    separate = [folder / f"{side}_tokenizer.json" for side in ("source", "target")]
    if any(path.exists() for path in separate):
        return TokenizerPair(*map(load_tokenizer, separate))
    joint = load_tokenizer(folder / "tokenizer.json")
    return TokenizerPair(joint, joint)


def load_model_tokenizer(folder: str | Path, side: Literal["source", "target"] = "source") -> LanguageTokenizer:
    """Load the tokenizer of a model folder of any kind, and check that it fits the model.

    Args:
        folder: the folder of a translator or a language model.
        side: the language of a translator; a language model has one tokenizer.

    Raises:
        UserError: if it is missing, damaged, or does not match the model, or for word vectors, which have none.
    """
    kind = read_config(folder)["kind"]
    if kind == "language-model":
        return load_language_tokenizer(folder)
    if kind == "vectors":
        raise UserError(
            "word vectors have no tokenizer",
            where=str(folder),
            hint="Name the folder of a translator or a language model.",
        )
    pair = load_tokenizer_pair(folder)
    return pair.source if side == "source" else pair.target


def load_tokenizer_pair(folder: str | Path) -> TokenizerPair:
    """Load the tokenizers of a translator.

    Raises:
        UserError: if one is missing, damaged, or does not match the model.
    """
    folder = Path(folder)
    config, pair = read_config(folder, "translator"), read_tokenizers(folder)
    expected = (config.get("source_vocab_size"), config.get("target_vocab_size"))
    if expected != (pair.source.vocab_size, pair.target.vocab_size):
        raise UserError(
            f"the tokenizers do not fit the model: it has {expected[0]} source and {expected[1]} target ids, "
            f"they have {pair.source.vocab_size} and {pair.target.vocab_size}",
            where=str(folder / "tokenizer.json"),
            hint="The files of the folder must come from the same run; copy it again.",
        )
    return pair


def load_language_tokenizer(folder: str | Path) -> LanguageTokenizer:
    """Read the tokenizer of a language model.

    In config.json an imported model has `tokenizer`: {"start_id", "end_ids", "adds_start"}; tokenizer.json is then
    Hugging Face's.

    Raises:
        UserError: if it is missing, damaged, or does not match the model.
    """
    folder = Path(folder)
    config = read_config(folder, "language-model")
    path = folder / "tokenizer.json"
    tokenizer = _imported(path, config) if "tokenizer" in config else load_tokenizer(path)
    if tokenizer.vocab_size != config.get("vocab_size"):
        raise UserError(
            f"tokenizer and model do not match: the tokenizer has {tokenizer.vocab_size} ids, "
            f"the model {config.get('vocab_size')}",
            where=str(path),
            hint="Copy the folder again: its files must come from the same run.",
        )
    return tokenizer


def _imported(path: Path, config: dict[str, Any]) -> ImportedTokenizer:
    try:
        fields = config["tokenizer"]
        start_id = fields["start_id"]
        special = SpecialIds(
            None if start_id is None else int(start_id),
            tuple(int(number) for number in fields["end_ids"]),
            bool(fields["adds_start"]),
        )
        vocab_size, pad_id = int(config["vocab_size"]), int(config["pad_id"] or 0)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"config.json does not describe the tokenizer: {json.dumps(config.get('tokenizer'))}",
            where=str(path.with_name("config.json")),
            hint="Import the model again.",
        ) from error
    try:
        return ImportedTokenizer(read_json(path), special, vocab_size, pad_id)
    except UserError as error:
        raise UserError(error.what, where=str(path), hint=error.hint) from error
