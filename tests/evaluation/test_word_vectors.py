from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import UserError, WordVectors
from pellucid.evaluation.analogies import analogy_accuracy, is_analogy_file
from pellucid.evaluation.word_similarity import similarity_correlation, spearman
from tests.word_vectors.example_vectors import random_vectors


@pytest.fixture
def vectors() -> WordVectors:
    """Capitals of countries: country along one axis each, being a capital along the last."""
    countries = ["greece", "iraq", "norway", "peru"]
    rows = numpy.eye(5)[:4]
    capitals = rows + numpy.eye(5)[4]
    words = [*countries, "Athens", "baghdad", "Oslo", "lima", "oslo"]
    return WordVectors(words, numpy.concatenate([rows, capitals, [[0, 0, 0, 0, -1.0]]]))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text(
        "\ufeff: capitals\nGreece Athens Iraq Baghdad\nIraq Baghdad Norway Oslo\nGreece Athens Spain Madrid\n\n"
        ": gram1-plural\nathens greece oslo norway\nlima peru baghdad greece\n",
        encoding="utf-8",
    )
    return path


def test_sections_are_counted_with_and_without_the_words_of_the_question(vectors: WordVectors, questions: Path) -> None:
    scores = analogy_accuracy(vectors, questions)
    assert [section[:4] for section in scores.sections] == [("capitals", 3, 2, 2), ("gram1-plural", 2, 2, 1)]
    assert scores.total.accuracy == 3 / 4
    assert (scores.semantic.correct, scores.syntactic.correct) == (2, 1)
    assert scores.total.correct_unexcluded <= scores.total.correct
    shown = scores.as_dict()
    assert shown["total"]["questions"] == 5 and shown["total"]["covered"] == 4 and shown["restrict"] == 30_000


@pytest.mark.parametrize("method", ["3CosAdd", "3CosMul"])
def test_answers_are_those_of_analogy_question_by_question(tmp_path: Path, method: str) -> None:
    vectors = random_vectors(30, 4, 3)
    draw = numpy.random.default_rng(1)
    asked = [[f"w{row}" for row in draw.permutation(35)[:4]] for _ in range(200)]
    (tmp_path / "q").write_text("".join(" ".join(words) + "\n" for words in asked), encoding="utf-8")
    scores = analogy_accuracy(vectors, tmp_path / "q", restrict=25, method=method)  # type: ignore[arg-type]
    covered = [words for words in asked if all(int(word[1:]) < 25 for word in words)]
    right = [0, 0]
    for a, b, c, d in covered:
        for number, exclude in enumerate((True, False)):
            found = vectors.analogy(a, b, c, 1, method=method, exclude_query=exclude, restrict=25)  # type: ignore[arg-type]
            right[number] += found[0].word == d
    assert scores.sections == (("", 200, len(covered), *right),)
    assert 0 < len(covered) < 200


def test_case_counts_where_that_is_asked(vectors: WordVectors, questions: Path) -> None:
    assert analogy_accuracy(vectors, questions, ignore_case=False).total.covered == 1  # "lima peru baghdad greece"


def test_of_two_spellings_the_more_frequent_one_is_asked(vectors: WordVectors, questions: Path) -> None:
    """The word oslo, all small, points away; with the higher count it stands for Oslo."""
    assert analogy_accuracy(vectors, questions).sections[0].correct == 2
    pluralize = WordVectors(vectors.words, vectors.input_vectors, counts=[9] * 6 + [1] + [9] * 2)
    assert analogy_accuracy(pluralize, questions).sections[0].correct == 1


def test_restrict_narrows_what_is_covered(vectors: WordVectors, questions: Path) -> None:
    assert analogy_accuracy(vectors, questions, restrict=6).total.covered == 1
    none = analogy_accuracy(vectors, questions, restrict=2).total
    assert (none.covered, none.accuracy) == (0, None)


def test_a_question_that_points_nowhere_is_asked_and_wrong(tmp_path: Path) -> None:
    angles = numpy.array([1, 0, 2, 3]) * numpy.pi / 3
    vectors = WordVectors(["a", "b", "c", "d"], numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1))
    (tmp_path / "q").write_text("a b c d\n", encoding="utf-8")
    assert analogy_accuracy(vectors, tmp_path / "q").sections == (("", 1, 1, 0, 0),)


