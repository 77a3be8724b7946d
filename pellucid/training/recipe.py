"""A recipe: all settings of a run, in sections, from a name or a TOML file, each overridable by `section.field`."""

import difflib
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_args, overload

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from pellucid.corpus.config import DataConfig
from pellucid.corpus.documents_config import DocumentsConfig
from pellucid.errors import UsageError, UserError
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

__all__ = [
    "LanguageModelRecipe",
    "Recipe",
    "TranslatorRecipe",
    "load_recipe",
    "read_recipe_file",
    "reject_changed_settings",
    "setting_descriptions",
    "settings_in_file",
]


class Recipe(BaseModel):
    """All settings of a training; what every recipe has, whatever is trained.

    Attributes:
        model_kind: what is trained, as config.json says it.
        names: the recipes of ours for it, the default first.
        listed_by: the command that lists the settings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_kind: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    listed_by: ClassVar[str]

    if TYPE_CHECKING:  # each kind has these sections in a place of its own
        tokenizer: TokenizerConfig
        training: TrainingConfig


AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)


class TranslatorRecipe(Recipe):
    """All settings of a translator's training."""

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
                f"training.guided_layer {training.guided_layer} is none of the {model.decoder_layers} decoder layers, "
                "which are counted from 0"
            )
        if model.tie_embeddings == "all" and not self.tokenizer.joint:
            raise ValueError(
                "one embedding matrix cannot serve two tokenizers: set model.tie_embeddings to output or none, or "
                "tokenizer.joint to true"
            )
        if model.positions == "learned" and model.max_positions < training.max_tokens:
            raise ValueError(
                f"model.max_positions {model.max_positions} is less than training.max_tokens {training.max_tokens}"
            )
        split_above = self.generation.split_above
        if model.positions == "learned" and split_above is not None and split_above >= model.max_positions:
            raise ValueError(
                f"generation.split_above {split_above} leaves no position for the end token: "
                f"model.max_positions is {model.max_positions}"
            )
        return self


class LanguageModelRecipe(Recipe):
    """All settings of a language model's training."""

    model_kind = "language-model"
    names = ("fast", "tiny", "gpt", "llama")
    listed_by = "pellucid train settings --lm"

    data: DocumentsConfig = DocumentsConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: DecoderOnlyConfig = DecoderOnlyConfig()
    initialise: LanguageModelInitialiseConfig = LanguageModelInitialiseConfig()
    training: LanguageModelTrainingConfig = LanguageModelTrainingConfig()
    generation: SamplingConfig = SamplingConfig()


def setting_descriptions(kind: type[Recipe] = TranslatorRecipe) -> dict[str, str]:
    """Return every `section.field` of such a recipe with its description, in the order of the sections."""
    return {
        f"{section}.{name}": field.description or ""
        for section, model in _sections(kind).items()
        for name, field in model.model_fields.items()
    }


@overload
def load_recipe(recipe: str | Path = "fast", overrides: Mapping[str, object] | None = None) -> TranslatorRecipe: ...
@overload
def load_recipe(recipe: str | Path, overrides: Mapping[str, object] | None, kind: type[AnyRecipe]) -> AnyRecipe: ...
def load_recipe(
    recipe: str | Path = "fast", overrides: Mapping[str, object] | None = None, kind: type[Recipe] = TranslatorRecipe
) -> Recipe:
    """Return the recipe of that name or file, with some settings overridden.

    Args:
        recipe: one of the kind's `names`, or the path of a TOML file; a table per section, `[training]` and so on.
        overrides: values by `section.field`; texts, as a command line gives them, are converted. `none` unsets
            what may be unset.
        kind: a recipe for what.

    Raises:
        UserError: for a missing file, bad TOML, or a file's unknown or unfit setting; names the nearest right one.
        UsageError: for an unknown or unfit setting in `overrides`.
    """
    content = _read(recipe, kind)
    for section, fields in content.items():
        if not isinstance(fields, dict):
            raise UserError(f"a recipe holds sections, but {section} is a single value", where=str(recipe))
        for name in fields:
            _check_name(f"{section}.{name}", kind, UserError, str(recipe))
    _validated(content, kind, UserError, str(recipe))
    for name, value in (overrides or {}).items():
        _check_name(name, kind, UsageError, f"--{name}")
        section, field = name.split(".")
        content.setdefault(section, {})[field] = value
    return _validated(content, kind, UsageError, "")


