from pathlib import Path

import pytest

from pellucid import WordVectors
from pellucid.errors import UserError
from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.word_vectors.concordance import find_concordances
from pellucid.word_vectors.encoded_text import encode_text

LINES = ["the cat sat", "a dog sat", "catalogue", "the dog and the cat", "", "Cat"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_places_are_lines_of_the_file_those_with_both_words_first(file: Path) -> None:
    ((places, sentences, shared),) = find_concordances(["cat"], file, query="dog", examples=5)
    assert [(place.line, place.text, place.shared) for place in places] == [
        (4, "the dog and the cat", True),
        (1, "the cat sat", False),
    ]
    assert places[0].file == str(file)
    assert (sentences, shared) == (2, 1)


def test_reading_is_that_of_the_training(file: Path) -> None:
    ((places, sentences, _),) = find_concordances(["cat"], file, query="dog", lowercase=True)
    assert sentences == 3 and [place.line for place in places] == [4, 1, 6]
    ((places, _, _),) = find_concordances(["t"], file, query="x", tokenizer="characters", examples=1)
    assert places[0].line == 1


def test_a_phrase_stands_where_its_words_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("in new york today\nyork is new\nnew_york\nnew\n", encoding="utf-8")
    ((places, sentences, shared),) = find_concordances(["new_york"], path, query="today", examples=5)
    assert [place.line for place in places] == [1, 3]
    assert (sentences, shared) == (2, 1)
    ((_, sentences, shared),) = find_concordances(["is"], [["is", "new", "york"]], query="new_york")
    assert (sentences, shared) == (1, 1)


def test_a_tokenizer_s_pieces_are_found(tmp_path: Path) -> None:
    train_tokenizer(["the cat", "the dog"] * 20, TokenizerConfig(vocab_size=300)).save(tmp_path / "tokenizer.json")
    path = tmp_path / "text.txt"
    path.write_text("the 猫\n", encoding="utf-8")
    name = str(tmp_path / "tokenizer.json")
    word = encode_text(path, tmp_path, tokenizer=name, min_count=1).words[-1]
    assert word.startswith("<0x")
    ((places, _, _),) = find_concordances([word], path, query="the", tokenizer=name)
    assert [place.line for place in places] == [1]


def test_sentences_that_are_lists_have_numbers() -> None:
    ((places, _, _),) = find_concordances(["b"], [["a"], ["b", "c"]], query="c")
    assert places == ((None, 2, "b c", True),)
    with pytest.raises(UserError, match="expected a sentence as a list of words"):
        find_concordances(["b"], ["a b"], query="c")


def test_neighbours_come_with_their_sentences(file: Path) -> None:
    vectors = WordVectors(["cat", "dog", "sat"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    (dog, sat) = vectors.neighbours("cat", file, examples=1)
    assert (dog.word, dog.sentences, dog.shared) == ("dog", 2, 1)
    assert dog.score == pytest.approx(vectors.similarity("cat", "dog"))
    assert dog.examples[0].line == 4 and sat.examples[0].line == 1