@pytest.mark.parametrize("line", ["Athens Greece Oslo", "a b c d e"])
def test_a_line_that_is_no_question_is_named(tmp_path: Path, vectors: WordVectors, line: str) -> None:
    (tmp_path / "q").write_text(f": x\na b c d\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match="expected four words") as caught:
        analogy_accuracy(vectors, tmp_path / "q")
    assert caught.value.where == (f"{tmp_path / 'q'}:3",)
    (tmp_path / "q").write_text(": x\n", encoding="utf-8")
    with pytest.raises(UserError, match="has no analogy questions"):
        analogy_accuracy(vectors, tmp_path / "q")


JUDGEMENTS = {
    "WordSim": "# Word 1\tWord 2\tHuman (mean)\nGreece\tAthens\t9\niraq\tnorway\t1.5\nperu\tlima\t9\nperu\tx\t3\n",
    "SimLex": "word1\tword2\tPOS\tSimLex999\tconc(w1)\ngreece\tathens\tN\t9\t1\niraq\tnorway\tN\t1.5\t9\n"
    "peru\tlima\tN\t9\t4\nperu\tx\tN\t3\t1\n",
    "commas": 'Word 1,Word 2,Human (mean)\n"greece",athens,9\niraq,norway,1.5\nperu,lima,9\nperu,x,3\n',
    "spaces": "greece athens 9\niraq norway 1.5\nperu lima 9\nperu x 3\n",
}


@pytest.mark.parametrize("name", JUDGEMENTS)
def test_judgements_are_read_in_all_their_forms(tmp_path: Path, vectors: WordVectors, name: str) -> None:
    (tmp_path / "s.txt").write_text(JUDGEMENTS[name], encoding="utf-8")
    found = similarity_correlation(vectors, tmp_path / "s.txt")
    assert found.spearman == pytest.approx(1)
    assert (found.pairs, found.covered) == (4, 3)
    assert similarity_correlation(vectors, tmp_path / "s.txt", ignore_case=False).covered < 3


def test_a_line_without_a_score_is_named(tmp_path: Path, vectors: WordVectors) -> None:
    (tmp_path / "s.txt").write_text("a b 1\nc d\n", encoding="utf-8")
    with pytest.raises(UserError, match="a score in column 3, got 'c d'") as caught:
        similarity_correlation(vectors, tmp_path / "s.txt")
    assert caught.value.where == (f"{tmp_path / 's.txt'}:2",)


def test_nothing_covered_is_no_correlation(tmp_path: Path, vectors: WordVectors) -> None:
    (tmp_path / "s.txt").write_text("a b 1\n", encoding="utf-8")
    assert similarity_correlation(vectors, tmp_path / "s.txt") == (None, 1, 0)


def test_the_kinds_of_file_are_told_apart(tmp_path: Path, questions: Path) -> None:
    assert is_analogy_file(questions)
    for name, text in {**JUDGEMENTS, "empty": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert not is_analogy_file(tmp_path / name)
    (tmp_path / "q").write_text("a b c d\n", encoding="utf-8")
    assert is_analogy_file(tmp_path / "q")


def plain_ranks(values: list[float]) -> list[float]:
    return [sum(other < value for other in values) + (sum(o == value for o in values) + 1) / 2 for value in values]


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12))
def test_spearman_is_the_correlation_of_mean_ranks(pairs: list[tuple[int, int]]) -> None:
    one, other = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    found = spearman(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(numpy.corrcoef(plain_ranks(one), plain_ranks(other))[0, 1])


def test_spearman_of_a_known_table() -> None:
    # Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 − 6·Σd²/(n(n²−1)) = 1 − 6·4/120.
    assert spearman([10, 20, 30, 40, 50], [0.2, 0.1, 0.4, 0.3, 0.5]) == pytest.approx(0.8)
    with pytest.raises(ValueError, match="cannot correlate 2 numbers with 1"):
        spearman([1, 2], [1])
