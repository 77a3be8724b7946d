"""Tiny random models of other libraries, written to disk in their own forms."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy
import torch
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import decoders, models, pre_tokenizers, trainers

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of another library's imports
    import gguf
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedModel,
        PreTrainedTokenizerFast,
        Qwen2Config,
        Qwen2ForCausalLM,
        Qwen3Config,
        Qwen3ForCausalLM,
    )

TEXT = [
    "Seán isst zwei Äpfel.",
    "那只猫昨天吃了三条鱼。",
    "水 und 🤗, 12345 mal",
    "the cat's tail, the cats' tails",
    "user\nassistant\n",
]
TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content']}}"
    "{{'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
VOCAB = 300

IDS = [5, 17, 290, 3, 44, 44, 101, 260, 8, 12, 13, 299]

_LLAMA: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "vocab_size": VOCAB,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_ROPE3 = {
    "rope_type": "llama3",
    "rope_theta": 10_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def twin(name: str) -> PreTrainedModel:
    """Return a random model of a family."""
    config, kind = {
        "gpt2": (GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=64, vocab_size=VOCAB), GPT2LMHeadModel),
        "llama": (LlamaConfig(**_LLAMA, rms_norm_eps=1e-5, tie_word_embeddings=True), LlamaForCausalLM),
        "llama3": (LlamaConfig(**_LLAMA, rope_parameters=_ROPE3, head_dim=16), LlamaForCausalLM),
        "qwen2": (Qwen2Config(**_LLAMA, tie_word_embeddings=True), Qwen2ForCausalLM),
        "qwen3": (Qwen3Config(**_LLAMA, head_dim=12), Qwen3ForCausalLM),
    }[name]
    model: PreTrainedModel = kind(config)
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=random)
    model.train(False)
    return model


def expected_logits(model: PreTrainedModel) -> Any:
    with torch.inference_mode():
        return model(torch.tensor([IDS])).logits[0].numpy()


def byte_level_tokenizer(*cuts: Any) -> RustTokenizer:
    """Return a small byte-level BPE; `cuts` come before the bytes' stand-ins, GPT-2's rule unless given."""
    rust = RustTokenizer(models.BPE())
    rust.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not cuts)]
    )
    rust.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    rust.train_from_iterator(TEXT * 3, trainer)
    return rust


def fast_tokenizer(rust: RustTokenizer) -> PreTrainedTokenizerFast:
    make: Any = PreTrainedTokenizerFast  # it has no types
    tokenizer: PreTrainedTokenizerFast = make(
        tokenizer_object=rust, bos_token="<|im_start|>", eos_token="<|im_end|>", clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def huggingface_folder(model: PreTrainedModel, folder: Path, **settings: Any) -> Path:
    """Write a model and its tokenizer as transformers does."""
    model.save_pretrained(folder, **settings)
    fast_tokenizer(byte_level_tokenizer()).save_pretrained(folder)
    return folder


def gguf_file(
    model: PreTrainedModel, path: Path, kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32, **settings: Any
) -> Path:
    """Write a model as llama.cpp's converter does: matrices packed as `kind`, all else in float32.

    `settings` replace those of the file (None leaves one out).
    """
    config = model.config
    family = {"qwen2": "qwen2", "qwen3": "qwen3", "gpt2": "gpt2"}.get(config.model_type, "llama")
    writer = gguf.GGUFWriter(path, family)
    fields: dict[str, Any] = {"general.name": "twin", **_sizes(model, family), **_vocabulary()} | settings
    for name, value in fields.items():
        _add(writer, name, value)
    for name, weight in _gguf_tensors(model, family).items():
        data = weight.detach().numpy().astype(numpy.float32)
        if data.ndim == 2 and kind != gguf.GGMLQuantizationType.F32:
            writer.add_tensor(name, gguf.quants.quantize(data, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _sizes(model: PreTrainedModel, family: str) -> dict[str, Any]:
    config = model.config
    if family == "gpt2":
        return {
            "gpt2.context_length": config.n_positions,
            "gpt2.embedding_length": config.n_embd,
            "gpt2.feed_forward_length": 4 * config.n_embd,
            "gpt2.block_count": config.n_layer,
            "gpt2.attention.head_count": config.n_head,
            "gpt2.attention.layer_norm_epsilon": config.layer_norm_epsilon,
        }
    return {
        f"{family}.context_length": config.max_position_embeddings,
        f"{family}.embedding_length": config.hidden_size,
        f"{family}.feed_forward_length": config.intermediate_size,
        f"{family}.block_count": config.num_hidden_layers,
        f"{family}.attention.head_count": config.num_attention_heads,
        f"{family}.attention.head_count_kv": config.num_key_value_heads,
        f"{family}.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        f"{family}.attention.key_length": getattr(config, "head_dim", None) or 8,
        f"{family}.rope.freq_base": config.rope_parameters["rope_theta"],
    }


def _vocabulary() -> dict[str, Any]:
    content = json.loads(byte_level_tokenizer().to_str())
    vocabulary = content["model"]["vocab"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": sorted(vocabulary, key=vocabulary.__getitem__),
        "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(vocabulary) - len(SPECIAL)),
        "tokenizer.ggml.merges": [" ".join(merge) for merge in content["model"]["merges"]],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def _add(writer: gguf.GGUFWriter, name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        writer.add_bool(name, value)
    elif isinstance(value, int):
        writer.add_uint32(name, value)
    elif isinstance(value, float):
        writer.add_float32(name, value)
    elif isinstance(value, str):
        writer.add_string(name, value)
    else:
        writer.add_array(name, value)


_GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "transformer.wte": "token_embd",
    "transformer.wpe": "position_embd",
    "transformer.ln_f": "output_norm",
    "ln_1": "attn_norm",
    "ln_2": "ffn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}


def _gguf_tensors(model: PreTrainedModel, family: str) -> dict[str, torch.Tensor]:
    """Return a model's weights under GGUF's names and in its layout."""
    tensors: dict[str, torch.Tensor] = {}
    for name, parameter in model.named_parameters():
        weight: torch.Tensor = parameter
        part, _, kind = name.rpartition(".")
        words = part.split(".")
        block = f"blk.{words[2]}." if len(words) > 3 or words[1:2] == ["h"] or words[1:2] == ["layers"] else ""
        inner = ".".join(words[3:]) if block else part
        if family == "llama" and inner.endswith(("q_proj", "k_proj")):
            heads = model.config.num_attention_heads if "q_proj" in inner else model.config.num_key_value_heads
            weight = _permuted(weight, heads)
        if family == "gpt2" and kind == "weight" and "c_" in inner:
            weight = weight.T
        tensors[f"{block}{_GGUF_NAMES[inner]}.{kind}"] = weight
    if family == "llama" and model.config.rope_parameters["rope_type"] == "llama3":
        tensors["rope_freqs.weight"] = _llama3_divisors(model)
    return tensors


def _permuted(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """As `LlamaModel.permute` of llama.cpp's convert_hf_to_gguf.py."""
    return weight.reshape(heads, 2, len(weight) // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def _llama3_divisors(model: PreTrainedModel) -> torch.Tensor:
    """What each frequency is divided by, as llama.cpp's converter writes it."""
    width = model.config.head_dim
    frequencies = 10_000.0 ** (-torch.arange(0, width, 2).double() / width)
    divisors: torch.Tensor = (frequencies / model.model.rotary_emb.inv_freq.double()).float()
    return divisors
