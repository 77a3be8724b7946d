"""Look at one text with the weights of every checkpoint of a training run: watch a head form."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from torch import nn

from pellucid.errors import UserError
from pellucid.generation.text_model import TextModel
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.encoding import encode_text, encode_translation, inspect_network
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recording import RecordedRun, record_run
from pellucid.inspection.taps import select_taps
from pellucid.storage.checkpoints import checkpoint_step, list_checkpoints
from pellucid.storage.model_folder import read_config
from pellucid.storage.tensors import read_tensors
from pellucid.training.run_folder import AVERAGE_PREFIX

__all__ = ["TrainingDynamics", "look_across_checkpoints"]


class TrainingDynamics(NamedTuple):
    """The numbers of a text at every checkpoint.

    Attributes:
        arrays: by full name, with an axis `step` before those of a look.
        log_prob: mean log-probability of the next tokens, [step]; nats.
    """

    steps: tuple[int, ...]
    arrays: dict[str, LabelledArray]
    log_prob: LabelledArray
    last: RecordedRun


def look_across_checkpoints(
    folder: str | Path,
    text: str,
    *,
    target: str | None = None,
    what: Sequence[str] = ("*.weights",),
    averaged: bool = True,
    on_progress: Callable[[int], object] = lambda done: None,
) -> TrainingDynamics:
    """Look at one text with the weights of every checkpoint of a run.

    Args:
        target: the translation that the decoder reads at every step; unless given, that of the final model.
        what: names or patterns of the taps to record.
        averaged: use the running average of the weights, which the finished model has, where there is one.
        on_progress: called with the number of checkpoints done.

    Raises:
        UserError: if the folder has no checkpoint, for a name that no tap has, or for a target of a language model.
    """
    checkpoints = list_checkpoints(folder)
    if not checkpoints:
        raise UserError(
            f"{folder} has no checkpoint",
            where=str(Path(folder) / "checkpoints"),
            hint="Train with a larger training.keep_checkpoints: a run keeps only its last ones.",
        )
    kind = TranslationModel if read_config(folder)["kind"] == "translator" else TextModel
    model = kind.load(folder, device="cpu", precision="float32")
    select_taps(model.model, what)
    if isinstance(model, TranslationModel):
        encoded = encode_translation(model, text, target)
        encoded = encode_translation(model, text, encoded.target_text)
    elif target is None:
        encoded = encode_text(model, text)
    else:
        raise UserError("only translators have a target", where="target", hint="Leave the target out.")
    runs: list[RecordedRun] = []
    for number, checkpoint in enumerate(checkpoints, 1):
        _set_weights(model.model, checkpoint / "model.safetensors", averaged)
        runs.append(record_run(RecordedRun, inspect_network(model), encoded, [*what, "logits"]))
        on_progress(number)
    steps = tuple(checkpoint_step(checkpoint) for checkpoint in checkpoints)
    axis = Axis("step", tuple(map(str, steps)))
    stacked = {
        name: replace(array, values=numpy.stack([run.arrays[name].values for run in runs]), axes=(axis, *array.axes))
        for name, array in runs[-1].arrays.items()
    }
    means = [float(run.next_log_probs().mean()) if run.next_tokens else float("nan") for run in runs]
    meaning = "mean log-probability of the next tokens"
    return TrainingDynamics(
        steps, stacked, LabelledArray("log_prob", numpy.array(means), (axis,), "nats", meaning), runs[-1]
    )


def _set_weights(model: nn.Module, path: Path, averaged: bool) -> None:
    stored: dict[str, Any] = dict(read_tensors(path))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(stored.get(AVERAGE_PREFIX + name, stored[name]) if averaged else stored[name])
