"""Small untrained models with weights drawn from a seed, for statements that hold for any weights."""

from typing import Any

import torch
from torch import Tensor

from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.initialise import init_weights
from pellucid.randomness import derive_seed

__all__ = ["PAD", "VOCAB_SIZE", "no_mask", "random_ids", "small_decoder", "small_translator", "torch_generator"]

VOCAB_SIZE = 24
PAD = 0


def torch_generator(seed: int, *name: str | int) -> torch.Generator:
    """Create PyTorch's random generator for the part of an experiment called `name`."""
    return torch.Generator().manual_seed(derive_seed(seed, "claims", *name))


def small_decoder(seed: int, vocab_size: int = VOCAB_SIZE, **choices: Any) -> DecoderOnly:
    """Build a decoder-only model, by default with two layers of width 32."""
    config = DecoderOnlyConfig(**{"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 2, **choices})
    model = DecoderOnly(config, vocab_size, PAD)
    init_weights(model, seed, residual_scale=1.0)
    return model.eval()


def small_translator(seed: int, vocab_size: int = VOCAB_SIZE, **choices: Any) -> EncoderDecoder:
    """Build an encoder–decoder, by default with two and two layers of width 32."""
    sizes = {"d_model": 32, "n_heads": 4, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 2}
    model = EncoderDecoder(EncoderDecoderConfig(**{**sizes, **choices}), vocab_size, vocab_size, PAD)
    init_weights(model, seed, residual_scale=1.0)
    return model.eval()


def random_ids(seed: int, *shape: int, vocab_size: int = VOCAB_SIZE) -> Tensor:
    """Draw random ids other than padding."""
    return torch.randint(1, vocab_size, shape, generator=torch_generator(seed, "ids", *shape))


def no_mask(length: int) -> Tensor:
    """Build the mask that forbids nothing, [1 1 query key]."""
    return torch.ones(1, 1, length, length, dtype=torch.bool)
