"""From what the user asks for to the specification of a run: which recipe applies, and where training starts."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import torch

from pellucid.errors import UsageError, UserError
from pellucid.generation.device import select_device
from pellucid.storage.checkpoints import latest_checkpoint
from pellucid.storage.model_folder import check_output, contains_model, read_config
from pellucid.training.recipe import (
    AnyRecipe,
    Recipe,
    load_recipe,
    read_recipe_file,
    reject_changed_settings,
    settings_in_file,
    settings_of,
)

__all__ = ["DEFAULT_RECIPE", "Log", "RunSpec", "TrainingRequest", "ignore", "resolve", "settings_with_length"]

Log = Callable[[str], None]
"""Receives the lines that tell how a training run progresses."""

DEFAULT_RECIPE = "fast"

# Settings of `training.*` that a resumed run keeps: they shaped the prepared text, or define the guided heads.
_FIXED = ("max_tokens", "guided_layer", "guided_heads")

_START_OVER = "A resumed run keeps it: leave it out, or start over with --overwrite or in another folder."


def ignore(line: str) -> None:
    """Discard a line of progress."""


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """What the user asks for; `train_translator` and `train_lm` document the fields.

    Attributes:
        settings: values by `section.field`, the length of the run included.
    """

    sources: tuple[str | Path, ...]
    out: Path
    recipe: str | Path | None
    settings: Mapping[str, object]
    valid: tuple[str | Path, ...]
    start_from: Path | None
    resume: bool
    overwrite: bool
    device: str
    log: Log


def follow_request(folder: Path, device: torch.device) -> TrainingRequest:
    """Ask for the run in `folder` as it stands, to follow the process that leads it."""
    return TrainingRequest(
        sources=(),
        out=folder,
        recipe=None,
        settings={},
        valid=(),
        start_from=None,
        resume=True,
        overwrite=False,
        device=str(device),
        log=ignore,
    )


@dataclass(frozen=True)
class RunSpec(Generic[AnyRecipe]):
    """What a run is made of, checked as far as possible without reading the text.

    Attributes:
        request: what the user asked for.
        recipe: the recipe that applies, with all overrides.
        decided: settings by `section.field` that the user or a recipe file gave; `training.adapt` leaves them alone.
        begun_with: recipe and start model of the run, as recorded in config.json.
        checkpoint: folder to continue from; None if the run starts at step 0.
        start_from: folder of the model whose weights the run starts from; None for newly initialised weights.
        device: where the model is trained.
    """

    request: TrainingRequest
    recipe: AnyRecipe
    decided: AbstractSet[str]
    begun_with: Mapping[str, Any]
    checkpoint: Path | None
    start_from: Path | None
    device: torch.device

    @property
    def folder(self) -> Path:
        """Folder of the model."""
        return self.request.out

    def log(self, line: str) -> None:
        """Report progress to the user."""
        self.request.log(line)


def settings_with_length(
    settings: Mapping[str, object] | None, minutes: float | None, steps: int | None
) -> dict[str, object]:
    """Add the length of a run to its settings; giving minutes or steps replaces both of the recipe's."""
    if minutes is None and steps is None:
        return dict(settings or {})
    return {"training.minutes": minutes, "training.steps": steps, **(settings or {})}


def resolve(request: TrainingRequest, kind: type[AnyRecipe]) -> RunSpec[AnyRecipe]:
    """Find the recipe, the start model and the checkpoint of a run, and check them against each other.

    Raises:
        UserError: for an output folder that already contains a model, or a recipe or model that cannot be read.
        UsageError: for settings that do not fit, or that a resumed run cannot change.
    """
    folder, name = request.out, request.recipe or DEFAULT_RECIPE
    check_output(folder, request.resume, request.overwrite)
    if request.resume:
        begun_with = _begun_with(request, kind)
        recipe = _recipe_of_run(folder, name, request.settings, kind)
        checkpoint = latest_checkpoint(folder)
    else:
        begun_with = _new_begun_with(request, kind)
        recipe = load_recipe(name, request.settings, kind)
        checkpoint = None
    start_from = Path(begun_with["from"]) if "from" in begun_with else None
    if start_from is not None and checkpoint is None:
        recipe = _recipe_from_model(start_from, folder, recipe, request.settings)
    if recipe.training.steps is None and recipe.training.minutes is None:
        raise UsageError("no training length given", where=f"recipe {name}", hint="Pass --minutes or --steps.")
    in_file = frozenset() if request.resume and contains_model(folder) else settings_in_file(name, kind)
    return RunSpec(
        request=request,
        recipe=recipe,
        decided=request.settings.keys() | in_file,
        begun_with=begun_with,
        checkpoint=checkpoint,
        start_from=start_from,
        device=select_device(request.device),
    )


def _new_begun_with(request: TrainingRequest, kind: type[Recipe]) -> dict[str, Any]:
    """Describe for config.json what a new run starts with: the recipe, the settings of its file, the start model."""
    recipe = request.recipe or DEFAULT_RECIPE
    begun: dict[str, Any] = {"recipe": str(recipe)}
    if settings := read_recipe_file(recipe, kind):
        begun["settings"] = settings
    return begun if request.start_from is None else {**begun, "from": str(request.start_from)}


