"""Word vectors are looked at by the words that are named."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from pellucid.cli.app import main
from pellucid.errors import UsageError, UserError
from pellucid.inspection import WordLook
from pellucid.inspection.checks import InexactError
from pellucid.inspection.word_vectors import VECTOR_VIEWS
from pellucid.vectors import WordVectors

WORDS = ["猫", "dog", "fish", "king", "nothing", "🐱"]


def vectors(output: bool = True) -> WordVectors:
    draw = numpy.random.default_rng(1)
    rows, others = draw.normal(size=(2, len(WORDS), 8)).astype(numpy.float32)
    rows[4] = 0
    return WordVectors(WORDS, rows, others if output else None)


@pytest.fixture
def look() -> WordLook:
    return vectors().look("dog  猫 nothing dog")


def test_tokens_are_the_words_and_where_they_stand(look: WordLook) -> None:
    assert [token.display for token in look.tokens] == ["dog", "猫", "nothing", "dog"]
    assert [token.id for token in look.tokens] == [1, 0, 4, 1]
    assert [look.text[slice(*token.offsets)] for token in look.tokens] == ["dog", "猫", "nothing", "dog"]
    assert look.tokens[1].bytes == "猫".encode()
    assert vectors().look(["dog", "🐱"]).text == "dog 🐱"


def test_numbers_are_those_of_the_vectors(look: WordLook) -> None:
    whole = vectors()
    assert numpy.array_equal(look["input_vectors"].values, whole.input_vectors[[1, 0, 4, 1]])
    assert look["cosines"].values[0, 1] == pytest.approx(whole.similarity("dog", "猫"))
    assert look["cosines"].values[0, 3] == pytest.approx(1)
    assert look["cosines"].values[2, 2] == 0  # a vector of zeros has no direction
    assert whole.output_vectors is not None
    score = float(whole.input_vectors[1].astype(float) @ whole.output_vectors[0].astype(float))
    assert look["scores"].values[0, 1] == pytest.approx(score)
    assert look["probabilities"].values[0, 1] == pytest.approx(1 / (1 + numpy.exp(-score)))
    assert [axis.name for axis in look["scores"].axes] == ["centre", "context"]
    assert look.nbytes == sum(look[name].values.nbytes for name in look.names)


def test_a_look_checks_itself(look: WordLook) -> None:
    assert all(check.error is not None and check.error <= check.bound for check in look.check())
    look["scores"].values[0, 1] += 0.1
    with pytest.raises(InexactError, match="scores are input"):
        look.check()


def test_without_the_other_matrix_there_are_no_scores() -> None:
    look = vectors(output=False).look("dog fish")
    assert "scores" not in look
    assert len(look.check()) == 1
    with pytest.raises(UserError, match="no output vectors"):
        look.view("scores")
    with pytest.raises(UserError, match="this look has no scores"):
        look["scores"]


@pytest.mark.parametrize("name", VECTOR_VIEWS)
def test_every_view_has_numbers_and_a_chart(look: WordLook, name: str, tmp_path: Path) -> None:
    view = look.view(name)
    assert view.reading.endswith(".")
    assert view.arrays[0].values.size
    look.save(tmp_path / "look.svg", name)
    assert "dog" in (tmp_path / "look.svg").read_text(encoding="utf-8")


def test_neighbours_are_those_that_similar_finds(look: WordLook) -> None:
    view = look.view("neighbours")
    assert view.table is not None
    wanted = [["dog", one.word, one.score] for one in vectors().similar("dog", 5)]
    assert [list(row) for row in view.table.rows[: len(wanted)]] == wanted
    assert view.arrays[0].labels("word") == ("dog", "猫")  # the one without a direction has none


def test_a_page_has_all_views(look: WordLook, tmp_path: Path) -> None:
    look.save(tmp_path / "look.html")
    page = (tmp_path / "look.html").read_text(encoding="utf-8")
    assert all(f'<section id="{name}">' in page for name in VECTOR_VIEWS)


def test_words_that_are_not_there_are_said(look: WordLook) -> None:
    with pytest.raises(UserError, match="dgo"):
        vectors().look("dgo")
    with pytest.raises(UserError, match="no words"):
        vectors().look("  ")
    with pytest.raises(UsageError, match="no view alignment"):
        look.view("alignment")


def test_the_command_looks_at_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors().save(tmp_path / "vectors")
    folder = str(tmp_path / "vectors")
    assert main(["look", folder, "dog 猫"]) == 0
    assert "cosines" in capsys.readouterr().out
    assert main(["look", folder, "dog 猫", "--view", "neighbours", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["arrays"][0]["name"] == "neighbours"
    assert main(["look", folder, "dog 猫", "--check"]) == 0
    assert "cosines are those of similar()" in capsys.readouterr().out
    assert main(["look", folder, "dog 猫", "-o", str(tmp_path / "look.html")]) == 0
    for arguments, code, said in (
        (["dog", "--layer", "1"], 2, "have no layer"),
        (["dog", "--what-if", "mask_token 1"], 2, "cannot be edited"),
        (["dog", "--target", "cat"], 2, "only translators"),
        (["dgo"], 1, "dgo"),
        (["dog", "-o", "x.pdf"], 2, "ends in .html"),
    ):
        capsys.readouterr()
        assert main(["look", folder, *arguments]) == code
        assert said in capsys.readouterr().err
