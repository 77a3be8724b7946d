"""What the default recipe of language models chooses by text and time."""

import numpy

from pellucid.training.adapt_language_model import (
    DROPOUT_BY_EPOCHS,
    SHORT_RUN_TOKENS,
    SIZES_BY_TOKENS,
    adapt_language_model,
)
from pellucid.training.recipe import LanguageModelRecipe, load_recipe

BOOK = numpy.array([1_000_000])
POEMS = numpy.array([50] * 990 + [200] * 10)


def fast(given: dict[str, object] | None = None) -> LanguageModelRecipe:
    return load_recipe("fast", given, LanguageModelRecipe)


def test_a_short_run_makes_more_and_smaller_steps_in_a_shorter_context() -> None:
    recipe, said = adapt_language_model(fast(), frozenset(), lambda _: SHORT_RUN_TOKENS / 2, BOOK)
    assert (recipe.training.batch_tokens, recipe.training.learning_rate) == (768, 2e-3)
    assert recipe.model.max_positions == 128
    assert "750,000 tokens, 0.8 epochs" in said and "batch_tokens 768" in said
    longer, said = adapt_language_model(fast(), frozenset(), lambda _: 2 * SHORT_RUN_TOKENS, BOOK)
    assert (longer.training.batch_tokens, longer.model.max_positions) == (2048, 256)
    assert "batch_tokens" not in said


def test_steps_that_are_given_are_as_large_as_the_recipe_says() -> None:
    recipe, _ = adapt_language_model(
        fast({"training.steps": 9, "training.minutes": None}), frozenset(), lambda _: 9 * 2048, BOOK
    )
    assert recipe.training.batch_tokens == 2048


def test_the_context_holds_nearly_all_documents() -> None:
    assert adapt_language_model(fast(), frozenset(), lambda _: 1e9, POEMS)[0].model.max_positions == 64
    assert (
        adapt_language_model(fast(), frozenset(), lambda _: 1e9, numpy.array([], numpy.int64))[0].model.max_positions
        == 32
    )


def test_width_and_dropout_follow_the_length_of_the_run() -> None:
    (limit, small), (_, large) = SIZES_BY_TOKENS
    assert adapt_language_model(fast(), frozenset(), lambda _: limit - 1, BOOK)[0].model.d_model == small["d_model"]
    recipe, _ = adapt_language_model(fast(), frozenset(), lambda _: 1e8, BOOK)
    assert (recipe.model.d_model, recipe.model.dropout) == (large["d_model"], DROPOUT_BY_EPOCHS[-1][1])


def test_what_is_given_stays() -> None:
    given: dict[str, object] = {
        "model.d_ff": 100,
        "model.dropout": 0.4,
        "model.max_positions": 77,
        "training.warmup_steps": 5,
        "training.batch_tokens": 500,
        "training.learning_rate": 1e-4,
    }
    recipe, said = adapt_language_model(fast(given), given.keys(), lambda _: 1e5, BOOK)
    assert (recipe.model.d_ff, recipe.model.dropout, recipe.model.max_positions) == (100, 0.4, 77)
    assert (recipe.training.warmup_steps, recipe.training.batch_tokens, recipe.training.learning_rate) == (5, 500, 1e-4)
    assert said == ""
