"""The tokenizer of a language model: trained by Pellucid, or imported with a model."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from pellucid.errors import UserError
from pellucid.storage.model_folder import read_config, read_json
from pellucid.tokenizers.imported import ImportedTokenizer, SpecialIds
from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.tokenizers.tokenizer_file import load_tokenizer

__all__ = ["LanguageTokenizer", "load_language_tokenizer"]

LanguageTokenizer: TypeAlias = Tokenizer | ImportedTokenizer


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
