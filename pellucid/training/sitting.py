"""One sitting of a run: prepare or go on, train, keep the best weights. The same whatever is trained."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from pellucid.errors import UsageError, UserError
from pellucid.generation.device import select_device
from pellucid.models.weights import save_weights
from pellucid.storage.checkpoints import checkpoint_step, latest_checkpoint, list_checkpoints, read_checkpoint
from pellucid.storage.model_folder import check_output, contains_model, prepare_output, read_json, write_json
from pellucid.training.chosen_recipe import DEFAULT, as_begun, begun_with, recipe_from_model, recipe_of_run
from pellucid.training.clock import Clock
from pellucid.training.compiling import check_compiler
from pellucid.training.loop import Run, train
from pellucid.training.optimizer import WeightAverage, adamw
from pellucid.training.precision import training_dtype
from pellucid.training.recipe import AnyRecipe, load_recipe, settings_in_file
from pellucid.training.run_folder import (
    AVERAGE_PREFIX,
    RunFolder,
    explain_finished_run,
    explain_full_disk,
    is_finished,
    restore,
    swap_weights,
)
from pellucid.training.state import Step
from pellucid.training.task import Task

__all__ = ["DATA", "Asked", "Log", "Order", "Subject", "sitting"]

Log = Callable[[str], None]

DATA = Path("checkpoints", "data")  # in the model's folder: what was prepared
STAGED = ".prepared"  # the same, before it takes the place of what stands there

AnyPrepared = TypeVar("AnyPrepared")
AnyModel = TypeVar("AnyModel", bound=nn.Module)


@dataclass(frozen=True)
class Order:
    """What the user orders; the meaning of each field is that of `train_translator` and `train_lm`."""

    sources: Sequence[str | Path]
    out: str | Path
    recipe: str | Path | None = None
    minutes: float | None = None
    steps: int | None = None
    settings: Mapping[str, object] | None = None
    valid: Sequence[str | Path] = ()
    start_from: str | Path | None = None
    resume: bool = False
    overwrite: bool = False
    device: str = "auto"
    log: Log = lambda text: None

    def given(self) -> dict[str, object]:
        """Return the settings that were given, by `section.field`."""
        length: dict[str, object] = {"training.minutes": self.minutes, "training.steps": self.steps}
        asked = self.minutes is not None or self.steps is not None
        return {**(length if asked else {}), **(self.settings or {})}


@dataclass(frozen=True)
class Asked(Generic[AnyRecipe]):
    """What was ordered, checked as far as it can be without reading the text.

    Attributes:
        given: settings by `section.field` that the user has decided.
        start_from: folder of the model to train on; None for a new one.
        begun: what config.json says the run was begun with.
    """

    sources: tuple[str | Path, ...]
    folder: Path
    recipe: AnyRecipe
    given: AbstractSet[str]
    valid: tuple[str | Path, ...]
    start_from: Path | None
    begun: Mapping[str, Any]
    resume: bool
    overwrite: bool
    device: torch.device
    log: Log


class Subject(ABC, Generic[AnyRecipe, AnyPrepared, AnyModel]):
    """What is particular to what is trained: its text, its model, its first weights, its task."""

    recipe: type[AnyRecipe]

    @abstractmethod
    def check(self, asked: Asked[AnyRecipe]) -> None:
        """Refuse what can be refused before the text is read."""

    @abstractmethod
    def prepare_pairs(self, asked: Asked[AnyRecipe], folder: Path) -> None:
        """Check the text and write what a run trains on into a folder, whole or not at all."""

    @abstractmethod
    def read(self, folder: Path, recipe: AnyRecipe) -> AnyPrepared:
        """Read what `prepare_pairs` wrote."""

    @abstractmethod
    def choose(self, asked: Asked[AnyRecipe], prepared: AnyPrepared, seconds: float) -> AnyRecipe:
        """Return the recipe with what it leaves open chosen, this many seconds into the run."""

    @abstractmethod
    def write_head(self, asked: Asked[AnyRecipe], recipe: AnyRecipe, prepared: AnyPrepared) -> None:
        """Write what makes the folder a model but for its weights."""

    @abstractmethod
    def model(self, recipe: AnyRecipe, prepared: AnyPrepared, device: torch.device) -> AnyModel:
        """Return a model, refused before any memory is taken if it does not fit."""

    @abstractmethod
    def first_weights(self, asked: Asked[AnyRecipe], recipe: AnyRecipe, prepared: AnyPrepared, model: AnyModel) -> None:
        """Draw the weights that a run begins with, or take them from the model it trains on."""

    @abstractmethod
    def task(self, recipe: AnyRecipe, prepared: AnyPrepared, model: AnyModel, folder: Path) -> Task[Any]:
        """Return what the model learns and is measured by."""

    @abstractmethod
    def check_same_text(self, asked: Asked[AnyRecipe], prepared: AnyPrepared) -> None:
        """Say which files a run that goes on does not read; refuse what it cannot heed."""

    @abstractmethod
    def freeze(self, recipe: AnyRecipe, model: AnyModel, optimizer: torch.optim.Optimizer, folder: Path) -> None:
        """Keep rows as they are that shall not be trained."""

    @abstractmethod
    def fitting_tokens(self, recipe: AnyRecipe, dtype: torch.dtype, device: torch.device) -> int:
        """Return how many tokens may pass at once."""


def sitting(subject: Subject[AnyRecipe, AnyPrepared, AnyModel], order: Order) -> Iterator[Step]:
    """Return a generator of the run's steps; what can be checked without reading the text is checked at once.

    Raises:
        UserError: for bad settings, unreadable or ruinous text, a folder that is not free, a full disk, non-finite
            loss.
    """
    given, folder, recipe = order.given(), Path(order.out), order.recipe or DEFAULT
    check_output(folder, order.resume, order.overwrite)
    begun = (
        begun_with(folder, order.recipe, order.start_from, subject.recipe)
        if order.resume
        else as_begun(order.recipe, order.start_from, subject.recipe)
    )
    model = Path(begun["from"]) if "from" in begun else None
    chosen = (
        recipe_of_run(folder, recipe, given, subject.recipe)
        if order.resume
        else load_recipe(recipe, given, subject.recipe)
    )
    goes_on = order.resume and latest_checkpoint(folder) is not None
    if model is not None and not goes_on:
        chosen = recipe_from_model(model, folder, chosen, given)
    if chosen.training.steps is None and chosen.training.minutes is None:
        raise UsageError("nothing says how long to train", hint="Give --minutes or --steps.")
    decided = settings_in_file(recipe, subject.recipe) if not (order.resume and contains_model(folder)) else frozenset()
    asked = Asked(
        sources=tuple(order.sources),
        folder=folder,
        recipe=chosen,
        given=given.keys() | decided,
        valid=tuple(order.valid),
        start_from=model,
        begun=begun,
        resume=order.resume,
        overwrite=order.overwrite,
        device=select_device(order.device),
        log=order.log,
    )
    subject.check(asked)
    if chosen.training.compile:
        check_compiler(asked.device)
    return _train(subject, asked)


def say_what_is_not_read(asked: Asked[AnyRecipe], report: Mapping[str, Any]) -> None:
    """Say which files a run that goes on with the text it began with does not read."""
    other = [str(source) for source in asked.sources if str(source) not in report["files"]]
    other += [str(file) for file in asked.valid if str(file) not in report["validation"].get("files", ())]
    if other:
        asked.log(f"The run goes on with the text it began with; not read: {', '.join(other)}")


def _train(subject: Subject[AnyRecipe, AnyPrepared, AnyModel], asked: Asked[AnyRecipe]) -> Iterator[Step]:
    """Prepare or go on, train, choose the best weights, report."""
    folder, recipe = asked.folder, asked.recipe
    torch.manual_seed(recipe.training.seed)
    clock = Clock(recipe.training.clock)
    checkpoint = latest_checkpoint(folder) if asked.resume else None
    if checkpoint is None:
        if asked.resume:
            asked.log(f"{folder} has no checkpoint: starting over")
        # Beside what stands in the folder: if the text is refused, the model it would replace stays.
        subject.prepare_pairs(asked, folder / STAGED)
    with explain_full_disk(folder, asked.overwrite):
        if checkpoint is None:
            recipe, prepared = _begin(subject, asked, clock)
        else:
            prepare_output(folder, resume=True, overwrite=False)
            prepared = subject.read(folder / DATA, recipe)
        model = subject.model(recipe, prepared, asked.device)
        if checkpoint is None:
            subject.first_weights(asked, recipe, prepared, model)
        run = _new_run(subject, asked, recipe, (model.to(asked.device), prepared), clock)
        if checkpoint is not None:
            subject.check_same_text(asked, prepared)
            restore(run, checkpoint, folder)
            asked.log(explain_finished_run(run) if run.is_over() else f"Going on from step {run.state.step:,}")
            if run.is_over() and is_finished(run, folder):
                return
        subject.freeze(recipe, model, run.optimizer, folder)
        _fit_memory(subject, run, asked, recipe)
        preparation_seconds = clock.seconds() if checkpoint is None else 0.0
        yield from train(run)
        if not run.state.step:
            raise UserError(
                f"the time was over before the first step: preparing the text took {clock.seconds():.0f} s",
                where=f"training.minutes {recipe.training.minutes}",
                hint="give more --minutes, or a number of --steps; the same command with --resume and more starts over",
            )
        _finish(run, asked)
        for line in _hardly_begun(run, preparation_seconds):
            asked.log(line)


def _hardly_begun(run: Run, preparation_seconds: float) -> list[str]:
    """Say so where a run ended while its learning rate was still rising, and where its time went."""
    steps, warmup = run.state.step, run.config.warmup_steps
    if steps >= warmup:
        return []
    said = "The model has hardly begun to learn: "
    said += f"{steps:,} updates, and the learning rate rises for the first {warmup:,}"
    if run.config.minutes is None:
        return [f"{said}. Give more --steps"]
    spent = f"; preparing the text took {preparation_seconds:.0f} s of the time" if preparation_seconds >= 1 else ""
    return [f"{said}{spent}. Give more --minutes"]


def _begin(
    subject: Subject[AnyRecipe, AnyPrepared, AnyModel], asked: Asked[AnyRecipe], clock: Clock
) -> tuple[AnyRecipe, AnyPrepared]:
    """Put what was prepared in its place, choose what the recipe leaves open, and begin the model's folder."""
    data = asked.folder / DATA
    prepare_output(asked.folder, resume=False, overwrite=asked.overwrite or asked.resume)
    data.parent.mkdir(exist_ok=True)
    (asked.folder / STAGED).rename(data)
    prepared = subject.read(data, asked.recipe)
    recipe = subject.choose(asked, prepared, clock.seconds()) if asked.recipe.training.adapt else asked.recipe
    if recipe is not asked.recipe:  # read as a resume would: windows of the context that was chosen
        prepared = subject.read(data, recipe)
    subject.write_head(asked, recipe, prepared)
    return recipe, prepared


