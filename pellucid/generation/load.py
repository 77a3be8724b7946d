"""A model folder → a translator that can be asked."""

from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from pellucid.errors import UsageError, UserError
from pellucid.generation.config import GenerationConfig
from pellucid.generation.translate import Translator
from pellucid.models.config import EncoderDecoderConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.model_files import build_translator_model
from pellucid.storage.model_folder import read_config, read_json
from pellucid.tokenizers import Tokenizer, load_tokenizer

__all__ = ["as_described", "load_translator"]

_DTYPES = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16}


def load_translator(folder: str | Path, *, device: str = "auto", precision: str = "auto") -> Translator:
    """Load a translator.

    Args:
        folder: what `pellucid train translator` wrote.
        device: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16 for weights and arithmetic; auto is float32, in which a neighbour in the batch
            never changes a translation.

    Raises:
        UserError: if the folder holds no translator, or one that is damaged.
        UsageError: for a device or a precision that does not exist here.
    """
    folder = Path(folder)
    config = read_config(folder, "translator")
    if precision not in _DTYPES:
        raise UsageError(
            f"precision {precision} is not there for translating",
            where="--precision",
            hint=f"Use {', '.join(_DTYPES)}.",
        )
    place = _device(device)
    model = build_translator_model(config, folder / "model.safetensors").to(place, _DTYPES[precision])
    return as_described(folder, model, *_tokenizers(folder, config))


def as_described(
    folder: str | Path, model: EncoderDecoder, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Translator:
    """Let a model translate as its folder says: with its settings, languages, alignment heads and placeholders.

    Args:
        folder: of a model, finished or begun.
        model: its own, in the precision and on the device it shall run.
        source_tokenizer, target_tokenizer: its own.

    Raises:
        UserError: if the folder holds no translator, or one that is damaged.
    """
    folder = Path(folder)
    config = read_config(folder, "translator")
    return Translator(
        model,
        source_tokenizer,
        target_tokenizer,
        _generation_config(folder),
        alignment_heads=_alignment_heads(folder, config, model.config),
        copies_placeholders=bool(config.get("placeholders", False)),
        source_language=config.get("source_language"),
        target_language=config.get("target_language"),
    )


def _tokenizers(folder: Path, config: dict[str, Any]) -> tuple[Tokenizer, Tokenizer]:
    if config.get("tokenizers", "joint") == "joint":
        joint = load_tokenizer(folder / "tokenizer.json")
        tokenizers = (joint, joint)
    else:
        tokenizers = (
            load_tokenizer(folder / "source_tokenizer.json"),
            load_tokenizer(folder / "target_tokenizer.json"),
        )
    sizes = (config["source_vocab_size"], config["target_vocab_size"])
    if sizes != tuple(tokenizer.vocab_size for tokenizer in tokenizers):
        raise UserError(
            f"the tokenizers do not fit the model: it has {sizes[0]} source and {sizes[1]} target ids, "
            f"they have {tokenizers[0].vocab_size} and {tokenizers[1].vocab_size}",
            where=str(folder / "tokenizer.json"),
            hint="The files of the folder must come from the same run; copy it again.",
        )
    return tokenizers


def _alignment_heads(folder: Path, config: dict[str, Any], shape: EncoderDecoderConfig) -> list[tuple[int, int]]:
    places = {(layer, head) for layer in range(shape.decoder_layers) for head in range(shape.n_heads)}
    try:
        heads = [(layer, head) for layer, head in config.get("alignment_heads", ())]
        fit = places.issuperset(heads)
    except (TypeError, ValueError):
        fit = False
    if not fit:
        raise UserError(
            f"alignment_heads are none of the model's decoder layers and heads: {config['alignment_heads']}",
            where=str(folder / "config.json"),
            hint="Copy the folder again from where it is whole, or set alignment_heads to [].",
        )
    return heads


def _generation_config(folder: Path) -> GenerationConfig:
    path = folder / "generation_config.json"
    if not path.is_file():
        return GenerationConfig()
    try:
        return GenerationConfig.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"generation_config.json does not fit: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=str(path),
            hint="Mend the value, or remove the file: the defaults then hold.",
        ) from error


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"there is no device {name} here", where=f"--device {name}", hint="Use cpu or auto."
        ) from error
    return device
