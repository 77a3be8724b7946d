"""Names and layouts of weights in files of other programs, by architecture."""

import re

from pellucid.interop.foreign_model import Layout

__all__ = ["GGUF_GPT2", "GGUF_LLAMA", "GGUF_QWEN", "HUGGINGFACE_GPT2", "HUGGINGFACE_LLAMA"]

# Ours, and the names in a block of Hugging Face's Llama, of its GPT-2, and of GGUF.
_IN_A_BLOCK = (
    ("self_attention_residual.norm", "input_layernorm", "ln_1", "attn_norm"),
    ("self_attention.query", "self_attn.q_proj", "attn.c_attn", "attn_q"),
    ("self_attention.key", "self_attn.k_proj", "attn.c_attn", "attn_k"),
    ("self_attention.value", "self_attn.v_proj", "attn.c_attn", "attn_v"),
    ("self_attention.output", "self_attn.o_proj", "attn.c_proj", "attn_output"),
    ("self_attention.query_norm", "self_attn.q_norm", "", "attn_q_norm"),
    ("self_attention.key_norm", "self_attn.k_norm", "", "attn_k_norm"),
    ("feed_forward_residual.norm", "post_attention_layernorm", "ln_2", "ffn_norm"),
    ("feed_forward.gate_projection", "mlp.gate_proj", "", "ffn_gate"),
    ("feed_forward.up_projection", "mlp.up_proj", "mlp.c_fc", "ffn_up"),
    ("feed_forward.down_projection", "mlp.down_proj", "mlp.c_proj", "ffn_down"),
)
_LLAMA, _GPT2, _GGUF = ({ours: names[n] for ours, *names in _IN_A_BLOCK if names[n]} for n in range(3))
_THIRDS = {"self_attention.query": 0, "self_attention.key": 1, "self_attention.value": 2}
_GGUF_OUTSIDE = {"embedding": "token_embd", "output_embedding": "output", "decoder_norm": "output_norm"}

HUGGINGFACE_LLAMA = Layout(
    outside={"embedding": "model.embed_tokens", "output_embedding": "lm_head", "decoder_norm": "model.norm"},
    block="model.layers.{n}",
    inside=_LLAMA,
    ignored=re.compile(r".*\.rotary_emb\.inv_freq"),
)
"""Llama, Mistral, Qwen2, Qwen3, SmolLM in Hugging Face's folders."""

HUGGINGFACE_GPT2 = Layout(
    outside={
        "embedding": "transformer.wte",
        "position_encoding": "transformer.wpe",
        "output_embedding": "lm_head",
        "decoder_norm": "transformer.ln_f",
    },
    block="transformer.h.{n}",
    inside=_GPT2,
    transposed=frozenset({"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}),
    thirds=_THIRDS,
    ignored=re.compile(r".*\.attn\.(masked_)?bias"),  # masks, stored by older versions
)
"""GPT-2 in Hugging Face's folders, whose linear layers are input × output."""

GGUF_QWEN = Layout(outside=_GGUF_OUTSIDE, block="blk.{n}", inside=_GGUF)
"""Qwen2 and Qwen3 in GGUF."""

GGUF_LLAMA = Layout(
    outside=_GGUF_OUTSIDE,
    block="blk.{n}",
    inside=_GGUF,
    interleaved=True,
    ignored=re.compile(r"rope_freqs\.weight"),  # it says how frequencies are slowed: `gguf_config.py` reads it
)
"""Llama and its like in GGUF, whose converter re-orders the rows of queries and keys."""

GGUF_GPT2 = Layout(
    outside={**_GGUF_OUTSIDE, "position_encoding": "position_embd"},
    block="blk.{n}",
    inside={**_GGUF, **dict.fromkeys(_THIRDS, "attn_qkv")},
    thirds=_THIRDS,
)
"""GPT-2 in GGUF, whose converter transposes the matrices to output × input."""
