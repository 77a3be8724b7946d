"""Hugging Face folders: the same logits, the same ids, the same conversation, and refusals that say what is unknown."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from safetensors.torch import load_file, save_file

from pellucid.errors import UserError
from pellucid.interop.import_model import import_model
from pellucid.models.weights import load_decoder_only
from pellucid.storage.model_folder import read_config
from pellucid.tokenizers import ImportedTokenizer, load_language_tokenizer
from pellucid.tokenizers.chat_template import load_chat_template
from tests.interop.twins import IDS, TEXT, expected_logits, huggingface_folder, twin

CLOSE: Any = {"rtol": 1e-4, "atol": 1e-4}  # float32 sums in another order


def logits_of(folder: Path) -> Any:
    model = load_decoder_only(read_config(folder, "language-model"), folder / "model.safetensors")
    with torch.inference_mode():
        return model(torch.tensor([IDS]))[0].numpy()


def change(folder: Path, **settings: Any) -> None:
    """Change settings of config.json; None takes one out."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | settings
    kept = {name: value for name, value in config.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return huggingface_folder(twin("llama"), tmp_path_factory.mktemp("hf") / "llama")


@pytest.fixture
def copy(llama: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in llama.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.mark.parametrize("name", ["gpt2", "llama", "llama3", "qwen2", "qwen3"])
def test_the_logits_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    model = twin(name)
    imported = import_model(huggingface_folder(model, tmp_path / "theirs"), tmp_path / "ours")
    numpy.testing.assert_allclose(logits_of(tmp_path / "ours"), expected_logits(model), **CLOSE)
    assert imported.parameters == sum(weight.numel() for weight in model.parameters())


def test_weights_in_several_files_are_one_model(tmp_path: Path) -> None:
    model = twin("qwen3")
    folder = huggingface_folder(model, tmp_path / "theirs", max_shard_size="20KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    import_model(folder, tmp_path / "ours")
    numpy.testing.assert_allclose(logits_of(tmp_path / "ours"), expected_logits(model), **CLOSE)
    next(folder.glob("*.safetensors")).unlink()
    with pytest.raises(UserError, match="is missing, one of the"):
        import_model(folder, tmp_path / "again")


def test_weights_of_16_bits_stay_as_they_are(tmp_path: Path) -> None:
    model = twin("llama")
    for parameter in model.parameters():
        parameter.data = parameter.data.bfloat16()
    import_model(huggingface_folder(model, tmp_path / "theirs"), tmp_path / "ours")
    stored = load_file(tmp_path / "ours" / "model.safetensors")
    assert {weight.dtype for weight in stored.values()} == {torch.bfloat16}
    for parameter in model.parameters():
        parameter.data = parameter.data.float()
    numpy.testing.assert_allclose(logits_of(tmp_path / "ours"), expected_logits(model), **CLOSE)


def test_gpt2_without_the_prefix_of_its_names_is_read(tmp_path: Path) -> None:
    model = twin("gpt2")
    folder = huggingface_folder(model, tmp_path / "theirs")
    weights = load_file(folder / "model.safetensors")
    plain = {name.removeprefix("transformer."): weight for name, weight in weights.items()}
    plain["h.0.attn.bias"] = torch.ones(1, 1, 64, 64).tril()  # the mask, as the first files have it
    save_file(plain, folder / "model.safetensors")
    import_model(folder, tmp_path / "ours")
    numpy.testing.assert_allclose(logits_of(tmp_path / "ours"), expected_logits(model), **CLOSE)


def test_ids_and_conversations_are_those_of_transformers(llama: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(llama)
    imported = import_model(llama, tmp_path / "ours")
    tokenizer = load_language_tokenizer(tmp_path / "ours")
    assert isinstance(tokenizer, ImportedTokenizer)
    for text in TEXT:
        assert tokenizer.encode(text) == theirs.encode(text, add_special_tokens=False)
    assert (tokenizer.start_id, tokenizer.end_ids, tokenizer.adds_start) == (1, (2,), False)
    template = load_chat_template(tmp_path / "ours", tokenizer)
    assert template is not None and imported.chat
    said = [{"role": "user", "content": "那只猫?\n"}, {"role": "assistant", "content": " 吃了。"}]
    rendered = theirs.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    assert template.render(said) == rendered
    assert template.encode(said) == theirs.encode(rendered, add_special_tokens=False)


def test_a_folder_with_pickles_only_is_refused(copy: Path, tmp_path: Path) -> None:
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"only as a pickle, pytorch_model\.bin") as refused:
        import_model(copy, tmp_path / "ours")
    assert "safe_serialization" in refused.value.hint
    assert not (tmp_path / "ours").exists()


def test_an_unknown_architecture_is_named(copy: Path, tmp_path: Path) -> None:
    change(copy, model_type="mamba")
    with pytest.raises(UserError, match="architecture mamba is not known; known are gpt2, llama"):
        import_model(copy, tmp_path / "ours")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"hidden_act": "relu"}, "hidden_act is 'relu'"),
        ({"attention_bias": True}, "mlp_bias is False"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "rotary scaling yarn"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_parameters": None}, "rotary scaling linear"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"num_hidden_layers": "2"}, "num_hidden_layers is '2'"),
        ({"num_attention_heads": 3, "head_dim": None}, "is not a multiple"),
    ],
)
def test_a_setting_that_would_change_what_it_says_is_named(
    copy: Path, tmp_path: Path, settings: dict[str, Any], what: str
) -> None:
    change(copy, **settings)
    with pytest.raises(UserError, match=what) as refused:
        import_model(copy, tmp_path / "ours")
    assert "config.json" in refused.value.where[0]


