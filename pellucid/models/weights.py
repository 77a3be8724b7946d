"""Weights on disk: model.safetensors of a model folder, in float32, a tied matrix stored once."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.storage.tensors import TensorShape, read_shapes, read_tensors, write_tensors

__all__ = ["load_decoder_only", "load_encoder_decoder", "save_weights", "unique_weights"]

_PAD_ID = 0


def unique_weights(model: nn.Module) -> dict[str, Tensor]:
    """List the model's weights by name; a matrix with several names (tied embeddings) under the first one only."""
    weights: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, weight in model.named_parameters(remove_duplicate=False):
        if id(weight) not in seen:
            seen.add(id(weight))
            weights[name] = weight.detach()
    return weights


def save_weights(model: nn.Module, path: str | Path) -> None:
    """Write the model's weights in float32, atomically.

    Raises:
        UserError: if the disk is full or the file cannot be written.
    """
    write_tensors(path, {name: weight.float() for name, weight in unique_weights(model).items()})


def load_encoder_decoder(config: Mapping[str, Any], weights_path: str | Path) -> EncoderDecoder:
    """Build the translation model that config.json describes and load its weights.

    Args:
        config: with `model` (the fields of EncoderDecoderConfig), `source_vocab_size`, `target_vocab_size`, and, where
            it is not 0, `pad_id`.

    Raises:
        UserError: if the description is incomplete, or the weights are missing, damaged, or of another model.
    """
    try:
        shape = EncoderDecoderConfig.model_validate(config["model"])
        source_vocab_size, target_vocab_size = int(config["source_vocab_size"]), int(config["target_vocab_size"])
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise _not_described("a translator", error, weights_path) from error
    model = EncoderDecoder(shape, source_vocab_size, target_vocab_size, int(config.get("pad_id", _PAD_ID)))
    _fill(model, weights_path)
    return model.eval()


def load_decoder_only(config: Mapping[str, Any], weights_path: str | Path) -> DecoderOnly:
    """Build the language model that config.json describes and load its weights.

    Args:
        config: with `model` (the fields of DecoderOnlyConfig), `vocab_size` and `pad_id` (null if every id is a token).

    Raises:
        UserError: if the description is incomplete, or the weights are missing, damaged, or of another model.
    """
    try:
        shape, vocab_size = DecoderOnlyConfig.model_validate(config["model"]), int(config["vocab_size"])
        pad_id = None if config["pad_id"] is None else int(config["pad_id"])
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise _not_described("a language model", error, weights_path) from error
    _check_sizes(lambda: DecoderOnly(shape, vocab_size, pad_id), shape.n_layers, weights_path)
    model = DecoderOnly(shape, vocab_size, pad_id)
    _fill(model, weights_path)
    return model.eval()


def _check_sizes(build: Callable[[], nn.Module], n_layers: int, weights_path: str | Path) -> None:
    """Reject a description of other weights before its sizes, which may be absurd, allocate memory."""
    stored = read_shapes(weights_path)
    if n_layers > len(stored):
        raise _others(f"it is to have {n_layers:,} blocks, there are {len(stored)} tensors", weights_path)
    try:
        with torch.device("meta"):
            expected = unique_weights(build())
    except RuntimeError as error:  # sizes that no tensor can have
        raise _not_described("a language model", error, weights_path) from error
    if wrong := _first_difference(expected, stored):
        raise _others(wrong, weights_path)


def _others(wrong: str, weights_path: str | Path) -> UserError:
    return UserError(
        f"the weights are not those of the model in config.json: {wrong}",
        where=str(weights_path),
        hint="Copy the folder again: config.json and model.safetensors must come from the same run.",
    )


def _not_described(kind: str, error: Exception, weights_path: str | Path) -> UserError:
    return UserError(
        f"config.json does not describe {kind}: {_first_line(error)}",
        where=str(Path(weights_path).parent / "config.json"),
        hint="Copy the folder again from where it is whole, or train again.",
    )


def _fill(model: nn.Module, weights_path: str | Path) -> None:
    expected = unique_weights(model)
    stored = read_tensors(weights_path)
    if wrong := _first_difference(expected, stored):
        raise _others(wrong, weights_path)
    for name, weight in expected.items():
        weight.copy_(stored[name])


def _first_difference(expected: Mapping[str, Tensor], stored: Mapping[str, Tensor | TensorShape]) -> str:
    if missing := [name for name in expected if name not in stored]:
        return f"{missing[0]} is missing"
    if unknown := [name for name in stored if name not in expected]:
        return f"{unknown[0]} is not part of it"
    for name, weight in expected.items():
        if tuple(weight.shape) != tuple(stored[name].shape):
            return f"{name} has shape {list(stored[name].shape)}, expected {list(weight.shape)}"
    return ""


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
