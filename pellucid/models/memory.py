"""How many parameters a model has."""

from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["language_model_parameter_count", "parameter_count"]


def parameter_count(config: EncoderDecoderConfig, source_vocab_size: int, target_vocab_size: int) -> int:
    """Return how many parameters a model has, without building it: sizes may be absurd."""
    d, b = config.d_model, int(config.bias)
    kv = config.kv_heads * config.d_head
    attention = 2 * (d * d + b * d) + 2 * (d * kv + b * kv)
    widening = 2 if config.activation == "swiglu" else 1
    feed_forward = (widening + 1) * d * config.d_ff + b * (widening * config.d_ff + d)
    norm = 2 * d if config.norm == "layernorm" else d
    encoder = config.encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = config.decoder_layers * (2 * attention + feed_forward + 3 * norm)
    last_norms = 2 * norm if config.norm_placement == "pre" else 0
    codes = 2 * config.max_positions * d if config.positions == "learned" else 0
    rows = {
        "all": target_vocab_size,
        "output": source_vocab_size + target_vocab_size,
        "none": source_vocab_size + 2 * target_vocab_size,
    }[config.tie_embeddings]
    return encoder + decoder + last_norms + codes + rows * d


def language_model_parameter_count(config: DecoderOnlyConfig, vocab_size: int) -> int:
    """Return how many parameters a language model has, without building it: sizes may be absurd."""
    d, width, kv = config.d_model, config.n_heads * config.head_width, config.kv_heads * config.head_width
    b, qkv_b = int(config.bias), int(config.projection_bias)
    attention = 2 * d * width + 2 * d * kv + qkv_b * (width + 2 * kv) + b * d
    head_norms = 2 * config.head_width if config.qk_norm else 0
    widening = 2 if config.activation == "swiglu" else 1
    feed_forward = (widening + 1) * d * config.d_ff + b * (widening * config.d_ff + d)
    norm = 2 * d if config.norm == "layernorm" else d
    blocks = config.n_layers * (attention + head_norms + feed_forward + 2 * norm)
    last_norm = norm if config.norm_placement == "pre" else 0
    codes = config.max_positions * d if config.positions == "learned" else 0
    return blocks + last_norm + codes + (1 if config.tie_embeddings else 2) * vocab_size * d
