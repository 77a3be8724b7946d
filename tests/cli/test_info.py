import json
from pathlib import Path

import pytest
import torch

from pellucid.storage.description import count_parameters_by_part, describe_model
from pellucid.storage.metrics import append_metrics
from pellucid.storage.model_folder import write_config, write_json
from pellucid.storage.tensors import TensorShape, write_tensors
from tests.conftest import Run


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "zh-en"
    folder.mkdir()
    shape = {"d_model": 4, "n_kv_heads": None}
    recipe = {"model": shape, "training": {"steps": 31}}
    write_config(folder, "translator", {"model": shape, "languages": ["zh", "en"], "recipe": recipe})
    write_tensors(
        folder / "model.safetensors",
        {
            "target_embedding.weight": torch.zeros(10, 4),
            "encoder.0.self_attention.query.weight": torch.zeros(4, 4),
            "encoder.1.self_attention.query.bias": torch.zeros(4),
            "scale": torch.zeros(3),
        },
    )
    write_json(folder / "report.json", {"data": {"pairs": 27_600, "issues": [{"check": "blank"}]}, "bleu": 33.123456})
    for step, loss in ((10, 3.5), (20, 2.5), (30, 2.75)):
        append_metrics(folder, {"step": step, "valid_loss": loss})
    append_metrics(folder, {"step": 31, "loss": 2.0})
    return folder


def test_parameters_are_counted_by_part_over_all_layers(model: Path) -> None:
    assert describe_model(model)["parameters"] == {
        "encoder.self_attention": 20,
        "scale": 3,
        "target_embedding": 40,
        "total": 63,
    }
    assert count_parameters_by_part({"a.0.b.c.weight": TensorShape("F32", (2, 3))}) == {"a.b": 6, "total": 6}


def test_the_best_validation_is_found(model: Path) -> None:
    training = describe_model(model)["training"]
    assert training["best"] == {"step": 20, "valid_loss": 2.5}
    assert training["last"] == {"step": 31, "loss": 2.0}


def test_the_description_is_readable_text(model: Path, run_pellucid: Run) -> None:
    shown = run_pellucid("info", model)
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert lines[0].startswith(f"{model}: a translator")
    for line in (
        "total 63",
        "model.d_model 4",
        "training.steps 31",
        "languages zh, en",
        "data.pairs 27,600",
        "data.issues 1 entry",
        "bleu 33.12",
        "valid_loss 2.5",
    ):
        assert lines.count(line) == 1, line


def test_json_is_the_whole_description(model: Path, run_pellucid: Run) -> None:
    shown = run_pellucid("info", model, "--json")
    assert json.loads(shown.stdout) == json.loads(json.dumps(describe_model(model)))
    assert json.loads(shown.stdout)["report"]["data"]["pairs"] == 27_600


def test_a_model_without_weights_yet_is_described(model: Path, run_pellucid: Run) -> None:
    (model / "model.safetensors").unlink()
    shown = run_pellucid("info", model)
    assert shown.returncode == 0
    assert "there are no weights yet" in shown.stderr
    assert "model.d_model" in shown.stdout


def test_a_folder_without_a_model_is_a_user_error(tmp_path: Path, run_pellucid: Run) -> None:
    shown = run_pellucid("info", tmp_path, "--json")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert json.loads(shown.stderr)["where"] == [str(tmp_path / "config.json")]
