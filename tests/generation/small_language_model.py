"""A random language model that is small enough to run in no time, with a real tokenizer."""

from functools import cache
from pathlib import Path
from typing import Any

import torch

from pellucid.generation.generate import LanguageModel
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.model_files import save_weights
from pellucid.storage.model_folder import write_config, write_json
from tests.generation.small_translator import small_tokenizer

__all__ = ["save_language_model", "small_language_model"]


@cache
def small_language_model(seed: int = 1, **shape: Any) -> LanguageModel:
    """Return a language model of random weights that writes twelve tokens unless told otherwise.

    Args:
        seed: of the weights.
        shape: fields of DecoderOnlyConfig.
    """
    tokenizer = small_tokenizer()
    sizes = {"d_model": 16, "n_heads": 2, "d_ff": 16, "n_layers": 2, "max_positions": 32}
    model = DecoderOnly(DecoderOnlyConfig.model_validate(sizes | shape), tokenizer.vocab_size, tokenizer.pad_id)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=2 * weight.shape[-1] ** -0.5, generator=random)
    return LanguageModel(model, tokenizer, SamplingConfig(tokens=12, seed=1))


def save_language_model(folder: Path, model: LanguageModel) -> Path:
    """Write what `pellucid.load` reads."""
    size = model.tokenizer.vocab_size
    fields = {"model": model.model.config.model_dump(), "vocab_size": size, "pad_id": model.tokenizer.pad_id}
    write_config(folder, "language-model", fields)
    model.tokenizer.save(folder / "tokenizer.json")
    save_weights(model.model, folder / "model.safetensors")
    write_json(folder / "generation_config.json", model.config.model_dump())
    return folder
