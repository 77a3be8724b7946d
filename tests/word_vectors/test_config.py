from typing import Any

import pytest

from pellucid import WordVectors
from pellucid.errors import UsageError
from pellucid.word_vectors.config import vectors_config


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("vector_size", "Use dim."),
        ("d", "Use dim."),
        ("sg", 'Use model="skip-gram" or model="cbow".'),
        ("min_counts", "Did you mean min_count?"),
        ("qqq", "There are model, objective, dim, "),
    ],
)
def test_an_unknown_setting_is_told_what_it_is_called_here(name: str, hint: str) -> None:
    settings: dict[str, Any] = {name: 1}
    with pytest.raises(UsageError, match=f"there is no setting {name}") as caught:
        WordVectors.train([["a", "b"]], **settings)
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 0}, "dim: input should be greater than or equal to 1, got 0"),
        ({"model": "skipgram"}, "model: input should be 'skip-gram' or 'cbow', got 'skipgram'"),
        ({"sample": float("nan")}, "sample: input should be a finite number, got nan"),
        ({"learning_rate": 1e-6}, "end_learning_rate 0.0001 is above learning_rate 1e-06"),
    ],
)
def test_values_that_do_not_fit_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        vectors_config(settings)
    assert caught.value.what.startswith(message)
