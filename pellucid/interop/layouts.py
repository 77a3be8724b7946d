"""Names and layouts of weights in files of other programs, by architecture."""

import re

from pellucid.interop.foreign_model import Layout

__all__ = ["GGUF_GPT2", "GGUF_LLAMA", "GGUF_QWEN", "HUGGINGFACE_GPT2", "HUGGINGFACE_LLAMA"]

HUGGINGFACE_LLAMA = Layout(
    outside={"embedding": "model.embed_tokens", "output_embedding": "lm_head", "decoder_norm": "model.norm"},
    block="model.layers.{n}",
    inside={
        "self_attention_residual.norm": "input_layernorm",
        "self_attention.query": "self_attn.q_proj",
        "self_attention.key": "self_attn.k_proj",
        "self_attention.value": "self_attn.v_proj",
        "self_attention.output": "self_attn.o_proj",
        "self_attention.query_norm": "self_attn.q_norm",
        "self_attention.key_norm": "self_attn.k_norm",
        "feed_forward_residual.norm": "post_attention_layernorm",
        "feed_forward.gate_projection": "mlp.gate_proj",
        "feed_forward.up_projection": "mlp.up_proj",
        "feed_forward.down_projection": "mlp.down_proj",
    },
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
    inside={
        "self_attention_residual.norm": "ln_1",
        "self_attention.query": "attn.c_attn",
        "self_attention.key": "attn.c_attn",
        "self_attention.value": "attn.c_attn",
        "self_attention.output": "attn.c_proj",
        "feed_forward_residual.norm": "ln_2",
        "feed_forward.up_projection": "mlp.c_fc",
        "feed_forward.down_projection": "mlp.c_proj",
    },
    transposed=frozenset({"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}),
    thirds={"self_attention.query": 0, "self_attention.key": 1, "self_attention.value": 2},
    ignored=re.compile(r".*\.attn\.(masked_)?bias"),  # masks, stored by older versions
)
"""GPT-2 in Hugging Face's folders, whose linear layers are input × output."""

_GGUF_OUTSIDE = {"embedding": "token_embd", "output_embedding": "output", "decoder_norm": "output_norm"}
_GGUF_INSIDE = {
    "self_attention_residual.norm": "attn_norm",
    "self_attention.query": "attn_q",
    "self_attention.key": "attn_k",
    "self_attention.value": "attn_v",
    "self_attention.output": "attn_output",
    "self_attention.query_norm": "attn_q_norm",
    "self_attention.key_norm": "attn_k_norm",
    "feed_forward_residual.norm": "ffn_norm",
    "feed_forward.gate_projection": "ffn_gate",
    "feed_forward.up_projection": "ffn_up",
    "feed_forward.down_projection": "ffn_down",
}

GGUF_QWEN = Layout(outside=_GGUF_OUTSIDE, block="blk.{n}", inside=_GGUF_INSIDE)
"""Qwen2 and Qwen3 in GGUF."""

GGUF_LLAMA = Layout(
    outside=_GGUF_OUTSIDE,
    block="blk.{n}",
    inside=_GGUF_INSIDE,
    interleaved=True,
    ignored=re.compile(r"rope_freqs\.weight"),  # it says how frequencies are slowed: `gguf_shapes.py` reads it
)
"""Llama and its like in GGUF, whose converter re-orders the rows of queries and keys."""

GGUF_GPT2 = Layout(
    outside={**_GGUF_OUTSIDE, "position_encoding": "position_embd"},
    block="blk.{n}",
    inside={
        **_GGUF_INSIDE,
        "self_attention.query": "attn_qkv",
        "self_attention.key": "attn_qkv",
        "self_attention.value": "attn_qkv",
    },
    thirds=HUGGINGFACE_GPT2.thirds,
)
"""GPT-2 in GGUF, whose converter transposes the matrices to output × input."""
