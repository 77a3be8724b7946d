"""Files that lie, are damaged, or were made to do harm: each is refused by name, and nothing is left behind."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pellucid.errors import UserError
from pellucid.interop.import_model import import_model
from pellucid.language_model import LanguageModel
from tests.interop.twins import gguf_file, huggingface_folder, twin


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return huggingface_folder(twin("llama"), tmp_path_factory.mktemp("hf") / "llama")


@pytest.fixture
def copy(llama: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama, tmp_path / "copy"))


def change(path: Path, **settings: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | settings), encoding="utf-8")


def refused(source: Path, out: Path, what: str) -> None:
    with pytest.raises(UserError, match=what):
        import_model(source, out)
    assert not out.exists()
    assert not list(out.parent.glob(".ours*"))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"model_type": ["llama"]}, "architecture .* is not known"),
        ({"model_type": {}}, "architecture .* is not known"),
        ({"rope_parameters": "llama3"}, "rope_parameters is 'llama3', expected settings"),
        ({"rope_parameters": [1]}, r"rope_parameters is \[1\]"),
        (
            {
                "rope_parameters": {
                    "rope_type": "llama3",
                    "factor": 0,
                    "low_freq_factor": 1,
                    "high_freq_factor": 4,
                    "original_max_position_embeddings": 8192,
                }
            },
            "rope_scaling.factor",
        ),
        ({"rms_norm_eps": 10**400}, "rms_norm_eps is 10"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings is 'no', expected true or false"),
        ({"attention_bias": "x"}, "attention_bias is 'x', expected true or false"),
        ({"num_hidden_layers": 10**9}, "says 1,000,000,000 blocks"),
    ],
)
def test_a_setting_of_another_kind_is_named(copy: Path, tmp_path: Path, settings: dict[str, Any], what: str) -> None:
    change(copy / "config.json", **settings)
    refused(copy, tmp_path / "ours", what)


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("config.json", b"[" * 100_000, "config.json is damaged"),
        ("tokenizer.json", b"[" * 100_000, "tokenizer.json is damaged"),
        ("chat_template.jinja", b"\xff\xfe", "chat_template.jinja"),
        ("model.safetensors.index.json", b'{"weight_map": {"a": {}}}', "weight_map"),
        ("model.safetensors.index.json", b'{"weight_map": {"a": "../other.safetensors"}}', "outside the folder"),
        ("model.safetensors.index.json", b'{"weight_map": {"a": "/etc/passwd"}}', "outside the folder"),
        ("model.safetensors.index.json", b'{"weight_map": {"a": ".."}}', "outside the folder"),
    ],
)
def test_a_file_of_the_folder_that_is_damaged_is_named(
    copy: Path, tmp_path: Path, name: str, data: bytes, what: str
) -> None:
    (copy / name).write_bytes(data)
    refused(copy, tmp_path / "ours", what)


@pytest.mark.parametrize(
    "part",
    [
        {"added_tokens": None},
        {"added_tokens": "x"},
        {"added_tokens": [5]},
        {"added_tokens": [{"id": 1}]},
        {"added_tokens": [{"id": 1, "content": "a"}]},
        {"model": []},
        {"model": {"type": "BPE", "vocab": [], "merges": 1}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": None}},
    ],
)
def test_a_tokenizer_of_another_form_is_refused(copy: Path, tmp_path: Path, part: dict[str, Any]) -> None:
    change(copy / "tokenizer.json", **part)
    refused(copy, tmp_path / "ours", "tokenizer")


def test_numbers_that_are_none_are_not_imported(copy: Path, tmp_path: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"][3] = torch.nan
    save_file(weights, copy / "model.safetensors")
    refused(copy, tmp_path / "ours", r"model\.norm\.weight contains NaN")


@pytest.mark.parametrize("number", [99_999, -1, True, "a", [1]])
def test_special_ids_that_the_model_does_not_have_are_left_out_and_named(
    copy: Path, tmp_path: Path, number: Any
) -> None:
    change(copy / "config.json", bos_token_id=number, eos_token_id=number)
    change(copy / "tokenizer_config.json", bos_token=None, eos_token=None)
    change(copy / "generation_config.json", eos_token_id=number)
    imported = import_model(copy, tmp_path / "ours")
    model = LanguageModel.load(tmp_path / "ours")
    assert all(0 <= end < imported.vocab_size for end in model.tokenizer.end_ids)
    assert model.tokenizer.start_id in (None, 1)
    assert model.chat([{"role": "user", "content": "the cat"}], tokens=2, seed=1).samples[0].tokens
    if number in (99_999, -1):
        assert any(str(number) in warning for warning in imported.warnings)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"general.architecture": ["llama"]}, "architecture .* is not known"),
        ({"llama.block_count": 10**9}, "blocks"),
        ({"llama.attention.key_length": None, "llama.attention.head_count": 0}, "n_heads"),
        ({"general.alignment": 0}, "no whole GGUF file"),
        ({"tokenizer.ggml.tokens": list(range(300))}, "vocabulary"),
        ({"tokenizer.ggml.token_type": ["a"] * 300}, "vocabulary"),
        ({"tokenizer.ggml.merges": [1, 2]}, "merge"),
        ({"tokenizer.ggml.merges": ["zz yy"]}, "tokenizer"),
        ({"tokenizer.ggml.pre": ["a"]}, "rule .* is not known"),
        ({"tokenizer.ggml.model": "llama", "tokenizer.ggml.scores": ["x"] * 300}, "scores"),
        ({"tokenizer.chat_template": "{% for %}"}, "chat template is not"),
    ],
)
def test_a_gguf_setting_of_another_kind_is_refused(tmp_path: Path, settings: dict[str, Any], what: str) -> None:
    refused(gguf_file(twin("llama"), tmp_path / "twin.gguf", **settings), tmp_path / "ours", what)


def test_a_start_that_the_vocabulary_does_not_have_is_left_out_and_named(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"tokenizer.ggml.bos_token_id": 99_999, "tokenizer.ggml.add_bos_token": True}
    imported = import_model(gguf_file(twin("llama"), tmp_path / "twin.gguf", **settings), tmp_path / "ours")
    assert any("99999" in warning for warning in imported.warnings)
    model = LanguageModel.load(tmp_path / "ours")
    assert model.generate("the cat", tokens=2, seed=1).prompt_tokens == len(model.tokenizer.encode("the cat"))
