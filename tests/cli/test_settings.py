import pytest

from pellucid.cli.settings import split_settings
from pellucid.errors import UsageError


def test_settings_are_taken_out_and_the_rest_keeps_its_order() -> None:
    tokens = [
        "train",
        "translator",
        "--model.d_model",
        "64",
        "a.tsv",
        "--training.seed=2",
        "-o",
        "m",
        "--minutes",
        ".5",
    ]
    assert split_settings(tokens) == (
        ["train", "translator", "a.tsv", "-o", "m", "--minutes", ".5"],
        {"model.d_model": "64", "training.seed": "2"},
    )


@pytest.mark.parametrize(
    ("tokens", "value"),
    [
        (["--a.b", "-1e-4"], "-1e-4"),
        (["--a.b=--x"], "--x"),
        (["--a.b="], ""),
        (["--a.b=x=1\ny"], "x=1\ny"),
        (["--a.b", "[1, 2]"], "[1, 2]"),
        (["--a.b", "1", "--a.b", "2"], "2"),
    ],
)
def test_values_are_as_typed(tokens: list[str], value: str) -> None:
    assert split_settings(tokens) == ([], {"a.b": value})


def test_wrong_spellings_are_left_to_who_knows_the_names() -> None:
    assert split_settings(["--training.learning-rate", "1"]) == ([], {"training.learning-rate": "1"})


@pytest.mark.parametrize("tokens", [["--", "--a.b", "1"], ["a.b"], ["-a.b"], ["--.5"], ["--text", "x.y"], ["--a"]])
def test_other_words_are_no_settings(tokens: list[str]) -> None:
    assert split_settings(tokens) == (tokens, {})


@pytest.mark.parametrize("tokens", [["--a.b"], ["--a.b", "--json"], ["--a.b", "--c.d=1"]])
def test_a_setting_needs_a_value(tokens: list[str]) -> None:
    with pytest.raises(UsageError, match=r"a\.b has no value"):
        split_settings(tokens)
