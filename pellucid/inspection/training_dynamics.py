"""The same look over all checkpoints of a run: watch a head form."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from torch import nn

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.look import Look
from pellucid.inspection.recorded_run import TokenizedText
from pellucid.inspection.taps import select_taps
from pellucid.loading import load
from pellucid.storage.checkpoints import checkpoint_step, list_checkpoints
from pellucid.storage.tensors import read_tensors
from pellucid.training.run_folder import AVERAGE_PREFIX

__all__ = ["TrainingDynamics", "look_across_checkpoints"]


class TrainingDynamics(NamedTuple):
    """What a text's numbers were at every checkpoint.

    Attributes:
        steps: of training.
        arrays: by full name, a first axis `step` before those of a look.
        log_prob: mean log-probability of the target's tokens, [step]; nats.
        last: the look at the last checkpoint.
    """

    steps: tuple[int, ...]
    arrays: dict[str, LabelledArray]
    log_prob: LabelledArray
    last: Look


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
        folder: of the model, finished or in training.
        text: what is read.
        target: the translation that the decoder reads at every step; unless given, the one of the model as it is now.
        what: which numbers to keep, by names or patterns.
        averaged: whether the running average of the weights is meant, with which the model works, where there is one.
        on_progress: called with the number of checkpoints done.

    Raises:
        UserError: if the folder holds no checkpoint, for a name that no tap has, or a language model's target.
    """
    checkpoints = list_checkpoints(folder)
    if not checkpoints:
        raise UserError(
            f"{folder} holds no checkpoint",
            where=str(Path(folder) / "checkpoints"),
            hint="Train with a larger training.keep_checkpoints: a run keeps its last ones only.",
        )
    asked = load(folder, device="cpu", precision="float32")
    select_taps(asked.model, what)
    is_translator = "source_tokenizer" in vars(asked)
    if target is not None and not is_translator:
        raise UserError(
            "only translators have a target",
            where="target",
            hint="Leave target out.",
        )
    given = {} if target is None else {"target": target}
    encoded: TokenizedText = asked.look(text, what=["logits"], **given).encoded
    if is_translator:
        given = {"target": encoded.target_text}
    looks: list[Look] = []
    for number, checkpoint in enumerate(checkpoints, 1):
        _set_weights(asked.model, checkpoint / "model.safetensors", averaged)
        looks.append(asked.look(text, what=[*what, "logits"], **given))
        on_progress(number)
    axis = Axis("step", tuple(str(checkpoint_step(checkpoint)) for checkpoint in checkpoints))
    arrays = {
        name: replace(
            array,
            values=numpy.stack([look.arrays[name].values for look in looks]),
            axes=(axis, *array.axes),
        )
        for name, array in looks[-1].arrays.items()
    }
    return TrainingDynamics(
        tuple(checkpoint_step(checkpoint) for checkpoint in checkpoints),
        arrays,
        LabelledArray(
            "log_prob", numpy.array([_mean_log_prob(look) for look in looks]), (axis,), "nats",
            "mean log-probability of the target's tokens",
        ),
        looks[-1],
    )  # fmt: skip


def _set_weights(model: nn.Module, path: Path, averaged: bool) -> None:
    """Give a model the weights of a checkpoint."""
    stored: dict[str, Any] = dict(read_tensors(path))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            new = stored.get(AVERAGE_PREFIX + name, stored[name]) if averaged else stored[name]
            weight.copy_(new)


def _mean_log_prob(look: Look) -> float:
    ids = torch.tensor(look.encoded.next_tokens, dtype=torch.int64)
    log_probs = torch.from_numpy(look.logits.values).log_softmax(-1)[: len(ids)]
    return float(log_probs.gather(-1, ids[:, None]).mean()) if len(ids) else float("nan")