def test_a_sliding_window_shortens_the_context_and_says_so(copy: Path, tmp_path: Path) -> None:
    change(copy, model_type="mistral", sliding_window=16)
    imported = import_model(copy, tmp_path / "ours")
    assert imported.context == 16
    assert "looks back 16 tokens only" in imported.warnings[0]


@pytest.mark.parametrize(
    ("name", "shape", "what"),
    [
        ("model.layers.1.mlp.up_proj.weight", None, "model.layers.1.mlp.up_proj.weight is missing"),
        ("model.layers.1.mlp.up_proj.weight", (3, 3), r"its shape is \[3, 3\], expected \[64, 32\]"),
        ("model.layers.2.input_layernorm.weight", (32,), "no tensor model.layers.2.input_layernorm.weight"),
        ("score.weight", (2, 32), "llama has no tensor score.weight"),
    ],
)
def test_a_tensor_that_does_not_belong_is_named(
    copy: Path, tmp_path: Path, name: str, shape: tuple[int, ...] | None, what: str
) -> None:
    weights = load_file(copy / "model.safetensors")
    weights.pop(name, None)
    if shape is not None:
        weights[name] = torch.zeros(shape)
    save_file(weights, copy / "model.safetensors")
    with pytest.raises(UserError, match=what):
        import_model(copy, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def test_without_tokenizer_json_it_says_how_to_write_one(copy: Path, tmp_path: Path) -> None:
    (copy / "tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"has no tokenizer\.json") as refused:
        import_model(copy, tmp_path / "ours")
    assert "save_pretrained" in refused.value.hint


def test_what_is_no_model_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no"):
        import_model(tmp_path / "nothing", tmp_path / "ours")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"config\.json is missing"):
        import_model(tmp_path / "empty", tmp_path / "ours")
    (tmp_path / "text.gguf").write_text("no", encoding="utf-8")
    with pytest.raises(UserError, match="is no GGUF file"):
        import_model(tmp_path / "text.gguf", tmp_path / "ours")


def test_a_model_is_replaced_only_if_told(llama: Path, tmp_path: Path) -> None:
    import_model(llama, tmp_path / "ours")
    with pytest.raises(UserError, match="holds a model already"):
        import_model(llama, tmp_path / "ours")
    import_model(llama, tmp_path / "ours", overwrite=True)