def _begun_with(request: TrainingRequest, kind: type[Recipe]) -> dict[str, Any]:
    """Read the recipe and start model of the run to resume; if there is no run yet, describe the new one.

    Raises:
        UserError: for a recipe file that cannot be read.
        UsageError: for a recipe or a start model other than the run's, which would have no effect.
    """
    asked = _new_begun_with(request, kind)
    if not (request.out / "config.json").exists():
        return asked
    begun: dict[str, Any] = read_config(request.out, kind.model_kind).get("begun_with", asked)
    if request.recipe is not None:
        load_recipe(request.recipe, None, kind)  # reports a file that is not a recipe
        _check_recipe(begun, asked)
    start_from = request.start_from
    if start_from is not None and start_from.resolve() != Path(begun.get("from", "")).resolve():
        raise UsageError(
            f"this run was started {'from ' + begun['from'] if 'from' in begun else 'without --from'}, "
            f"got {start_from}",
            where=f"--from {start_from}",
            hint=_START_OVER,
        )
    return begun


def _check_recipe(begun: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    old, new = _flatten(begun.get("settings", {})), _flatten(asked.get("settings", {}))
    for name in [*old, *new]:
        if old and new and old.get(name) != new.get(name):
            was, now = (values.get(name, "not given") for values in (old, new))
            raise UsageError(
                f"{asked['recipe']} is not the recipe that this run was started with: {name} was {was}, is now {now}",
                where=f"--recipe {asked['recipe']}",
                hint="Pass changes as flags, such as `--training.learning_rate 1e-3`, and leave --recipe out.",
            )
    if not (old and new) and begun.get("recipe") != asked["recipe"]:
        raise UsageError(
            f"this run was started with recipe {begun.get('recipe')}, got {asked['recipe']}",
            where=f"--recipe {asked['recipe']}",
            hint=_START_OVER,
        )


def _recipe_of_run(folder: Path, recipe: str | Path, given: Mapping[str, object], kind: type[AnyRecipe]) -> AnyRecipe:
    """Load the recipe of the run in `folder`, overridden by the settings given now; `recipe` if no run has begun.

    Raises:
        UsageError: for a setting that the run has fixed.
    """
    if not (folder / "config.json").exists():
        return load_recipe(recipe, given, kind)
    stored = read_config(folder, kind.model_kind).get("recipe", {})
    settings = _flatten(stored)
    changes = {name: value for name, value in given.items() if value is not None}
    if {"training.minutes", "training.steps"} & changes.keys():
        settings |= {"training.minutes": None, "training.steps": None}
    _reject_unknown(settings, kind, folder)
    chosen = load_recipe(DEFAULT_RECIPE, settings | changes, kind)
    if latest_checkpoint(folder):
        training = stored.get("training", {})
        names = [*_FIXED, *(["guided_weight"] if not training.get("guided_weight") else [])]
        fixed = {**stored, "training": {name: training[name] for name in names if name in training}}
        reject_changed_settings(changes, chosen, fixed, f"{_START_OVER} Dropout and most of training.* can change.")
    return chosen


def _recipe_from_model(start_from: Path, folder: Path, chosen: AnyRecipe, given: Mapping[str, object]) -> AnyRecipe:
    """Put the sizes and the tokenizer of the model in `start_from` into the recipe.

    Raises:
        UserError: if the folder holds no model of that kind.
        UsageError: for a setting that the model has fixed.
    """
    kind = type(chosen)
    config = read_config(start_from, kind.model_kind)
    if start_from.resolve() == folder.resolve():
        raise UsageError(
            f"--from and -o name the same folder, {folder}",
            where=f"--from {start_from}",
            hint="Name another folder with `-o`; to continue the run itself pass --resume without --from.",
        )
    trained = {"embeddings": None, "freeze_embeddings": False}  # whatever its rows started from, they are trained now
    kept = {"model": config.get("model", {}) | trained, "tokenizer": config.get("recipe", {}).get("tokenizer", {})}
    reject_changed_settings(given, chosen, kept, f"Sizes and tokenizer are those of {start_from}: leave it out.")
    merged = chosen.model_dump()
    dropout = {name: value for name, value in merged["model"].items() if "dropout" in name}
    merged["model"] = kept["model"] | {name: value for name, value in dropout.items() if f"model.{name}" in given}
    merged["tokenizer"] |= {name: value for name, value in kept["tokenizer"].items() if "dropout" not in name}
    try:
        return load_recipe(DEFAULT_RECIPE, _flatten(merged), kind)
    except UsageError as error:
        raise UsageError(
            error.what,
            where=f"--from {start_from}",
            hint=f"Sizes and tokenizer are those of {start_from}; change the settings that do not fit them.",
        ) from error


def _reject_unknown(stored: Mapping[str, object], kind: type[Recipe], folder: Path) -> None:
    unknown = stored.keys() - settings_of(kind).keys()
    if unknown:
        raise UserError(
            f"this run was started by an earlier development version; its setting {min(unknown)} no longer exists",
            where=str(folder / "config.json"),
            hint=f"Train again with --overwrite, or start from its weights in another folder with `--from {folder}`.",
        )


def _flatten(sections: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {f"{section}.{name}": value for section, fields in sections.items() for name, value in fields.items()}
