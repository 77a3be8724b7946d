"""The configuration of a model from config.json of a Hugging Face folder."""

from collections.abc import Callable, Mapping
from typing import Any

from pellucid.interop.foreign_model import ForeignConfig
from pellucid.interop.foreign_settings import ForeignSettings, build_config
from pellucid.interop.layouts import HUGGINGFACE_GPT2, HUGGINGFACE_LLAMA

__all__ = ["read_huggingface_config"]


def read_huggingface_config(config: Mapping[str, Any], where: str) -> ForeignConfig:
    """Build the model's configuration from the config.json of a Hugging Face folder.

    Raises:
        UserError: for a family that is not known, or a setting that would change what the model says.
    """
    fields = ForeignSettings(config, where)
    return _FAMILIES[fields.family("model_type", _FAMILIES)](fields)


def _gpt2(fields: ForeignSettings) -> ForeignConfig:
    fields.expect("activation_function", "gelu_new", "gelu_pytorch_tanh")
    fields.expect("scale_attn_weights", True)
    fields.expect("scale_attn_by_inverse_layer_idx", False)
    fields.expect("add_cross_attention", False)
    d_model = fields.whole("n_embd")
    config = build_config(
        fields,
        d_model=d_model,
        n_heads=fields.whole("n_head"),
        d_ff=fields.whole("n_inner", 4 * d_model),
        n_layers=fields.whole("n_layer"),
        positions="learned",
        max_positions=fields.whole("n_positions"),
        norm="layernorm",
        norm_epsilon=fields.real("layer_norm_epsilon", 1e-5),
        activation="gelu_tanh",
        bias=True,
        tie_embeddings=fields.flag("tie_word_embeddings", True),
    )
    return ForeignConfig("gpt2", config, fields.whole("vocab_size"), HUGGINGFACE_GPT2)


def _llama(fields: ForeignSettings) -> ForeignConfig:
    fields.expect("pretraining_tp", 1)  # else projections are summed in slices
    bias = fields.flag("attention_bias", False)
    fields.expect("mlp_bias", bias)
    return _llama_like(fields, bias=bias)


def _qwen2(fields: ForeignSettings) -> ForeignConfig:
    return _llama_like(fields, bias=False, qkv_bias=True)


def _qwen3(fields: ForeignSettings) -> ForeignConfig:
    fields.expect("attention_bias", False)
    return _llama_like(fields, bias=False, qk_norm=True)


def _llama_like(fields: ForeignSettings, **choices: Any) -> ForeignConfig:
    fields.expect("hidden_act", "silu", "swish")
    fields.expect("partial_rotary_factor", 1, 1.0)
    context, warnings = _context(fields)
    heads = fields.whole("num_attention_heads")
    config = build_config(
        fields,
        d_model=fields.whole("hidden_size"),
        n_heads=heads,
        n_kv_heads=fields.whole("num_key_value_heads", heads),
        d_head=fields.get("head_dim"),
        d_ff=fields.whole("intermediate_size"),
        n_layers=fields.whole("num_hidden_layers"),
        positions="rope",
        **_rotary(fields),
        max_positions=context,
        norm="rmsnorm",
        norm_epsilon=fields.real("rms_norm_eps", 1e-6),
        activation="swiglu",
        tie_embeddings=fields.flag("tie_word_embeddings", False),
        **choices,
    )
    return ForeignConfig(str(fields.get("model_type")), config, fields.whole("vocab_size"), HUGGINGFACE_LLAMA, warnings)


def _rotary(fields: ForeignSettings) -> dict[str, Any]:
    """Read base and scaling, which newer files keep together in rope_parameters."""
    rotary = fields.inner("rope_parameters", "rope_scaling")
    base = rotary.real("rope_theta", fields.real("rope_theta", 10_000.0))
    kind = rotary.values.get("rope_type", rotary.values.get("type", "default"))
    if kind == "default":
        return {"rope_base": base}
    if kind != "llama3":
        raise fields.refusal(
            f"the rotary scaling {kind} is not known; known are default and llama3",
            "Computed otherwise the model would say something else than it does where it comes from.",
        )
    scaling = {
        "factor": rotary.real("factor"),
        "low_frequency": rotary.real("low_freq_factor"),
        "high_frequency": rotary.real("high_freq_factor"),
        "original_positions": rotary.whole("original_max_position_embeddings"),
    }
    return {"rope_base": base, "rope_scaling": scaling}


def _context(fields: ForeignSettings) -> tuple[int, tuple[str, ...]]:
    """Read the context length: at most the sliding window, within which the window has no effect."""
    context = fields.whole("max_position_embeddings")
    window = fields.get("sliding_window")
    slides = fields.get("use_sliding_window") if fields.get("model_type") != "mistral" else window is not None
    if not slides or not isinstance(window, int) or window >= context:
        return context, ()
    return window, (
        f"each token looks back {window:,} tokens only: the context is that long here, not {context:,} tokens",
    )


_FAMILIES: dict[str, Callable[[ForeignSettings], ForeignConfig]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _llama_like,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
}
