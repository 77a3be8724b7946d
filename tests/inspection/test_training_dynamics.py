"""The same look over the checkpoints of a run."""

from pathlib import Path

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.training_dynamics import look_across_checkpoints
from pellucid.models.weights import unique_weights
from pellucid.storage.checkpoints import Checkpoint, write_checkpoint
from tests.generation.small_language_model import save_language_model, small_language_model
from tests.generation.small_translator import save_translator
from tests.inspection.conftest import TARGET, TEXT, translator_of


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three checkpoints, the weights growing, averages half as large."""
    translator = translator_of("sinusoidal")
    folder = save_translator(tmp_path, translator)
    for step, factor in ((5, 0.25), (10, 0.5), (15, 1.0)):
        weights = {name: weight * factor for name, weight in unique_weights(translator.model).items()}
        averaged = {f"averaged.{name}": weight / 2 for name, weight in weights.items()}
        write_checkpoint(folder, Checkpoint(step, {**weights, **averaged}, {"x": torch.zeros(1)}, {}))
    return folder


def test_each_step_is_a_look_with_its_weights(run: Path) -> None:
    found = look_across_checkpoints(
        run, TEXT, target=TARGET, what=["decoder.1.cross_attention.weights"], averaged=False
    )
    assert found.steps == (5, 10, 15)
    weights = found.arrays["decoder.1.cross_attention.weights"]
    assert weights.axes[0].name == "step"
    assert weights.labels("step") == ("5", "10", "15")
    now = translator_of("sinusoidal").look(TEXT, target=TARGET)
    numpy.testing.assert_allclose(weights.values[-1], now["decoder.1.cross_attention.weights"].values, atol=1e-6)
    assert not numpy.allclose(weights.values[0], weights.values[-1])
    log_probs = torch.from_numpy(now.logits.values).log_softmax(-1).numpy()
    mean = numpy.mean([log_probs[i, number] for i, number in enumerate(now.encoded.next_tokens)])
    assert found.log_prob.values[-1] == pytest.approx(float(mean), abs=1e-5)


def test_averages_are_meant_unless_told(run: Path) -> None:
    means = look_across_checkpoints(run, TEXT, target=TARGET)
    plain = look_across_checkpoints(run, TEXT, target=TARGET, averaged=False)
    name = "encoder.0.self_attention.weights"
    numpy.testing.assert_allclose(means.arrays[name].values[2], plain.arrays[name].values[1], atol=1e-6)


def test_a_folder_without_checkpoints_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no checkpoint"):
        look_across_checkpoints(save_translator(tmp_path, translator_of("rope")), TEXT)


def test_what_does_not_fit_is_said(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="what is a list of names, got the text 'logits'"):
        look_across_checkpoints(run, TEXT, what="logits")
    (tmp_path / "lm").mkdir()
    model = save_language_model(tmp_path / "lm", small_language_model())
    weights = unique_weights(small_language_model().model)
    write_checkpoint(model, Checkpoint(1, weights, {"x": torch.zeros(1)}, {}))
    with pytest.raises(UserError, match="only translators have a target"):
        look_across_checkpoints(model, TEXT, target=TARGET)