def _new_run(
    subject: Subject[AnyRecipe, AnyPrepared, AnyModel],
    asked: Asked[AnyRecipe],
    recipe: AnyRecipe,
    trained: tuple[AnyModel, AnyPrepared],
    clock: Clock,
) -> Run:
    model, prepared = trained
    training = recipe.training
    return Run(
        config=training,
        model=model,
        optimizer=adamw(model, training),
        average=None if training.average_decay is None else WeightAverage(model, training.average_decay),
        task=subject.task(recipe, prepared, model, asked.folder),
        micro_batch_tokens=training.micro_batch_tokens or training.batch_tokens,
        clock=clock,
        observer=RunFolder(asked.folder),
    )


def _fit_memory(
    subject: Subject[AnyRecipe, AnyPrepared, AnyModel], run: Run, asked: Asked[AnyRecipe], recipe: AnyRecipe
) -> None:
    """Fit the micro-batch to memory unless given; keep it and the recipe as it is now, so that a resume finds both."""
    config = read_json(asked.folder / "config.json")
    training = recipe.training
    if training.micro_batch_tokens is None:
        dtype = training_dtype(training.precision, asked.device)
        run.micro_batch_tokens = int(
            config.get("micro_batch_tokens") or subject.fitting_tokens(recipe, dtype, asked.device)
        )
    now = {"recipe": recipe.model_dump(), "micro_batch_tokens": run.micro_batch_tokens}
    write_json(asked.folder / "config.json", config | now)


