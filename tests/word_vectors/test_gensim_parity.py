"""gensim reads what we write, we read what gensim writes, and both find the same neighbours."""

from pathlib import Path

import numpy
import pytest
from gensim.models import KeyedVectors

from pellucid import WordVectors
from tests.word_vectors.example_vectors import random_vectors


@pytest.fixture
def vectors() -> WordVectors:
    draw = numpy.random.default_rng(1)
    words = ["the", "naïve", "猫", "</s>", "don't", "new_york", "1999", *(f"w{row}" for row in range(200))]
    numbers = (draw.normal(size=(len(words), 17)) * 10.0 ** draw.integers(-6, 3, (len(words), 17))).astype(
        numpy.float32
    )
    return WordVectors(words, numbers)


def of_gensim(vectors: WordVectors) -> KeyedVectors:
    keyed = KeyedVectors(vectors.dim)
    keyed.add_vectors(list(vectors), vectors.input_vectors)
    return keyed


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("word2vec-text", {"binary": False}),
        ("fasttext", {"binary": False}),
        ("word2vec-binary", {"binary": True}),
        ("glove", {"binary": False, "no_header": True}),
    ],
)
@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # no_header leaves a file open in gensim
def test_it_reads_what_we_write(
    tmp_path: Path, vectors: WordVectors, format: str, options: dict[str, bool], packing: str
) -> None:
    path = tmp_path / f"v{packing}"
    vectors.save(path, format)  # type: ignore[arg-type]
    keyed = KeyedVectors.load_word2vec_format(str(path), **options)
    assert keyed.index_to_key == list(vectors)
    assert numpy.array_equal(keyed.vectors, vectors.input_vectors)


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("header", [False, True])
def test_we_read_what_it_writes(tmp_path: Path, vectors: WordVectors, binary: bool, header: bool, packing: str) -> None:
    if binary and not header:
        return
    path = tmp_path / f"v{packing}"
    of_gensim(vectors).save_word2vec_format(str(path), binary=binary, write_header=header)
    again = WordVectors.load(path, strict=True)
    assert list(again) == list(vectors)
    assert numpy.array_equal(again.input_vectors, vectors.input_vectors)


def test_its_own_files_are_refused_with_the_way_out(tmp_path: Path, vectors: WordVectors) -> None:
    of_gensim(vectors).save(str(tmp_path / "v.kv"))
    with pytest.raises(Exception, match="is a Python pickle") as caught:
        WordVectors.load(tmp_path / "v.kv")
    assert "save_word2vec_format" in str(caught.value)


def test_neighbours_and_analogies_are_the_same() -> None:
    vectors = random_vectors(300, 20)
    keyed = of_gensim(vectors)
    for query in ("w7", ["w1", "w2", "w250"]):
        ours = vectors.similar(query, 12)
        theirs = keyed.most_similar(query, topn=12)
        assert [word for word, _ in ours] == [word for word, _ in theirs]
        # gensim computes in float32.
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)
    ours = vectors.analogy("w1", "w2", "w3", 12, restrict=100)
    theirs = keyed.most_similar(positive=["w2", "w3"], negative=["w1"], topn=12, restrict_vocab=100)
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)
    assert vectors.odd_one_out(["w1", "w2", "w3", "w4"]) == keyed.doesnt_match(["w1", "w2", "w3", "w4"])
    assert vectors.similarity("w5", "w6") == pytest.approx(keyed.similarity("w5", "w6"), abs=1e-6)
