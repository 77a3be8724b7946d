"""Recipes: all settings of a run, in sections, from a built-in name or a TOML file, overridable by `section.field`."""

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from pellucid.corpus.config import DataConfig, DocumentsConfig
from pellucid.errors import UsageError, UserError, did_you_mean
from pellucid.generation.generation_config import GenerationConfig
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.initialise_config import InitialiseConfig, LanguageModelInitialiseConfig
from pellucid.tokenizers.config import TokenizerConfig
from pellucid.training.config import (
    AlignerConfig,
    LanguageModelTrainingConfig,
    TrainingConfig,
    TranslatorTrainingConfig,
)
from pellucid.training.settings import RecipeSetting, describe_settings

__all__ = [
    "LanguageModelRecipe",
    "Recipe",
    "TranslatorRecipe",
    "load_recipe",
    "read_recipe_file",
    "reject_changed_settings",
    "settings_in_file",
    "settings_of",
]


class Recipe(BaseModel):
    """All settings of a training run; what recipes for every kind of model have in common.

    Attributes:
        model_kind: the kind of model, as config.json names it.
        names: the built-in recipes, the default first.
        listed_by: the command that lists the settings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_kind: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    listed_by: ClassVar[str]

    if TYPE_CHECKING:  # every kind declares these sections itself, in its own order
        tokenizer: TokenizerConfig
        model: EncoderDecoderConfig | DecoderOnlyConfig
        training: TrainingConfig


AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)


class TranslatorRecipe(Recipe):
    """All settings of a translator's training run."""

    model_kind = "translator"
    names = ("fast", "tiny", "small", "base", "big")
    listed_by = "pellucid train settings"

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    aligner: AlignerConfig = AlignerConfig()
    model: EncoderDecoderConfig = EncoderDecoderConfig()
    initialise: InitialiseConfig = InitialiseConfig()
    training: TranslatorTrainingConfig = TranslatorTrainingConfig()
    generation: GenerationConfig = GenerationConfig()

    @model_validator(mode="after")
    def _sections_fit(self) -> Self:
        model, training = self.model, self.training
        if training.guided_weight and training.guided_layer >= model.decoder_layers:
            raise ValueError(
                f"training.guided_layer {training.guided_layer} is out of range: the model has {model.decoder_layers} "
                "decoder layers, counted from 0"
            )
        if model.tie_embeddings == "all" and not self.tokenizer.joint:
            raise ValueError(
                "two tokenizers cannot share one embedding matrix: set model.tie_embeddings to output or none, or "
                "tokenizer.joint to true"
            )
        if model.positions == "learned" and model.learned_positions < training.max_tokens:
            raise ValueError(
                f"model.learned_positions {model.learned_positions} is less than "
                f"training.max_tokens {training.max_tokens}"
            )
        split_above = self.generation.split_above
        if model.positions == "learned" and split_above is not None and split_above >= model.learned_positions:
            raise ValueError(
                f"generation.split_above {split_above} leaves no position for the end token: "
                f"model.learned_positions is {model.learned_positions}"
            )
        return self


class LanguageModelRecipe(Recipe):
    """All settings of a language model's training run."""

    model_kind = "language-model"
    names = ("fast", "tiny", "gpt", "llama")
    listed_by = "pellucid train settings --lm"

    data: DocumentsConfig = DocumentsConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: DecoderOnlyConfig = DecoderOnlyConfig()
    initialise: LanguageModelInitialiseConfig = LanguageModelInitialiseConfig()
    training: LanguageModelTrainingConfig = LanguageModelTrainingConfig()
    generation: SamplingConfig = SamplingConfig()


@cache
def settings_of(kind: type[Recipe] = TranslatorRecipe) -> dict[str, RecipeSetting]:
    """Describe every setting of a kind of recipe, by `section.field`, in the order of the sections."""
    return {setting.name: setting for setting in describe_settings(_sections(kind))}


@overload
def load_recipe(recipe: str | Path = "fast", overrides: Mapping[str, object] | None = None) -> TranslatorRecipe: ...
@overload
def load_recipe(recipe: str | Path, overrides: Mapping[str, object] | None, kind: type[AnyRecipe]) -> AnyRecipe: ...
def load_recipe(
    recipe: str | Path = "fast", overrides: Mapping[str, object] | None = None, kind: type[Recipe] = TranslatorRecipe
) -> Recipe:
    """Load a recipe by name or from a file, and override some of its settings.

    Args:
        recipe: one of the kind's `names`, or the path of a TOML file with a table per section, `[training]` and so on.
        overrides: values by `section.field`; strings, as a command line gives them, are converted. `none` unsets an
            optional setting.
        kind: the kind of recipe.

    Raises:
        UserError: for a missing file, invalid TOML, or an unknown or invalid setting in the file.
        UsageError: for an unknown or invalid setting in `overrides`.
    """
    content = _read(recipe, kind)
    for section, fields in content.items():
        if not isinstance(fields, dict):
            raise UserError(
                f"a recipe consists of sections, but {section} is a single value",
                where=str(recipe),
                hint=f"Write it below the header of its section, such as `[training]`: `{kind.listed_by}` shows which.",
            )
        for name in fields:
            _check_name(f"{section}.{name}", kind, UserError, str(recipe))
    _validate(content, kind, UserError, str(recipe))
    for name, value in (overrides or {}).items():
        _check_name(name, kind, UsageError, f"--{name}")
        section, field = name.split(".")
        content.setdefault(section, {})[field] = value
    return _validate(content, kind, UsageError, "")


