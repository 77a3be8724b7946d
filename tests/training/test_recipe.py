from pathlib import Path

import pytest

from pellucid.errors import UsageError, UserError
from pellucid.training.recipe import (
    LanguageModelRecipe,
    Recipe,
    TranslatorRecipe,
    load_recipe,
    settings_in_file,
    settings_of,
)


@pytest.mark.parametrize("name", TranslatorRecipe.names)
def test_every_named_recipe_loads(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.model.d_model % recipe.model.n_heads == 0


@pytest.mark.parametrize("name", LanguageModelRecipe.names)
def test_every_named_recipe_of_a_language_model_loads(name: str) -> None:
    recipe = load_recipe(name, None, LanguageModelRecipe)
    assert recipe.model.d_model % recipe.model.n_heads == 0
    assert recipe.training.steps or recipe.training.minutes


@pytest.mark.parametrize("kind", [TranslatorRecipe, LanguageModelRecipe])
def test_every_setting_says_what_it_is(kind: type[Recipe]) -> None:
    assert all(setting.description and setting.values for setting in settings_of(kind).values())
    assert settings_of(kind)["training.learning_rate"].values == "number > 0"
    assert settings_of(kind)["training.schedule"].values == "linear | cosine | inverse_sqrt | constant"
    assert settings_of(kind)["training.minutes"].values == "number > 0, or none"


def test_a_recipe_for_one_kind_knows_nothing_of_the_other() -> None:
    with pytest.raises(UsageError, match=r"unknown setting training\.guided_weight"):
        load_recipe("fast", {"training.guided_weight": "1"}, LanguageModelRecipe)
    with pytest.raises(UsageError, match=r"unknown setting data\.documents"):
        load_recipe("fast", {"data.documents": "line"})
    with pytest.raises(UserError, match="no recipe named small") as caught:
        load_recipe("small", None, LanguageModelRecipe)
    assert "fast, tiny, gpt, llama" in caught.value.hint
    with pytest.raises(UsageError) as unknown:
        load_recipe("fast", {"xyz.qqq": "1"}, LanguageModelRecipe)
    assert unknown.value.hint == "`pellucid train settings --lm` lists them."


def test_settings_override_the_recipe_and_texts_are_converted() -> None:
    recipe = load_recipe("tiny", {"training.learning_rate": "3e-4", "model.dropout": "0.25", "training.steps": 7})
    assert recipe.training.learning_rate == 3e-4
    assert recipe.model.dropout == 0.25
    assert recipe.training.steps == 7


def test_none_unsets() -> None:
    assert load_recipe("fast", {"training.average_decay": "none"}).training.average_decay is None


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("training.learning_rat", "training.learning_rate"),
        ("model.droput", "model.dropout"),
        ("training.dropout", "model.dropout"),
        ("trainning.batch_tokens", "training.batch_tokens"),
    ],
)
def test_an_unknown_setting_names_the_nearest_right_one(wrong: str, right: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_recipe("fast", {wrong: "1"})
    assert f"--{right}" in caught.value.hint


def test_an_unfit_value_says_which_and_why() -> None:
    with pytest.raises(UsageError) as caught:
        load_recipe("fast", {"training.learning_rate": "-1"})
    assert "training.learning_rate" in caught.value.what
    assert "greater than 0" in caught.value.what
    with pytest.raises(UsageError, match="n_heads"):
        load_recipe("fast", {"model.d_model": "250", "model.n_heads": "3"})


def test_a_length_to_split_at_needs_a_position_for_the_end() -> None:
    learned = {"model.positions": "learned", "model.learned_positions": 256}
    assert load_recipe("tiny", {**learned, "generation.split_above": 255}).generation.split_above == 255
    with pytest.raises(UsageError, match=r"generation\.split_above 256"):
        load_recipe("tiny", {**learned, "generation.split_above": 256})


def test_a_file_is_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[model]\npositions = "alibi"\n[training]\nminutes = 3\n', encoding="utf-8")
    recipe = load_recipe(path, {"training.minutes": "5"})
    assert recipe.model.positions == "alibi"
    assert recipe.training.minutes == 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[model]\nheads = 3\n", "model.heads"),
        ("[modle]\nd_model = 3\n", "modle.d_model"),
        ("seed = 3\n", "seed"),
        ("[model\n", "TOML"),
        ('[model]\npositions = "here"\n', "model.positions"),
    ],
)
def test_a_bad_file_is_named_with_its_fault(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_recipe(path)
    assert said in caught.value.what
    assert str(path) in caught.value.where
    assert caught.value.exit_code == 1


def test_a_missing_recipe_says_which_there_are() -> None:
    with pytest.raises(UserError) as caught:
        load_recipe("quick")
    assert "fast" in caught.value.hint


@pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
def test_every_number_of_a_recipe_is_finite(number: str) -> None:
    fields = {
        f"{section}.{name}": value
        for section, values in load_recipe("fast").model_dump().items()
        for name, value in values.items()
        if isinstance(value, float)
    }
    assert {"training.learning_rate", "generation.length_penalty", "model.dropout"} <= fields.keys()
    for name in ["training.minutes", *fields]:
        with pytest.raises(UsageError, match=f"invalid {name}"):
            load_recipe("fast", {name: number})


def test_a_seed_that_no_generator_takes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"invalid training\.seed"):
        load_recipe("fast", {"training.seed": str(2**63)})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"training.guided_layer": 9, "training.guided_weight": 1}, "guided_layer 9 is out of range"),
        ({"tokenizer.joint": "false", "model.tie_embeddings": "all"}, "two tokenizers cannot share"),
        ({"model.positions": "learned", "model.learned_positions": 4}, "learned_positions 4 is less than"),
    ],
)
def test_sections_that_do_not_fit_each_other_are_refused_before_the_text_is_read(
    settings: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        load_recipe("fast", settings)
    assert "invalid recipe" in caught.value.what
    assert "--" not in caught.value.where


def test_a_file_gives_the_settings_that_stand_in_it_and_a_name_gives_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[model]\nd_model = 512\n[training]\nadapt = true\n", encoding="utf-8")
    assert settings_in_file(path) == {"model.d_model", "training.adapt"}
    assert settings_in_file("fast") == frozenset()
