"""Whether a model fits into free memory, and how many tokens fit into one forward pass."""

import torch
from torch import nn

from pellucid.errors import UserError
from pellucid.free_memory import free_bytes
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.parameter_count import count_parameters

__all__ = ["LADDER", "check_fits", "fit_micro_batch", "fits_several"]

LADDER = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
"""Sizes of a fitted micro-batch, coarse enough that small changes of free memory do not matter."""

SHARE = 0.4
"""Share of free memory for activations; the rest is for weights, gradients, the optimizer and other programs."""


def check_fits(
    config: EncoderDecoderConfig | DecoderOnlyConfig, vocab_sizes: tuple[int, int], averaged: bool, device: torch.device
) -> None:
    """Reject a model whose training state alone exceeds free memory, before any memory is allocated.

    The state is float32: weights, gradients, Adam's two moments, and with a weight average the average itself and,
    during a validation, a copy of the weights.

    Args:
        vocab_sizes: of source and target; a language model passes its size twice; 0 if not yet known.

    Raises:
        UserError: with the number of parameters, the memory they need, and the free memory.
    """
    parameters = count_parameters(config, *vocab_sizes)
    is_decoder_only = isinstance(config, DecoderOnlyConfig)
    layers = ["n_layers"] if is_decoder_only else ["encoder_layers", "decoder_layers"]
    needed, free = training_bytes(parameters, averaged), free_bytes(device)
    if needed <= free:
        return
    sizes = ["d_model", "d_ff", *layers]
    if config.positions == "learned":
        sizes.append("max_positions" if is_decoder_only else "learned_positions")
    raise UserError(
        f"the model is too large to train here: its {parameters:,} parameters need {needed / 1e9:,.1f} GB, "
        f"but only {free / 1e9:,.1f} GB are free",
        where=", ".join(f"model.{name} {getattr(config, name):,}" for name in sizes)
        + f", vocabulary {max(vocab_sizes):,}" * any(vocab_sizes),
        hint="Reduce these sizes, for example `--model.d_model 256`, or train on a machine with more memory.",
    )


def fits_several(model: nn.Module, averaged: bool, processes: int, device: torch.device) -> bool:
    """Whether so many copies of a model's training state fit into half of the free memory."""
    state = training_bytes(sum(weight.numel() for weight in model.parameters()), averaged)
    return processes * state <= free_bytes(device) / 2


def training_bytes(parameters: float, averaged: bool) -> float:
    """Compute the size of a training state in float32: weights, gradients, Adam's two moments, and the weight average.

    During a validation with a weight average, a copy of the weights is kept too.
    """
    return 4 * parameters * (6 if averaged else 4)


def fit_micro_batch(
    config: EncoderDecoderConfig | DecoderOnlyConfig,
    batch_tokens: int,
    longest: int,
    dtype: torch.dtype,
    device: torch.device,
    processes: int = 1,
) -> int:
    """Choose the tokens of a forward pass: `batch_tokens` if they fit, else the largest size of `LADDER` that does.

    If none is estimated to fit, the smallest is used.

    Args:
        longest: longest sequence in tokens.
        processes: how many share the memory, each with its part of the batch.
    """
    free = free_bytes(device) * SHARE / processes
    per_token = _bytes_per_token(config, longest, dtype)
    if batch_tokens / processes * per_token <= free:
        return batch_tokens
    return max((size for size in LADDER if size * per_token <= free), default=LADDER[0])


def _bytes_per_token(config: EncoderDecoderConfig | DecoderOnlyConfig, longest: int, dtype: torch.dtype) -> float:
    """Estimate the activations kept for the backward pass per token, erring on the safe side.

    The estimate is 1.5 to 2.7 times the growth of process memory measured on CPU for d_model 192 to 512, sentences of
    40 to 250 tokens, ReLU and SwiGLU, float32 and bfloat16, with and without dropout.
    """
    if isinstance(config, DecoderOnlyConfig):
        attentions = blocks = config.n_layers
    else:
        attentions = config.encoder_layers + 2 * config.decoder_layers
        blocks = config.encoder_layers + config.decoder_layers
    width = 12 * attentions * config.d_model + 4 * blocks * config.d_ff
    scores = 2 * attentions * config.n_heads * longest
    return width * (dtype.itemsize + 4) + scores * 4
