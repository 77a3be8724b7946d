"""Settings of a GGUF file: which family a model is of, and what its settings are as ours."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from pellucid.interop.fields import Fields, decoder_config
from pellucid.interop.foreign_model import ForeignTensors, Shape
from pellucid.interop.layouts import GGUF_GPT2, GGUF_LLAMA, GGUF_QWEN
from pellucid.layers.rotary import frequencies, slowed_frequencies
from pellucid.models.decoder_only_config import RotaryScaling

__all__ = ["gguf_shape"]

# Of Llama 3.1 and 3.2: GGUF has what comes out of these, not the numbers themselves.
_KNOWN_SCALINGS = tuple(
    RotaryScaling(factor=factor, low_frequency=1.0, high_frequency=4.0, original_positions=8192)
    for factor in (8.0, 32.0)
)


def gguf_shape(settings: Mapping[str, Any], tensors: ForeignTensors, where: str) -> Shape:
    """Return what the settings of a GGUF file describe.

    Args:
        settings: by their full names, such as `llama.block_count`.
        tensors: their names tell whether the output matrix is the embedding; `rope_freqs.weight` is read.
        where: the file, for errors.

    Raises:
        UserError: for a family that is not known, or a setting that would change what the model says.
    """
    family = Fields(settings, where).family("general.architecture", _FAMILIES)
    return _FAMILIES[family](Fields(settings, where, f"{family}."), tensors)


def _gpt2(fields: Fields, tensors: ForeignTensors) -> Shape:
    config = decoder_config(
        fields,
        **_sizes(fields, tensors),
        positions="learned",
        norm="layernorm",
        norm_epsilon=fields.real("attention.layer_norm_epsilon"),
        activation="gelu_tanh",
        bias=True,
    )
    return Shape("gpt2", config, _vocab_size(fields), GGUF_GPT2)


def _llama(fields: Fields, tensors: ForeignTensors) -> Shape:
    fields.expect("expert_count", 0)
    return Shape("llama", _llama_like(fields, tensors), _vocab_size(fields), GGUF_LLAMA)


def _qwen2(fields: Fields, tensors: ForeignTensors) -> Shape:
    return Shape("qwen2", _llama_like(fields, tensors, qkv_bias=True), _vocab_size(fields), GGUF_QWEN)


def _qwen3(fields: Fields, tensors: ForeignTensors) -> Shape:
    return Shape("qwen3", _llama_like(fields, tensors, norm_heads=True), _vocab_size(fields), GGUF_QWEN)


def _llama_like(fields: Fields, tensors: ForeignTensors, **choices: Any) -> Any:
    sizes = _sizes(fields, tensors)
    head = fields.whole("attention.key_length", sizes["d_model"] // max(1, sizes["n_heads"]))
    fields.expect("attention.value_length", head)
    fields.expect("rope.dimension_count", head)
    fields.expect("rope.scaling.type", "none")
    fields.expect("attention.sliding_window", 0)
    base = fields.real("rope.freq_base", 10_000.0)
    return decoder_config(
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


def _sizes(fields: Fields, tensors: ForeignTensors) -> dict[str, Any]:
    return {
        "d_model": fields.whole("embedding_length"),
        "n_heads": fields.whole("attention.head_count"),
        "d_ff": fields.whole("feed_forward_length"),
        "n_layers": fields.whole("block_count"),
        "max_positions": fields.whole("context_length"),
        "tie_embeddings": "output.weight" not in tensors,
    }


def _scaling(fields: Fields, tensors: ForeignTensors, d_head: int, base: float) -> RotaryScaling | None:
    """Return the scaling whose effect the file holds: what each frequency is divided by, [d_head / 2]."""
    if "rope_freqs.weight" not in tensors:
        return None
    divisors: Tensor = tensors["rope_freqs.weight"]().double()
    plain = frequencies(d_head, base)
    if divisors.shape == plain.shape:
        if torch.equal(divisors, torch.ones_like(divisors)):
            return None
        for scaling in _KNOWN_SCALINGS:
            slowed = slowed_frequencies(plain, **scaling.model_dump())
            if torch.allclose(plain / divisors, slowed, rtol=1e-5):  # the file has float32
                return scaling
    raise fields.refusal(
        "the tensor rope_freqs.weight slows rotary frequencies in a way that is not known; known is that of Llama 3",
        "Computed otherwise the model would say something else than it does where it comes from.",
    )


def _vocab_size(fields: Fields) -> int:
    tokens = fields.values.get("tokenizer.ggml.tokens")
    return fields.whole("vocab_size", len(tokens) if isinstance(tokens, list) else None)


_FAMILIES: dict[str, Callable[[Fields, ForeignTensors], Shape]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
}
