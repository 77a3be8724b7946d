"""A folder of a translator → a translator that can be asked."""

from pathlib import Path
from typing import Any

from pellucid.errors import UserError
from pellucid.generation.device import move_model
from pellucid.generation.generation_config import GenerationConfig
from pellucid.generation.settings import read_settings
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.weights import load_encoder_decoder
from pellucid.storage.model_folder import read_config
from pellucid.tokenizers import Tokenizer, load_tokenizer
from pellucid.translator import Translator

__all__ = ["as_described", "load_translator"]


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
    model = move_model(load_encoder_decoder(config, folder / "model.safetensors"), device, precision)
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
        read_settings(folder, GenerationConfig),
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
