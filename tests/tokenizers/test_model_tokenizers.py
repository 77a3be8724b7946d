"""The tokenizer of a model folder of any kind."""

import json
from pathlib import Path

import pytest

from pellucid.errors import UserError
from pellucid.storage.model_folder import write_config
from pellucid.tokenizers import load_model_tokenizer
from tests.generation.small_language_model import save_language_model, small_language_model
from tests.generation.small_translator import save_translator, small_translator


def test_a_translator_and_a_language_model_are_read_the_same_way(tmp_path: Path) -> None:
    translator, model = small_translator(), small_language_model()
    (tmp_path / "zh-en").mkdir()
    (tmp_path / "lm").mkdir()
    save_translator(tmp_path / "zh-en", translator)
    save_language_model(tmp_path / "lm", model)
    for side in ("source", "target"):
        tokenizer = load_model_tokenizer(tmp_path / "zh-en", side)
        assert tokenizer.encode("ab") == translator.source_tokenizer.encode("ab")
    assert load_model_tokenizer(tmp_path / "lm").encode("ab") == model.tokenizer.encode("ab")


def test_a_tokenizer_that_does_not_fit_the_model_is_rejected(tmp_path: Path) -> None:
    save_translator(tmp_path, small_translator())
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_bytes()), "target_vocab_size": 7}), encoding="utf-8")
    with pytest.raises(UserError, match=r"the tokenizers do not fit the model: it has .* and 7 target ids"):
        load_model_tokenizer(tmp_path)


def test_word_vectors_have_no_tokenizer(tmp_path: Path) -> None:
    write_config(tmp_path, "vectors", {})
    with pytest.raises(UserError, match="word vectors have no tokenizer"):
        load_model_tokenizer(tmp_path)
