import base64
import json
import re
import sys
from typing import Any

import numpy
import pytest

from pellucid import WordVectors
from pellucid.errors import UserError
from pellucid.word_vectors.vector_map import build_map, project_to_plane, render_map
from tests.word_vectors.example_vectors import random_vectors


def held(page: str) -> dict[str, Any]:
    (text,) = re.findall(r"const data = (\{.*\});\n", page)
    data: dict[str, Any] = json.loads(text)
    return data


def test_pca_is_that_of_the_singular_values() -> None:
    rows = numpy.random.default_rng(1).normal(size=(50, 6)) * [5, 3, 1, 1, 1, 1]
    places, (first, second) = project_to_plane(rows)
    centred = rows - rows.mean(axis=0)
    _, sizes, axes = numpy.linalg.svd(centred, full_matrices=False)
    expected = centred @ axes[:2].T
    assert numpy.abs(places) == pytest.approx(numpy.abs(expected))
    assert [first, second] == pytest.approx((sizes**2 / (sizes**2).sum())[:2].tolist())
    assert project_to_plane(rows[:, :1])[0].shape == (50, 2)


def test_neighbours_on_the_map_are_the_real_ones() -> None:
    vectors = random_vectors(700, 10)
    drawn = build_map(vectors, points=700, neighbours=5)
    for word in ("w0", "w500", "w699"):
        near = [drawn.words[n] for n in drawn.neighbours[drawn.words.index(word)]]
        assert near == [one.word for one in vectors.similar(word, 5)]


def test_the_most_frequent_words_are_drawn_and_zeros_are_not() -> None:
    vectors = WordVectors(["a", "b", "c", "d"], [[1, 0], [0, 1], [0, 0], [1, 1]], counts=[1, 9, 8, 5])
    assert build_map(vectors, points=3).words == ("b", "d")
    assert build_map(vectors, points=100).words == ("b", "d", "a")


def test_small_numbers_have_a_place_too() -> None:
    vectors = random_vectors(30, 4)
    small = WordVectors(vectors.words, vectors.input_vectors * numpy.float32(1e-30))
    one, other = build_map(vectors, points=30), build_map(small, points=30)
    assert one.coordinates == pytest.approx(other.coordinates, abs=1e-6)  # float32, and small ones have fewer digits
    assert numpy.array_equal(one.neighbours, other.neighbours)
    assert "a?b" in render_map(one, "a\udcffb")


def test_the_page_holds_everything_and_loads_nothing() -> None:
    words = ["</script><b>", "猫", "a\u2028b", "x"]
    vectors = WordVectors(words, numpy.eye(4))
    page = render_map(build_map(vectors, points=4), "猫 & <i>")
    assert not re.search(r"""(src|href)=|url\(|@import|https?:""", page)
    assert page.count("</script>") == 1 and "\u2028" not in page
    data = held(page)
    assert data["words"] == words and data["title"] == "猫 & <i>"
    places = numpy.frombuffer(base64.b64decode(data["coordinates"]), "<u2").reshape(4, 2)
    assert places.min() == 0 and places.max() == 65535
    near = numpy.frombuffer(base64.b64decode(data["neighbours"]), "<i4")
    assert len(near) == 4 * data["perWord"] and near.max() < 4


def test_fifty_thousand_points_make_a_page_that_can_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "pellucid.word_vectors.vector_map._nearest", lambda units, n, _: numpy.zeros((len(units), n), numpy.int32)
    )
    page = render_map(build_map(random_vectors(50_000, 4), points=50_000), "many")
    assert len(page.encode("utf-8")) < 4_000_000


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="expected 2 to 50,000 points"):
        build_map(random_vectors(5, 2), points=50_001)
    with pytest.raises(UserError, match="a map needs two words"):
        build_map(WordVectors(["a", "b"], [[0, 0], [1, 1]]))
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(UserError, match="umap-learn is not installed"):
        build_map(random_vectors(5, 2), method="umap")


@pytest.mark.filterwarnings("ignore")  # of umap and what it stands on
def test_umap_keeps_groups_together() -> None:
    draw = numpy.random.default_rng(1)
    centres = numpy.repeat(numpy.eye(8)[:2] * 5, 25, axis=0)
    vectors = WordVectors([f"w{n}" for n in range(50)], centres + draw.normal(size=(50, 8)) * 0.3)
    places = build_map(vectors, method="umap").coordinates
    gap = numpy.linalg.norm(places[:25].mean(axis=0) - places[25:].mean(axis=0))
    assert gap > places[:25].std() and gap > places[25:].std()