def reject_changed_settings(
    given: Mapping[str, object], chosen: Recipe, fixed: Mapping[str, Mapping[str, object]], hint: str
) -> None:
    """Reject settings that would change what is already fixed; dropout may change at any time.

    Args:
        given: values by `section.field`.
        fixed: values that are fixed, by section and field.

    Raises:
        UsageError: for the first that differs; ignoring it would let the user believe that it applies.
    """
    for name in given:
        section, field = name.split(".")
        if "dropout" in field or field not in fixed.get(section, {}):
            continue
        old, new = fixed[section][field], getattr(getattr(chosen, section), field)
        if old != new:
            raise UsageError(f"{name} is fixed at {old}, got {new}", where=f"--{name}", hint=hint)


def read_recipe_file(recipe: str | Path, kind: type[Recipe] = TranslatorRecipe) -> dict[str, dict[str, Any]]:
    """Read what a recipe file gives, by section and field; nothing for a built-in recipe."""
    return {} if str(recipe) in kind.names else _read(recipe, kind)


def settings_in_file(recipe: str | Path, kind: type[Recipe] = TranslatorRecipe) -> frozenset[str]:
    """List the settings that a recipe file gives, by `section.field`; none for a built-in recipe."""
    return frozenset(
        f"{section}.{name}" for section, fields in read_recipe_file(recipe, kind).items() for name in fields
    )


def _sections(kind: type[Recipe]) -> dict[str, type[BaseModel]]:
    return {name: field.annotation for name, field in kind.model_fields.items()}  # type: ignore[misc]


def _read(recipe: str | Path, kind: type[Recipe]) -> dict[str, Any]:
    if str(recipe) in kind.names:
        files = resources.files("pellucid.training").joinpath("recipes", kind.model_kind)
        text = files.joinpath(f"{recipe}.toml").read_text(encoding="utf-8")
    else:
        path = Path(recipe)
        if not path.is_file():
            raise UserError(
                f"no recipe named {recipe}",
                where=str(recipe),
                hint=f"Name one of {', '.join(kind.names)}, or an existing TOML file.",
            )
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"cannot read the recipe: {error}", where=str(path), hint="A recipe is a TOML file in UTF-8."
            ) from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(
            f"the recipe is not valid TOML: {error}",
            where=str(recipe),
            hint=f"`{kind.listed_by}` prints a complete recipe to start from.",
        ) from error


def _check_name(name: str, kind: type[Recipe], error: type[UserError], where: str) -> None:
    if name not in settings_of(kind):
        raise error(f"unknown setting {name}", where=where, hint=_suggest_setting(name, kind))


def _suggest_setting(name: str, kind: type[Recipe]) -> str:
    """Suggest the same field of other sections, else the closest name, else the closest field of any section."""
    by_field: dict[str, list[str]] = {}
    for setting in settings_of(kind).values():
        by_field.setdefault(setting.field, []).append(f"--{setting.name}")
    field = name.split(".")[-1]
    if field in by_field:
        return f"Did you mean {' or '.join(by_field[field])}?"
    by_name = did_you_mean(name, settings_of(kind), "", "--{}")
    closest = difflib.get_close_matches(field, by_field, 1)
    by_field_name = f"Did you mean {' or '.join(by_field[closest[0]])}?" if closest else ""
    return by_name or by_field_name or f"`{kind.listed_by}` lists them."


def _unset(content: dict[str, Any], kind: type[Recipe]) -> dict[str, Any]:
    """Replace the string `none` of optional settings by None: TOML and command lines have no null."""
    settings = settings_of(kind)
    return {
        section: {
            name: None if value == "none" and settings[f"{section}.{name}"].optional else value
            for name, value in fields.items()
        }
        for section, fields in content.items()
    }


def _validate(content: dict[str, Any], kind: type[AnyRecipe], error_kind: type[UserError], where: str) -> AnyRecipe:
    try:
        return kind.model_validate(_unset(content, kind))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][:2])
        setting = settings_of(kind).get(name)
        message = first["msg"].removeprefix("Value error, ")
        raise error_kind(
            f"invalid {name or 'recipe'}: {message[:1].lower()}{message[1:]}"
            + (f", got {first['input']!r}" if setting else ""),
            where=where or (f"--{name}" if name else "recipe"),
            hint=f"Set {name} to {setting.values}: {setting.description}."
            if setting
            else f"`{kind.listed_by}` lists all settings and their values.",
        ) from error
