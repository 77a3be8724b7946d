import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.errors import UserError
from pellucid.tokenizers import Tokenizer, train_tokenizer
from pellucid.tokenizers.alphabet import BYTES
from pellucid.tokenizers.byte_pairs import BytePairs, learn_merges, train_byte_pairs

WORDS = Counter({"▁low": 5, "▁lower": 2, "▁newest": 6, "▁widest": 3, "低的": 4, "▁": 7, BYTES[65]: 9})
SIGNS = (*BYTES, *sorted({sign for word in WORDS for sign in word} - set(BYTES)))


def learn_merges_slowly(words: Counter[str], room: int) -> list[tuple[str, str]]:
    """Recount every pair after every merge: algorithm 1 of Sennrich et al. 2016, ties to the lower numbers."""
    cut = {word: list(word) for word in words if word not in BYTES}
    numbers = {sign: number for number, sign in enumerate(sorted({sign for word in cut for sign in word}))}
    merges: list[tuple[str, str]] = []
    made: set[str] = set()
    while len(made) < room:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in cut.items():
            for pair in pairwise(parts):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], numbers[pair[0]], numbers[pair[1]]))
        if pairs[best] < 2:
            break
        merges.append(best)
        made.add("".join(best))
        numbers.setdefault("".join(best), len(numbers))
        cut = {word: merge_everywhere(parts, best) for word, parts in cut.items()}
    return merges


def merge_everywhere(parts: list[str], pair: tuple[str, str]) -> list[str]:
    merged: list[str] = []
    for part in parts:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def split_slowly(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Apply the merges one after another, each wherever it fits."""
    parts = list(word)
    for pair in merges:
        parts = merge_everywhere(parts, pair)
    return parts


@pytest.mark.parametrize("room", [0, 1, 5, 100])
def test_merges_are_those_of_the_slow_algorithm(room: int) -> None:
    assert learn_merges(WORDS, SIGNS, room) == learn_merges_slowly(WORDS, room)


@given(word=st.text(alphabet="▁lowernstid低的" + BYTES[65], min_size=1, max_size=20))
def test_words_are_cut_as_by_the_slow_algorithm(word: str) -> None:
    merges = learn_merges(WORDS, SIGNS, 100)
    model = BytePairs(SIGNS, merges)
    parts = [model.pieces[number] for number in model.split(word)]
    assert "".join(parts) == word
    assert parts == split_slowly(word, merges)


@given(word=st.text(alphabet="▁lowernstid低的" + BYTES[65], min_size=1, max_size=20))
def test_without_dropout_the_random_cut_is_the_usual_one_and_with_all_of_it_single_signs(word: str) -> None:
    model = train_byte_pairs(WORDS, SIGNS, 100)
    rng = random.Random(1).random
    assert model.split_with_dropout(word, 0.0, rng) == model.split(word)
    assert [model.pieces[number] for number in model.split_with_dropout(word, 1.0, rng)] == list(word)


def test_a_merge_is_left_out_as_often_as_asked() -> None:
    """ab → one piece unless its only merge is passed over: expected share 0.3, standard error 0.0046."""
    model = BytePairs((*BYTES, "▁", "a", "b"), [("a", "b")])
    rng = random.Random(1).random
    left_out = sum(len(model.split_with_dropout("ab", 0.3, rng)) == 2 for _ in range(10_000))
    assert abs(left_out / 10_000 - 0.3) < 5 * 0.0046


def test_another_seed_cuts_another_way(bpe: Tokenizer) -> None:
    lines = ["the cats eat the fish yesterday"] * 5
    one, same, other = (bpe.encode_batch(lines, dropout=0.5, seed=seed) for seed in (1, 1, 2))
    assert one == same != other
    assert len({tuple(ids) for ids in one}) > 1, "equal texts of one batch are cut independently"
    assert bpe.encode_batch(lines, dropout=0.0, seed=1) == [bpe.encode(line) for line in lines]


@pytest.mark.parametrize("kind", ["unigram", "words", "characters"])
def test_dropout_is_refused_where_there_are_no_merges(kind: str, each_kind: dict[str, Tokenizer]) -> None:
    with pytest.raises(UserError, match="has none"):
        each_kind[kind].encode_batch(["cat"], dropout=0.1)


def test_no_piece_reaches_across_a_byte() -> None:
    tokenizer = train_tokenizer(["猫 猫 猫 猫"] * 5 + ["\0\0\0a"] * 5)
    assert [piece.display for piece in tokenizer.pieces("猫\0\0")] == ["猫", "⟨U+0000⟩⟨00⟩", "⟨U+0000⟩⟨00⟩"]
