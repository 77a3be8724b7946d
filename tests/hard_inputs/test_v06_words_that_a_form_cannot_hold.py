"""V6: words with spaces or line feeds, or of no letters: text refuses or escapes them, the native form holds them."""

from pathlib import Path

import numpy
import pytest

from pellucid import UserError, WordVectors
from pellucid.vectors import VectorFileWarning

ODD = ["new york", "a\nb", "", "a\tb", "a\rb", "\ufeffa", "\\s", "a\\", "\\e", " ", "\v\f", "\0", "\u2028", "😀"]
FORMATS = ["word2vec-text", "word2vec-binary", "glove", "fasttext"]


@pytest.fixture
def vectors() -> WordVectors:
    numbers = numpy.random.default_rng(1).normal(size=(len(ODD), 3))
    return WordVectors(ODD, numbers.astype(numpy.float32))


def test_the_native_form_holds_any_string(tmp_path: Path, vectors: WordVectors) -> None:
    vectors.save(tmp_path / "v")
    again = WordVectors.load(tmp_path / "v")
    assert list(again) == ODD
    assert all(numpy.array_equal(again[word], vectors[word]) for word in ODD)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("word", ["new york", "a\nb", ""])
def test_other_forms_refuse_it_and_say_what_to_do(tmp_path: Path, format: str, word: str) -> None:
    vectors = WordVectors(["a", word], numpy.ones((2, 3), numpy.float32))
    with pytest.raises(UserError, match=f"{format} cannot hold 1 of the words: ") as caught:
        vectors.save(tmp_path / "v", format)  # type: ignore[arg-type]
    assert repr(word) in caught.value.what
    assert "escape" in caught.value.hint and "native" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_escaped_words_come_back_when_that_is_told_and_only_then(
    tmp_path: Path, vectors: WordVectors, format: str
) -> None:
    vectors.save(tmp_path / "v", format, escape=True)  # type: ignore[arg-type]
    again = WordVectors.load(tmp_path / "v", unescape=True, strict=True)
    assert list(again) == ODD
    assert numpy.array_equal(again.input_vectors, vectors.input_vectors)
    as_written = WordVectors.load(tmp_path / "v", strict=True)
    assert list(as_written)[:3] == ["new\\syork", "a\\nb", "\\e"]


def test_what_was_never_escaped_is_told(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 1\na\\x 1\nb\\sc 2\n", encoding="utf-8")
    with pytest.warns(VectorFileWarning, match="has an invalid escape"):
        assert list(WordVectors.load(tmp_path / "v.txt", unescape=True)) == ["a\\x", "b c"]


def test_half_a_character_is_refused_at_once() -> None:
    with pytest.raises(UserError, match=r"'\\ud83d' contains a lone surrogate"):
        WordVectors(["a", "\ud83d"], numpy.ones((2, 3), numpy.float32))
    vectors = WordVectors(["a"], numpy.ones((1, 3), numpy.float32))
    assert "\ud83d" not in vectors


def test_glove_refuses_a_mark_that_would_be_dropped_at_its_beginning(tmp_path: Path) -> None:
    vectors = WordVectors(["\ufeffa", "b"], numpy.ones((2, 3), numpy.float32))
    with pytest.raises(UserError, match="glove cannot hold 1"):
        vectors.save(tmp_path / "v", "glove")
    vectors.save(tmp_path / "v", "word2vec-text")
    assert list(WordVectors.load(tmp_path / "v")) == ["\ufeffa", "b"]