def _finish(run: Run, asked: Asked[AnyRecipe]) -> None:
    """Keep the weights with the lowest validation loss: the last, their average, or those of the best checkpoint."""
    folder = asked.folder
    measured: dict[str, float | None] = {}
    for name, weights in _choices(run, folder, asked.device):
        with swap_weights(run.model, weights):
            measured[name] = run.task.validation_loss()
            best = min(measured, key=lambda name: measured[name] or 0.0)
            if best == name:
                save_weights(run.model, folder / "model.safetensors")
    losses = {name: loss for name, loss in measured.items() if loss is not None}
    chosen = min(measured, key=lambda name: measured[name] or 0.0)
    report = read_json(folder / "report.json")
    report["training"] = {
        "steps": run.state.step,
        "epochs": run.state.epoch,
        "target_tokens": run.state.tokens,
        "seconds": run.state.seconds,
        "threads": torch.get_num_threads(),
        "device": str(asked.device),
        "precision": str(training_dtype(run.config.precision, asked.device)).removeprefix("torch."),
        "weights": chosen,
        "validation_losses": losses,
        "stopped_early": run.stopped_early(),
    }
    write_json(folder / "report.json", report)
    said = f": validation loss {losses[chosen]:.3f}" if chosen in losses else ""
    asked.log(f"{folder} holds the {chosen} weights{said}")


def _choices(run: Run, folder: Path, device: torch.device) -> Iterator[tuple[str, dict[str, torch.Tensor] | None]]:
    """Yield names and weights to choose from, what to prefer at equal loss first; None for the model's own."""
    averaged = run.averaged()
    if averaged is not None:
        yield "averaged", averaged
    yield "last", None
    best = run.state.best_step
    for checkpoint in list_checkpoints(folder):
        if checkpoint_step(checkpoint) == best != run.state.step:
            content = read_checkpoint(checkpoint, str(device))
            own = {name: weight for name, weight in content.model.items() if not name.startswith(AVERAGE_PREFIX)}
            means = {name: content.model.get(AVERAGE_PREFIX + name, weight) for name, weight in own.items()}
            yield "best", means if content.state["average_updates"] else own
