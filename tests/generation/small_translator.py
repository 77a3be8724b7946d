"""A random translator that is small enough to run in no time, with a real tokenizer."""

from functools import cache
from pathlib import Path
from typing import Any

import torch

from pellucid.generation.generation_config import GenerationConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.weights import save_weights
from pellucid.storage.model_folder import write_config, write_json
from pellucid.tokenizers import Tokenizer, TokenizerConfig, train_tokenizer
from pellucid.translator import Translator

__all__ = ["save_translator", "small_tokenizer", "small_translator"]

TEXTS = ["那只猫昨天吃了三条鱼。", "The cat ate three fish yesterday.", "Der Hund schläft. 12 Katzen!"] * 5


@cache
def small_tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS, TokenizerConfig(vocab_size=340))


@cache
def small_translator(copies_placeholders: bool = False, seed: int = 1, **shape: Any) -> Translator:
    """Return a translator of random weights that writes at most five tokens unless told otherwise.

    Args:
        copies_placeholders: whether it is shown placeholder ids.
        seed: of the weights.
        shape: fields of EncoderDecoderConfig.
    """
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "n_heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1}
    tokenizer = small_tokenizer()
    config = EncoderDecoderConfig.model_validate(sizes | shape)
    model = EncoderDecoder(config, tokenizer.vocab_size, tokenizer.vocab_size, tokenizer.pad_id)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=2 * weight.shape[-1] ** -0.5)
    short = GenerationConfig(beam=2, max_length_ratio=0, max_length_extra=5)
    return Translator(model, tokenizer, tokenizer, short, copies_placeholders=copies_placeholders, target_language="en")


def save_translator(folder: Path, translator: Translator) -> Path:
    """Write what `pellucid.load` reads."""
    size = translator.source_tokenizer.vocab_size
    fields = {"model": translator.model.config.model_dump(), "source_vocab_size": size, "target_vocab_size": size}
    write_config(folder, "translator", {**fields, "tokenizers": "joint", "target_language": "en"})
    translator.source_tokenizer.save(folder / "tokenizer.json")
    save_weights(translator.model, folder / "model.safetensors")
    write_json(folder / "generation_config.json", translator.config.model_dump())
    return folder
