"""Model folders that are damaged on the disk: told as such, whatever is asked of the model."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from pellucid.corpus.documents import Document
from pellucid.corpus.pairs import Location
from pellucid.errors import UserError
from pellucid.evaluation.perplexity import measure_texts
from pellucid.language_model import LanguageModel
from pellucid.storage.tensors import read_tensors, write_tensors
from tests.generation.small_language_model import save_language_model, small_language_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_language_model(tmp_path, small_language_model())


@pytest.mark.parametrize(
    ("field", "value"), [("n_layers", 10**9), ("d_model", 10**12), ("d_ff", 10**15), ("n_layers", 3), ("d_ff", 8)]
)
def test_sizes_that_are_not_those_of_the_weights_take_no_memory(folder: Path, field: str, value: int) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["model"][field] = value
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match=r"config\.json"):
        LanguageModel.load(folder)


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 1.0}, {"top_k": 3, "top_p": 0.5}])
def test_a_model_of_numbers_that_are_none_says_so(folder: Path, settings: dict[str, Any]) -> None:
    weights = read_tensors(folder / "model.safetensors")
    next(iter(weights.values())).fill_(torch.nan)
    write_tensors(folder / "model.safetensors", weights)
    model = LanguageModel.load(folder)
    with pytest.raises(UserError, match="NaN or infinite"):
        model.generate("The cat", **settings)
    with pytest.raises(UserError, match="NaN or infinite"):
        model.score("The cat")
    with pytest.raises(UserError, match="NaN or infinite"):
        measure_texts(model, [Document("The cat", Location("a.txt", 1))])
