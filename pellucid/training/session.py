"""The steps of a training session that are the same for every kind of model, in the order in which they happen.

`train_translator` and `train_lm` combine them. A session begins a run, or continues it from the latest checkpoint, and
ends with the run or with an interruption.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pellucid.distributed import launched_size
from pellucid.errors import UserError
from pellucid.storage.model_folder import prepare_output, read_json, write_json
from pellucid.training.calibration import Calibration, MakeTask, calibrate
from pellucid.training.clock import Clock
from pellucid.training.compiling import check_compiler
from pellucid.training.loop import train
from pellucid.training.memory_fit import check_fits, fit_micro_batch
from pellucid.training.optimizer import WeightAverage, adamw
from pellucid.training.precision import training_dtype
from pellucid.training.pretrained_embeddings import freeze_matched_rows, load_vectors
from pellucid.training.recipe import AnyRecipe, Recipe
from pellucid.training.replicas import dismiss_followers, lead
from pellucid.training.request import RunSpec
from pellucid.training.run import Run
from pellucid.training.run_folder import (
    explain_finished_run,
    is_finished,
    load_checkpoint,
    restore_run,
    save_best_weights,
)
from pellucid.training.state import Step
from pellucid.training.task import Task

__all__ = [
    "begin_session",
    "build_run",
    "check_spec",
    "continue_folder",
    "continue_run",
    "data_folder",
    "fit_memory",
    "measure_choices",
    "open_led_run",
    "replace_folder",
    "report_unread_files",
    "staging_folder",
    "train_to_end",
]


def check_spec(spec: RunSpec[AnyRecipe]) -> None:
    """Check everything that does not need the text: word vectors, sizes and the compiler."""
    recipe = spec.recipe
    if recipe.model.embeddings is not None and spec.checkpoint is None:
        load_vectors(recipe.model.embeddings, recipe.model.d_model)
    vocab_size = recipe.tokenizer.vocab_size or 0
    check_fits(recipe.model, (vocab_size, vocab_size), recipe.training.average_decay is not None, spec.device)
    if recipe.training.compile:
        check_compiler(spec.device)


def begin_session(spec: RunSpec[AnyRecipe]) -> Clock:
    """Seed PyTorch and start the clock of the run."""
    torch.manual_seed(spec.recipe.training.seed)
    if spec.request.resume and spec.checkpoint is None:
        spec.log(f"{spec.folder} has no checkpoint: starting over")
    return Clock(spec.recipe.training.clock)


def staging_folder(spec: RunSpec[AnyRecipe]) -> Path:
    """Temporary folder for the prepared text, so that an existing model is untouched if the text is rejected."""
    return spec.folder / ".prepared"


def data_folder(spec: RunSpec[AnyRecipe]) -> Path:
    """Folder of the prepared text during the run."""
    return spec.folder / "checkpoints" / "data"


def replace_folder(spec: RunSpec[AnyRecipe]) -> None:
    """Remove an earlier model from the folder, and move the prepared text to its place."""
    prepare_output(spec.folder, resume=False, overwrite=spec.request.overwrite or spec.request.resume)
    data_folder(spec).parent.mkdir(exist_ok=True)
    staging_folder(spec).rename(data_folder(spec))


def continue_folder(spec: RunSpec[AnyRecipe]) -> None:
    """Prepare the folder of a run for resuming: remove incomplete files."""
    prepare_output(spec.folder, resume=True, overwrite=False)


def report_unread_files(spec: RunSpec[AnyRecipe], report: Mapping[str, Any]) -> None:
    """Log the files that a resumed run does not read, because it keeps the text that it began with."""
    other = [str(source) for source in spec.request.sources if str(source) not in report["files"]]
    other += [str(file) for file in spec.request.valid if str(file) not in report["validation"].get("files", ())]
    if other:
        spec.log(f"The run continues with its original text; not read: {', '.join(other)}")


def measure_choices(
    spec: RunSpec[AnyRecipe], recipe: AnyRecipe, build: Callable[[AnyRecipe], tuple[nn.Module, MakeTask]]
) -> tuple[AnyRecipe, Calibration]:
    """Choose precision and processes by what is faster here, unless the recipe gives them.

    Args:
        build: makes an initialised model of a recipe's sizes, and what makes its task.

    Returns:
        The recipe with the choices, and what was measured.
    """
    launched, config = launched_size(), recipe.training
    if launched > 1:
        config = config.model_copy(update={"processes": 1})
    measured = calibrate(config, *build(recipe))
    measured = replace(measured, tokens_per_second=measured.tokens_per_second * launched)
    chosen = {"precision": measured.precision, "processes": measured.processes}
    return recipe.model_copy(update={"training": recipe.training.model_copy(update=chosen)}), measured


def build_run(spec: RunSpec[AnyRecipe], recipe: AnyRecipe, model: nn.Module, task: Task[Any], clock: Clock) -> Run:
    """Create a run with a fresh optimizer and, if the recipe asks for one, a weight average."""
    training = recipe.training
    return Run(
        config=training,
        model=model,
        optimizer=adamw(model, training),
        average=None if training.average_decay is None else WeightAverage(model, training.average_decay),
        task=task,
        micro_batch_tokens=training.micro_batch_tokens or training.batch_tokens,
        clock=clock,
        folder=spec.folder,
    )


def continue_run(run: Run, spec: RunSpec[AnyRecipe]) -> bool:
    """Restore a run from its checkpoint; return whether anything is left to do."""
    assert spec.checkpoint is not None
    restore_run(run, spec.checkpoint)
    spec.log(explain_finished_run(run) if run.is_over() else f"Continuing from step {run.state.step:,}")
    if run.is_over() and is_finished(run):
        dismiss_followers(spec.device)
        return False
    return True


def open_led_run(run: Run, spec: RunSpec[AnyRecipe]) -> Run:
    """Set a run to where its leader starts, without writing anything."""
    run.micro_batch_tokens = int(read_json(spec.folder / "config.json")["micro_batch_tokens"])
    if spec.checkpoint is not None:
        load_checkpoint(run, spec.checkpoint)
    if spec.recipe.model.freeze_embeddings:
        freeze_matched_rows(run.model, run.optimizer, data_folder(spec))
    return run


def fit_memory(run: Run, recipe: Recipe, longest: int) -> None:
    """Fit the micro-batch to free memory unless it is given, and record it with the recipe for a resume.

    Args:
        longest: longest sequence in tokens.
    """
    config = read_json(run.folder / "config.json")
    training, device = recipe.training, next(run.model.parameters()).device
    if training.micro_batch_tokens is None:
        run.micro_batch_tokens = int(
            config.get("micro_batch_tokens")
            or fit_micro_batch(
                recipe.model,
                training.batch_tokens,
                longest,
                training_dtype(training.precision),
                device,
                training.processes or 1,
            )
        )
    recorded = {"recipe": recipe.model_dump(), "micro_batch_tokens": run.micro_batch_tokens}
    write_json(run.folder / "config.json", config | recorded)


def train_to_end(run: Run, spec: RunSpec[AnyRecipe]) -> Iterator[Step]:
    """Train, save the best weights, and tell the user about them.

    Raises:
        UserError: if time ran out before the first step.
    """
    preparation_seconds = run.clock.seconds() if spec.checkpoint is None else 0.0
    with lead(run, run.config.processes or 1):
        yield from train(run)
    if not run.state.step:
        raise UserError(
            f"time ran out before the first step: preparing the text took {run.clock.seconds():.0f} s",
            where=f"training.minutes {run.config.minutes}",
            hint="Pass more --minutes, or a number of --steps; the same command with --resume then starts over.",
        )
    spec.log(save_best_weights(run))
    _warn_of_short_run(run, spec, preparation_seconds)


def _warn_of_short_run(run: Run, spec: RunSpec[AnyRecipe], preparation_seconds: float) -> None:
    """Warn if the run ended during the warm-up of its learning rate, and how much time preparation took."""
    steps, warmup, minutes = run.state.step, run.config.warmup_steps, run.config.minutes
    if steps >= warmup:
        return
    line = f"The model has barely started to learn: the run ended at step {steps:,} of a warm-up of {warmup:,} steps"
    if minutes is not None and preparation_seconds >= 1:
        line += f"; preparing the text took {preparation_seconds:.0f} s of the time"
    spec.log(f"{line}. Pass more {'--steps' if minutes is None else '--minutes'}")
