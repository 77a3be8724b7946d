"""Whether a model fits in the memory that is free, and how many tokens pass through it at once."""

import torch

from pellucid.errors import UserError
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.memory import free_bytes, language_model_parameter_count, parameter_count

__all__ = ["LADDER", "check_fits", "fit_micro_batch"]

LADDER = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
"""Token counts a fitted micro-batch is taken from, so that small changes of free memory change nothing."""

SHARE = 0.4  # of the free memory; the rest is for weights, gradients, the optimizer and everybody else


def check_fits(
    config: EncoderDecoderConfig | DecoderOnlyConfig,
    vocab_sizes: tuple[int, int],
    averaged: bool,
    device: torch.device,
) -> None:
    """Refuse a model whose weights alone are too many for the memory that is free, before any of it is taken.

    In float32 stand weights, gradients, Adam's two moments, and, with an average of the weights, that and, while it is
    measured, a copy of the weights.

    Args:
        vocab_sizes: of source and target, of a language model twice the same; 0 where they are not known yet.
        averaged: whether there is an average of the weights.

    Raises:
        UserError: with the number of parameters, what they need, and what is free.
    """
    if isinstance(config, DecoderOnlyConfig):
        parameters, layers = language_model_parameter_count(config, vocab_sizes[0]), ["n_layers"]
    else:
        parameters, layers = parameter_count(config, *vocab_sizes), ["encoder_layers", "decoder_layers"]
    needed, free = 4 * parameters * (6 if averaged else 4), free_bytes(device)
    if needed <= free:
        return
    sizes = ["d_model", "d_ff", *layers]
    sizes += ["max_positions"] if config.positions == "learned" else []
    raise UserError(
        f"the model is too large to be trained here: its {parameters:,} parameters need {needed / 1e9:,.1f} GB, "
        f"{free / 1e9:,.1f} GB are free",
        where=", ".join(f"model.{name} {getattr(config, name):,}" for name in sizes)
        + f", {max(vocab_sizes):,} pieces" * any(vocab_sizes),
        hint="Lower these, as in `--model.d_model 256`, or train where there is more memory.",
    )


def fit_micro_batch(
    config: EncoderDecoderConfig | DecoderOnlyConfig,
    batch_tokens: int,
    max_tokens: int,
    dtype: torch.dtype,
    device: torch.device,
) -> int:
    """Return the tokens that may pass at once: `batch_tokens` if they fit, else the highest rung that does.

    Raises nothing: where even the lowest rung may not fit, the lowest is returned.
    """
    free = free_bytes(device) * SHARE
    per_token = _bytes_per_token(config, max_tokens, dtype)
    if batch_tokens * per_token <= free:
        return batch_tokens
    return max((rung for rung in LADDER if rung * per_token <= free), default=LADDER[0])


def _bytes_per_token(config: EncoderDecoderConfig | DecoderOnlyConfig, max_tokens: int, dtype: torch.dtype) -> float:
    """Estimate what the backward pass keeps for a token, on the safe side.

    1.5 to 2.7 times the growth of the process's memory that was measured on CPU for d_model 192 to 512, sentences of
    40 to 250 tokens, ReLU and SwiGLU, float32 and bfloat16, with and without dropout.
    """
    if isinstance(config, DecoderOnlyConfig):
        attentions = blocks = config.n_layers
    else:
        attentions = config.encoder_layers + 2 * config.decoder_layers
        blocks = config.encoder_layers + config.decoder_layers
    width = 12 * attentions * config.d_model + 4 * blocks * config.d_ff
    scores = 2 * attentions * config.n_heads * max_tokens
    return width * (dtype.itemsize + 4) + scores * 4
