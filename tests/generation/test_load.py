import json
from pathlib import Path

import pytest
import torch

import pellucid
from pellucid import WordVectors
from pellucid.errors import UsageError, UserError
from pellucid.generation.generation_config import GenerationConfig
from pellucid.language_model import LanguageModel
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.weights import load_encoder_decoder, save_weights, unique_weights
from pellucid.translator import Translator
from tests.generation.small_language_model import (
    imported_language_model,
    save_language_model,
    small_language_model,
)
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
    names = {name for name in unique_weights(model) if "embedding" in name}
    assert len(names) == {"all": 1, "output": 2, "none": 3}[tie]
    save_weights(model, tmp_path / "w.safetensors")
    config = {"model": shape.model_dump(), "source_vocab_size": 20, "target_vocab_size": 20}
    again = load_encoder_decoder(config, tmp_path / "w.safetensors")
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True))
    with pytest.raises(UserError, match=r"target_embedding.weight has shape \[20, 8\], expected \[21, 8\]"):
        load_encoder_decoder({**config, "source_vocab_size": 21, "target_vocab_size": 21}, tmp_path / "w.safetensors")
    with pytest.raises(UserError, match="target_vocab_size is missing"):
        load_encoder_decoder({"model": shape.model_dump(), "source_vocab_size": 20}, tmp_path / "w.safetensors")


def test_mistakes_are_told(folder: Path) -> None:
    with pytest.raises(UsageError, match="does not run in precision int8"):
        pellucid.load(folder, precision="int8")
    with pytest.raises(UsageError, match="device nowhere is not available"):
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
    with pytest.raises(UserError, match="alignment_heads names decoder heads"):
        pellucid.load(folder)


def test_each_kind_of_model_is_loaded_as_what_it_is(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    own = save_language_model(tmp_path_factory.mktemp("own"), small_language_model())
    assert isinstance(pellucid.load(folder), Translator)
    assert isinstance(pellucid.load(own), LanguageModel)
    with pytest.raises(UserError, match=r"expected a language model, but .* holds a translator"):
        LanguageModel.load(folder)


def test_word_vectors_are_loaded_from_a_folder_or_a_file(tmp_path: Path) -> None:
    vectors = WordVectors(["king", "queen"], [[1.0, 2.0], [2.0, 1.0]])
    for name in ("folder", "v.bin"):
        vectors.save(tmp_path / name)
        loaded = pellucid.load(tmp_path / name)
        assert isinstance(loaded, WordVectors)
        assert [word for word, _ in loaded.similar("king")] == ["queen"]
    with pytest.raises(UsageError, match="word vectors are on the CPU in float32"):
        pellucid.load(tmp_path / "folder", precision="bfloat16")


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model folder at"):
        pellucid.load(tmp_path / "none")
    with pytest.raises(UserError, match="holds no model"):
        pellucid.load(tmp_path)


def test_a_loaded_language_model_continues_as_the_saved_one(tmp_path: Path) -> None:
    model = small_language_model()
    save_language_model(tmp_path, model)
    loaded = pellucid.load(tmp_path)
    assert loaded.generate("The cat").text == model.generate("The cat").text
    assert loaded.config == model.config
    assert loaded.conversation is None


def test_an_imported_language_model_brings_its_tokenizer_and_its_template(tmp_path: Path) -> None:
    model = imported_language_model()
    save_language_model(tmp_path, model)
    loaded = pellucid.load(tmp_path)
    said = [{"role": "user", "content": "<|end|> 猫"}]
    assert loaded.chat(said).text == model.chat(said).text
    assert model.conversation is not None
    assert model.conversation.encode(said).count(2) == 1  # what spells the end is text


def test_settings_that_do_not_fit_a_language_model_are_told(tmp_path: Path) -> None:
    save_language_model(tmp_path, small_language_model())
    (tmp_path / "generation_config.json").write_text(json.dumps({"top_p": 2}), encoding="utf-8")
    with pytest.raises(UserError, match=r"generation_config\.json does not fit: top_p"):
        pellucid.load(tmp_path)
