"""Flags of the commands that train a Transformer, and how they become settings of its recipe."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.config_flags import help_sentence
from pellucid.cli.flags import ModelFlags, Switch
from pellucid.errors import UsageError
from pellucid.training.config import TrainingConfig
from pellucid.training.recipe import Recipe

__all__ = ["DEFAULT_TRAINING_FLAGS", "RunFlags", "Settings", "TrainingFlags", "given_settings", "recipe_help"]

Settings = Annotated[dict[str, str], Parameter(show=False)]
"""Type of a command's `**settings`: section → field → value, from `--section.field value`."""


def _described(field: str, more: str = "") -> Parameter:
    """Take the help of a flag from the description of the setting that it overrides."""
    return Parameter(help=help_sentence(TrainingConfig.model_fields[field].description, more))


def recipe_help(kind: type[Recipe]) -> Parameter:
    """Name the built-in recipes in the help of `--recipe`."""
    default, *others = kind.names
    return Parameter(help=f"Recipe: {default} (default), {', '.join(others)}, or a TOML file.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TrainingFlags(ModelFlags):
    """Flags of every command that trains a Transformer."""

    precision: Annotated[Literal["auto", "float32", "bfloat16"], _described("precision")] = "auto"
    seed: Annotated[int | None, _described("seed", "; by default the recipe's")] = None


DEFAULT_TRAINING_FLAGS = TrainingFlags()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """Flags of a training run, whatever the kind of model."""

    output: Annotated[Path, Parameter(name=["--output", "-o"])]
    """Folder of the model."""

    minutes: Annotated[float | None, _described("minutes", "; by default the recipe's")] = None
    steps: Annotated[int | None, _described("steps")] = None

    valid: Annotated[tuple[Path, ...], Parameter(consume_multiple=True, negative="", show_default=False)] = ()
    """Validation files; by default a part of the text is held out."""

    start_from: Annotated[Path | None, Parameter(name="--from")] = None
    """Finished model of the same kind to start from; its tokenizer and sizes are kept."""

    resume: Switch = False
    """Continue the run in the output folder."""

    overwrite: Switch = False
    """Replace the model in the output folder."""

    def check_length(self) -> None:
        """Reject two lengths.

        Raises:
            UsageError: if both --minutes and --steps are given.
        """
        if self.minutes is not None and self.steps is not None:
            raise UsageError(
                "--minutes and --steps are mutually exclusive",
                where=f"--minutes {self.minutes:g} --steps {self.steps}",
                hint="Pass only one of them.",
            )

    def options(self, flags: TrainingFlags, settings: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """Build the keyword arguments of `train_translator` and `train_lm`."""
        return {
            "minutes": self.minutes,
            "steps": self.steps,
            "valid": self.valid,
            "start_from": self.start_from,
            "resume": self.resume,
            "overwrite": self.overwrite,
            "settings": given_settings(settings, flags),
            "device": flags.device,
            "log": console.log,
        }


def given_settings(settings: Mapping[str, Mapping[str, str]], flags: TrainingFlags) -> dict[str, object]:
    """Flatten the settings of a command line to `section.field`, and add those that have a flag of their own."""
    given: dict[str, object] = {
        f"{section}.{field}": value for section, fields in settings.items() for field, value in fields.items()
    }
    if flags.seed is not None:
        given["training.seed"] = flags.seed
    if flags.precision != "auto":
        given["training.precision"] = flags.precision
    return given
