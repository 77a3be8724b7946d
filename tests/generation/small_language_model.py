"""Random language models that are small enough to run in no time, with real tokenizers."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, pre_tokenizers, trainers

from pellucid.generation.sampling_config import SamplingConfig
from pellucid.language_model import LanguageModel
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.weights import save_weights
from pellucid.storage.model_folder import write_config, write_json
from pellucid.tokenizers import ChatTemplate, ImportedTokenizer, LanguageTokenizer
from pellucid.tokenizers.imported import SpecialIds
from tests.generation.small_translator import TEXTS, small_tokenizer

__all__ = ["TEMPLATE", "imported_language_model", "imported_tokenizer", "save_language_model", "small_language_model"]

START, TURN, END = "<|start|>", "<|turn|>", "<|end|>"
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|turn|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)


@cache
def small_language_model(seed: int = 1, **shape: Any) -> LanguageModel:
    """Return a language model of random weights that writes twelve tokens unless told otherwise.

    Args:
        seed: of the weights.
        shape: fields of DecoderOnlyConfig.
    """
    return LanguageModel(
        _random_model(small_tokenizer(), seed, shape), small_tokenizer(), SamplingConfig(tokens=12, seed=1)
    )


@cache
def imported_language_model(seed: int = 1, **shape: Any) -> LanguageModel:
    """Return the same with a byte-level tokenizer, as GPT-2 and SmolLM have it, and a chat template."""
    tokenizer = imported_tokenizer()
    return LanguageModel(
        _random_model(tokenizer, seed, shape),
        tokenizer,
        SamplingConfig(tokens=12, seed=1),
        conversation=ChatTemplate(TEMPLATE, tokenizer),
    )


@cache
def imported_tokenizer(adds_start: bool = True) -> ImportedTokenizer:
    """Return a byte-level tokenizer with special tokens and two rows that no token has."""
    rust = RustTokenizer(models.BPE())
    rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=[START, TURN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    rust.train_from_iterator(TEXTS, trainer)
    return ImportedTokenizer(json.loads(rust.to_str()), SpecialIds(0, (2,), adds_start), rust.get_vocab_size() + 2)


def _random_model(tokenizer: LanguageTokenizer, seed: int, shape: dict[str, Any]) -> DecoderOnly:
    sizes = {"d_model": 16, "n_heads": 2, "d_ff": 16, "n_layers": 2, "max_positions": 32}
    pad_id = None if isinstance(tokenizer, ImportedTokenizer) else tokenizer.pad_id
    model = DecoderOnly(DecoderOnlyConfig.model_validate(sizes | shape), tokenizer.vocab_size, pad_id)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=2 * weight.shape[-1] ** -0.5, generator=random)
    return model


def save_language_model(folder: Path, model: LanguageModel) -> Path:
    """Write what `pellucid.load` reads."""
    fields: dict[str, Any] = {
        "model": model.model.config.model_dump(),
        "vocab_size": model.tokenizer.vocab_size,
        "pad_id": None if isinstance(model.tokenizer, ImportedTokenizer) else model.tokenizer.pad_id,
    }
    if isinstance(model.tokenizer, ImportedTokenizer):
        fields["tokenizer"] = model.tokenizer.special._asdict()
        (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    write_config(folder, "language-model", fields)
    model.tokenizer.save(folder / "tokenizer.json")
    save_weights(model.model, folder / "model.safetensors")
    write_json(folder / "generation_config.json", model.config.model_dump())
    return folder
