import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.tokenizers.alphabet import BYTES
from pellucid.tokenizers.unigram import Unigram, train_unigram

SCORES = {"▁": -3.0, "a": -3.1, "b": -3.3, "ab": -4.0, "ba": -3.9, "aba": -5.5, "▁ab": -5.2, "bb": -6.9}
SIGNS = (*BYTES, "▁", "a", "b")


def best_score(word: str) -> float:
    """Try every way to cut a word."""
    if not word:
        return 0.0
    heads = [word[:end] for end in range(1, len(word) + 1) if word[:end] in SCORES]
    return max(SCORES[head] + best_score(word[len(head) :]) for head in heads)


@given(word=st.text(alphabet="▁ab", min_size=1, max_size=10))
def test_a_word_is_cut_its_most_probable_way(word: str) -> None:
    model = Unigram(SIGNS, SCORES)
    parts = [model.pieces[number] for number in model.split(word)]
    assert "".join(parts) == word
    assert math.isclose(sum(SCORES[part] for part in parts), best_score(word), abs_tol=1e-9)


def test_bytes_are_pieces_by_themselves() -> None:
    model = Unigram(SIGNS, SCORES)
    assert [model.split(byte) for byte in BYTES] == [[number] for number in range(256)]


WORDS = Counter({"▁cat": 60, "▁cats": 30, "▁eat": 40, "▁eats": 20, "▁tea": 10, "▁seat": 10, "▁": 5, "▁act": 1})


def test_training_keeps_the_pieces_that_pay_and_leaves_room_unexceeded() -> None:
    base_symbols = (*BYTES, *sorted({sign for word in WORDS for sign in word}))
    for room in (0, 1, 3, 100):
        model = train_unigram(WORDS, base_symbols, room)
        assert len(model.pieces) <= len(base_symbols) + room
        assert model.pieces[: len(base_symbols)] == base_symbols
    assert "▁cat" in train_unigram(WORDS, base_symbols, 3).pieces


def test_scores_are_log_probabilities_in_falling_order() -> None:
    base_symbols = (*BYTES, *sorted({sign for word in WORDS for sign in word}))
    entries = train_unigram(WORDS, base_symbols, 5).as_dict()["scores"]
    assert isinstance(entries, list)
    assert math.isclose(sum(math.exp(score) for _, score in entries), 1.0, abs_tol=1e-4)  # six digits are kept
    longer = [score for piece, score in entries if len(piece) > 1]
    assert longer == sorted(longer, reverse=True)


def test_training_ends_where_more_bytes_are_used_than_there_is_room_for_pieces() -> None:
    """Characters too rare for the alphabet are bytes: as many as you like, and none can be dropped."""
    rare = "".join(chr(0x4E00 + 217 * n % 20_000) for n in range(3_000))
    tokenizer = train_tokenizer([rare, "the cat the cat"] * 2, TokenizerConfig(kind="unigram", vocab_size=400))
    assert len({number for number in tokenizer.encode(rare) if tokenizer.id_to_bytes(number) > b"\x7f"}) > 65
    assert tokenizer.vocab_size <= 400
    assert tokenizer.decode(tokenizer.encode(rare)) == rare
