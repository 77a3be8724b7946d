"""The number of parameters of a model, counted without allocating it."""

import math

import torch
from torch import nn

from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["count_parameters"]


def count_parameters(
    config: EncoderDecoderConfig | DecoderOnlyConfig, source_vocab_size: int, target_vocab_size: int = 0
) -> int | float:
    """Count the parameters of a model of any size; infinite if no tensor can have these sizes.

    The model is built on the meta device, which allocates nothing, with one block per stack; the others are its copies.

    Args:
        source_vocab_size: of the source, or of a language model.
        target_vocab_size: of the target; not used for a language model.
    """
    try:
        with torch.device("meta"):
            if isinstance(config, DecoderOnlyConfig):
                one_block = config.model_copy(update={"n_layers": 1})
                language_model = DecoderOnly(one_block, source_vocab_size, None)
                return _count(language_model) + (config.n_layers - 1) * _count(language_model.decoder)
            one_each = config.model_copy(update={"encoder_layers": 1, "decoder_layers": 1})
            model = EncoderDecoder(one_each, source_vocab_size, target_vocab_size, pad_id=0)
    except RuntimeError:  # more numbers in a tensor than 64 bits can count
        return math.inf
    more = (config.encoder_layers - 1) * _count(model.encoder) + (config.decoder_layers - 1) * _count(model.decoder)
    return _count(model) + more


def _count(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())
