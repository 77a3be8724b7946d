from pathlib import Path
from typing import Any

import numpy
import pytest

from pellucid import WordVectors
from pellucid.errors import UserError
from pellucid.word_vectors.stability import _ranges, document_ends
from tests.word_vectors.test_training import sentences

SETTINGS: dict[str, Any] = {"dim": 8, "epochs": 2, "min_count": 1, "sample": 0.0, "learning_rate": 0.05, "threads": 1}


def test_neighbours_and_scores_come_with_intervals() -> None:
    done: list[int] = []
    found = WordVectors.stability(
        sentences(400, 40),
        ["w20"],
        runs=5,
        n=4,
        measures={"near": lambda v: v.similarity("w20", "w21"), "far": lambda v: v.similarity("w20", "w38")},
        on_run=done.append,
        **SETTINGS,
    )
    assert done == [1, 2, 3, 4, 5]
    near = found.neighbours["w20"]
    assert len(near) == 4
    for one in near:
        assert one.cosine.low <= one.cosine.mean <= one.cosine.high
        assert 0 <= one.share <= 1 and 1 <= one.rank.low <= one.rank.high
    assert [one.cosine.mean for one in near] == sorted((one.cosine.mean for one in near), reverse=True)
    assert near[0].share == 1
    assert found.measures["near"].low > found.measures["far"].high
    assert found.measures["near"].high > found.measures["near"].low
    assert (found.runs, found.documents, found.unit) == (5, 400, "lines")
    assert found.as_dict()["neighbours"]["w20"][0]["cosine"]["mean"] == near[0].cosine.mean


def test_the_same_seed_gives_the_same_intervals() -> None:
    text = sentences(200, 30)
    one, other = (WordVectors.stability(iter(text), ["w9"], runs=2, **SETTINGS) for _ in range(2))
    assert one == other
    assert one != WordVectors.stability(text, ["w9"], runs=2, **{**SETTINGS, "seed": 2})


def test_it_stops_when_it_is_told_to_but_not_with_one_run() -> None:
    found = WordVectors.stability(sentences(200, 30), "w9", runs=50, on_run=lambda run: True, **SETTINGS)
    assert found.runs == 2 and list(found.neighbours) == ["w9"]


def test_documents_are_files_blocks_or_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\nc\n\n\nd e\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("f\n\n", encoding="utf-8")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    expected = {"files": [5, 7], "blocks": [2, 5, 6, 7], "lines": [1, 2, 3, 4, 5, 6, 7]}
    for kind, ends in expected.items():
        name, found = document_ends(files, 7, kind)  # type: ignore[arg-type]
        assert name == kind
        assert found.tolist()[-1] == 7
        if kind != "blocks":
            assert found.tolist() == ends
    assert document_ends(files, 7)[0] == "lines"


def test_ranges_follow_each_other() -> None:
    assert _ranges(numpy.array([3, 0, 7]), numpy.array([5, 0, 8])).tolist() == [3, 4, 7]


def test_what_cannot_be_asked_is_refused() -> None:
    text = sentences(50, 20)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ([], {}, "no words and no measures of interest"),
        (["w1"], {"runs": 1}, "expected at least 2 runs"),
        (["nobody"], {}, "'nobody' is not among"),
        ("nobody", {}, "'nobody' is not among"),
        ([], {"measures": {"near": lambda v: v.similarity("w1", "nobody")}}, "'nobody' is not among"),
    ]
    for words, options, message in cases:
        with pytest.raises(UserError, match=message):
            WordVectors.stability(text, words, **{**SETTINGS, **options})
    with pytest.raises(UserError, match="the text has a single document"):
        WordVectors.stability([[word for line in text for word in line]], ["w1"], **SETTINGS)
