import json
from pathlib import Path

import pytest
import torch

import pellucid
from pellucid.errors import UsageError, UserError
from pellucid.generation.config import GenerationConfig
from pellucid.generation.translate import Translator
from pellucid.models.config import EncoderDecoderConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.model_files import build_translator_model, own_weights, save_weights
from tests.generation.small_translator import save_translator


@pytest.fixture
def folder(translator: Translator, tmp_path: Path) -> Path:
    return save_translator(tmp_path, translator)


def test_a_loaded_translator_translates_as_the_saved_one(translator: Translator, folder: Path) -> None:
    texts = ["The cat ate 12 fish.", "Hund"]
    loaded = pellucid.load(folder)
    assert loaded.translate(texts) == translator.translate(texts)
    assert loaded.target_language == "en"
    assert isinstance(loaded.translate("Hund"), pellucid.Translation)


def test_bfloat16_translates_too(folder: Path) -> None:
    loaded = pellucid.load(folder, precision="bfloat16")
    assert loaded.model.target_embedding.weight.dtype == torch.bfloat16
    assert loaded.translate("The cat ate 12 fish.").log_prob < 0


@pytest.mark.parametrize("tie", ["all", "output", "none"])
def test_tied_weights_are_stored_once(tie: str, tmp_path: Path) -> None:
    shape = EncoderDecoderConfig.model_validate(
        {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 1, "tie_embeddings": tie}
    )
    model = EncoderDecoder(shape, 20, 20, 0)
    names = {name for name in own_weights(model) if "embedding" in name}
    assert len(names) == {"all": 1, "output": 2, "none": 3}[tie]
    save_weights(model, tmp_path / "w.safetensors")
    config = {"model": shape.model_dump(), "source_vocab_size": 20, "target_vocab_size": 20}
    again = build_translator_model(config, tmp_path / "w.safetensors")
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))
    with pytest.raises(UserError, match=r"target_embedding.weight has shape \[20, 8\], expected \[21, 8\]"):
        build_translator_model({**config, "source_vocab_size": 21, "target_vocab_size": 21}, tmp_path / "w.safetensors")
    with pytest.raises(UserError, match="target_vocab_size is missing"):
        build_translator_model({"model": shape.model_dump(), "source_vocab_size": 20}, tmp_path / "w.safetensors")


def test_mistakes_are_told(folder: Path) -> None:
    with pytest.raises(UsageError, match="precision int8 is not there"):
        pellucid.load(folder, precision="int8")
    with pytest.raises(UsageError, match="no device nowhere"):
        pellucid.load(folder, device="nowhere")
    with pytest.raises(UserError, match="no model folder"):
        pellucid.load(folder / "missing")
    (folder / "generation_config.json").write_text(json.dumps({"beam": 0}), encoding="utf-8")
    with pytest.raises(UserError, match=r"generation_config\.json does not fit: beam"):
        pellucid.load(folder)
    (folder / "generation_config.json").unlink()
    assert pellucid.load(folder).config == GenerationConfig()
    (folder / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match="damaged"):
        pellucid.load(folder)


@pytest.mark.parametrize("heads", [[[9, 0]], [[0, 99]], 3, [1], [["a"]], [[[], []]]])
def test_alignment_heads_that_the_model_lacks_are_refused(folder: Path, heads: object) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"alignment_heads": heads}), encoding="utf-8")
    with pytest.raises(UserError, match="alignment_heads are none of"):
        pellucid.load(folder)