def reject_changed_settings(
    given: Mapping[str, object], chosen: Recipe, kept: Mapping[str, Mapping[str, object]], why: str
) -> None:
    """Refuse settings that were given anew where what they decided stays as it is; dropout may change at any time.

    Args:
        given: values by `section.field`.
        chosen: the recipe with them.
        kept: values of the sections that stay.
        why: what the hint says about it.

    Raises:
        UsageError: for the first that differs; silence would let the user believe that it holds.
    """
    for name in given:
        section, field = name.split(".")
        if "dropout" in field or field not in kept.get(section, {}):
            continue
        old, new = kept[section][field], getattr(getattr(chosen, section), field)
        if old != new:
            raise UsageError(f"{name} stays {old}, got {new}", where=f"--{name}", hint=why)


def read_recipe_file(recipe: str | Path, kind: type[Recipe] = TranslatorRecipe) -> dict[str, dict[str, Any]]:
    """Return what a recipe's file gives, by section and field; nothing for a recipe of ours."""
    return {} if str(recipe) in kind.names else _read(recipe, kind)


def settings_in_file(recipe: str | Path, kind: type[Recipe] = TranslatorRecipe) -> frozenset[str]:
    """Return which settings a recipe's file gives, by `section.field`; none for a recipe of ours."""
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
                f"there is no recipe {recipe}",
                where=str(recipe),
                hint=f"name one of {', '.join(kind.names)}, or an existing TOML file",
            )
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"the recipe cannot be read: {error}", where=str(path)) from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"the recipe is not TOML: {error}", where=str(recipe)) from error


def _check_name(name: str, kind: type[Recipe], error: type[UserError], where: str) -> None:
    known = list(setting_descriptions(kind))
    if name in known:
        return
    raise error(
        f"there is no setting {name}", where=where, hint=_nearest(name, known) or f"`{kind.listed_by}` lists them."
    )


def _nearest(name: str, known: list[str]) -> str:
    """Say which setting was meant: the same field of other sections, else the name most alike; nothing if none is."""
    field = name.split(".")[-1]
    near = [full for full in known if full.split(".")[1] == field] or difflib.get_close_matches(name, known, 1, 0.6)
    if not near:
        by_field = {full.split(".")[1]: full for full in known}
        near = [by_field[like] for like in difflib.get_close_matches(field, list(by_field), 1, 0.6)]
    return f"Did you mean --{' or --'.join(near)}?" if near else ""


def _unset(content: dict[str, Any], sections: dict[str, type[BaseModel]]) -> dict[str, Any]:
    """Turn `none` into None where a setting may be unset: TOML and command lines have no null."""
    return {
        section: {
            name: None if value == "none" and _may_be_unset(sections[section], name) else value
            for name, value in fields.items()
        }
        for section, fields in content.items()
    }


def _may_be_unset(section: type[BaseModel], field: str) -> bool:
    return type(None) in get_args(section.model_fields[field].annotation)


def _validated(content: dict[str, Any], kind: type[AnyRecipe], error_kind: type[UserError], where: str) -> AnyRecipe:
    try:
        return kind.model_validate(_unset(content, _sections(kind)))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][:2])
        field = setting_descriptions(kind).get(name, "")
        raise error_kind(
            f"{name or 'the recipe'} does not fit: {first['msg'].removeprefix('Value error, ')[:1].lower()}"
            f"{first['msg'].removeprefix('Value error, ')[1:]}" + (f", got {first['input']!r}" if field else ""),
            where=where or (f"--{name}" if name else ()),
            hint=f"{name}: {field}" if field else "",
        ) from error
