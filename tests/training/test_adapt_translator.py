import pytest

from pellucid.training.adapt import expected_tokens, rounded
from pellucid.training.adapt_translator import REGULARISATION_BY_EPOCHS, SIZES_BY_TOKENS, adapt_translator
from pellucid.training.recipe import TranslatorRecipe, load_recipe


def test_a_short_run_gets_a_smaller_model_without_dropout() -> None:
    recipe, said = adapt_translator(load_recipe("fast"), frozenset(), lambda _: 2e6, 1_000_000)
    assert recipe.model.d_model == SIZES_BY_TOKENS[0][1].model["d_model"]
    assert (recipe.model.dropout, recipe.training.label_smoothing) == (0.0, 0.0)
    assert "2.0 epochs" in said


def test_a_long_run_gets_a_wider_model_and_is_kept_from_overfitting() -> None:
    recipe, said = adapt_translator(load_recipe("fast"), frozenset(), lambda _: 2e7, 1_000_000)
    assert recipe.model.d_model == 256
    assert recipe.model.dropout == REGULARISATION_BY_EPOCHS[-1][1]
    assert recipe.training.label_smoothing > 0
    assert f"dropout {REGULARISATION_BY_EPOCHS[-1][1]}" in said


def test_a_long_run_gets_larger_batches_where_its_time_is_given_and_not_its_steps() -> None:
    fast = load_recipe("fast")
    timed, said = adapt_translator(fast, frozenset(), lambda _: 2e7, 1_000_000)
    assert (timed.training.batch_tokens, timed.training.learning_rate) == (1792, 2e-3)
    assert "batch_tokens 1792, learning_rate 0.002" in said
    by_steps, _ = adapt_translator(
        load_recipe("fast", {"training.steps": 9, "training.minutes": None}), frozenset(), lambda _: 2e7, 1
    )
    assert (by_steps.training.batch_tokens, by_steps.training.learning_rate) == (fast.training.batch_tokens, 2e-3)


def test_a_batch_that_is_given_stays() -> None:
    given = {"training.batch_tokens": 500, "training.learning_rate": 1e-3}
    recipe, _ = adapt_translator(load_recipe("fast", given), given.keys(), lambda _: 2e7, 1_000_000)
    assert (recipe.training.batch_tokens, recipe.training.learning_rate) == (500, 1e-3)
    assert recipe.model.d_model == SIZES_BY_TOKENS[-1][1].model["d_model"]


def test_sizes_that_are_given_leave_the_training_to_the_length_of_the_run() -> None:
    given = {"model.d_model": 512, "model.n_heads": 8}
    recipe, said = adapt_translator(load_recipe("fast", given), given.keys(), lambda _: 2e7, 1_000_000)
    assert (recipe.model.d_model, recipe.training.batch_tokens, recipe.training.learning_rate) == (512, 1792, 2e-3)
    assert "d_model" not in said


def test_what_is_given_is_left_alone() -> None:
    given = {"model.d_model": 64, "model.dropout": 0.4, "training.label_smoothing": 0.0}
    recipe, _ = adapt_translator(load_recipe("fast", given), given.keys(), lambda _: 2e7, 1_000_000)
    assert (recipe.model.d_model, recipe.model.dropout, recipe.training.label_smoothing) == (64, 0.4, 0.0)


def test_the_chosen_sizes_say_how_many_epochs_there_will_be() -> None:
    asked: list[int] = []

    def expect(recipe: TranslatorRecipe) -> float:
        asked.append(recipe.model.d_model)
        return 3e6 if recipe.model.d_model == 256 else 7e6

    recipe, said = adapt_translator(load_recipe("fast"), frozenset(), expect, 1_000_000)
    assert asked == [256, 192]
    assert "7.0 M target tokens, 7.0 epochs" in said
    assert recipe.model.dropout == REGULARISATION_BY_EPOCHS[-1][1]


def test_steps_alone_say_how_many_tokens_there_will_be() -> None:
    recipe = load_recipe("fast", {"training.minutes": None, "training.steps": 1000, "training.batch_tokens": 500})
    assert expected_tokens(recipe.training, 0.0, 1.0) == 500_000


def test_minutes_and_the_measured_speed_say_it_otherwise() -> None:
    recipe = load_recipe("fast", {"training.minutes": 1})
    assert expected_tokens(recipe.training, 60.0, 500.0) == 0
    assert expected_tokens(recipe.training, 20.0, 500.0) == 20_000


@pytest.mark.parametrize(
    ("count", "said"),
    [(1_440_000, "1.4 M"), (30_154, "30,000"), (812, "810"), (2.04, "2.0"), (0.0067, "0.007"), (0, "0")],
)
def test_a_small_number_is_not_rounded_to_nothing(count: float, said: str) -> None:
    assert rounded(count) == said
