"""The configuration of a model from the settings of a GGUF file."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from pellucid.interop.foreign_model import ForeignConfig, ForeignTensors
from pellucid.interop.foreign_settings import ForeignSettings, build_config
from pellucid.interop.layouts import GGUF_GPT2, GGUF_LLAMA, GGUF_QWEN
from pellucid.layers.rotary import rotary_frequencies, scaled_frequencies
from pellucid.models.decoder_only_config import RotaryScaling

__all__ = ["read_gguf_config"]

# Of Llama 3.1 and 3.2: GGUF has what comes out of these, not the numbers themselves.
_KNOWN_SCALINGS = tuple(
    RotaryScaling(factor=factor, low_frequency=1.0, high_frequency=4.0, original_positions=8192)
    for factor in (8.0, 32.0)
)


def read_gguf_config(settings: Mapping[str, Any], tensors: ForeignTensors, where: str) -> ForeignConfig:
    """Build the model's configuration from the settings of a GGUF file.

    Args:
        settings: by their full names, such as `llama.block_count`.
        tensors: their names tell whether the output matrix is the embedding; `rope_freqs.weight` is read.

    Raises:
        UserError: for a family that is not known, or a setting that would change what the model says.
    """
    family = ForeignSettings(settings, where).family("general.architecture", _FAMILIES)
    return _FAMILIES[family](ForeignSettings(settings, where, f"{family}."), tensors)


def _gpt2(fields: ForeignSettings, tensors: ForeignTensors) -> ForeignConfig:
    config = build_config(
        fields,
        **_sizes(fields, tensors),
        positions="learned",
        norm="layernorm",
        norm_epsilon=fields.real("attention.layer_norm_epsilon"),
        activation="gelu_tanh",
        bias=True,
    )
    return ForeignConfig("gpt2", config, _vocab_size(fields), GGUF_GPT2)


def _llama(fields: ForeignSettings, tensors: ForeignTensors) -> ForeignConfig:
    fields.expect("expert_count", 0)
    return ForeignConfig("llama", _llama_like(fields, tensors), _vocab_size(fields), GGUF_LLAMA)


def _qwen2(fields: ForeignSettings, tensors: ForeignTensors) -> ForeignConfig:
    return ForeignConfig("qwen2", _llama_like(fields, tensors, qkv_bias=True), _vocab_size(fields), GGUF_QWEN)


def _qwen3(fields: ForeignSettings, tensors: ForeignTensors) -> ForeignConfig:
    return ForeignConfig("qwen3", _llama_like(fields, tensors, qk_norm=True), _vocab_size(fields), GGUF_QWEN)


def _llama_like(fields: ForeignSettings, tensors: ForeignTensors, **choices: Any) -> Any:
    sizes = _sizes(fields, tensors)
    head = fields.whole("attention.key_length", sizes["d_model"] // max(1, sizes["n_heads"]))
    fields.expect("attention.value_length", head)
    fields.expect("rope.dimension_count", head)
    fields.expect("rope.scaling.type", "none")
    fields.expect("attention.sliding_window", 0)
    base = fields.real("rope.freq_base", 10_000.0)
    return build_config(
        fields,
        **sizes,
        d_head=head,
        n_kv_heads=fields.whole("attention.head_count_kv", sizes["n_heads"]),
        positions="rope",
        rope_base=base,
        rope_scaling=_scaling(fields, tensors, head, base),
        norm="rmsnorm",
        norm_epsilon=fields.real("attention.layer_norm_rms_epsilon"),
        activation="swiglu",
        bias=False,
        **choices,
    )


def _sizes(fields: ForeignSettings, tensors: ForeignTensors) -> dict[str, Any]:
    return {
        "d_model": fields.whole("embedding_length"),
        "n_heads": fields.whole("attention.head_count"),
        "d_ff": fields.whole("feed_forward_length"),
        "n_layers": fields.whole("block_count"),
        "max_positions": fields.whole("context_length"),
        "tie_embeddings": "output.weight" not in tensors,
    }


def _scaling(fields: ForeignSettings, tensors: ForeignTensors, d_head: int, base: float) -> RotaryScaling | None:
    """Identify the rotary scaling from its effect: the divisor of each frequency, [d_head / 2], is in the file."""
    if "rope_freqs.weight" not in tensors:
        return None
    divisors: Tensor = tensors["rope_freqs.weight"]().double()
    plain = rotary_frequencies(d_head, base)
    if divisors.shape == plain.shape:
        if torch.equal(divisors, torch.ones_like(divisors)):
            return None
        for scaling in _KNOWN_SCALINGS:
            slowed = scaled_frequencies(plain, **scaling.model_dump())
            if torch.allclose(plain / divisors, slowed, rtol=1e-5):  # the file has float32
                return scaling
    raise fields.refusal(
        "the tensor rope_freqs.weight slows rotary frequencies in a way that is not known; known is that of Llama 3",
        "Computed otherwise the model would say something else than it does where it comes from.",
    )


def _vocab_size(fields: ForeignSettings) -> int:
    tokens = fields.values.get("tokenizer.ggml.tokens")
    return fields.whole("vocab_size", len(tokens) if isinstance(tokens, list) else None)


_FAMILIES: dict[str, Callable[[ForeignSettings, ForeignTensors], ForeignConfig]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
}
