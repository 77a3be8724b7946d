import pytest

from pellucid.demo.alignment_accuracy import count_correct_alignments
from pellucid.demo.language import DemoPair, generate

PAIR = DemoPair(
    "她喝茶。", "She drinks tea.", ("她", "喝", "茶", "。"), ("She", "drinks", "tea", "."),
    ((0, 0), (1, 1), (2, 2), (3, 3)), "event", (("喝", "茶"),),
)  # fmt: skip


def test_attending_to_the_translated_word_is_correct() -> None:
    weights = [(0, 0, 0.9), (1, 1, 0.6), (2, 1, 0.4), (1, 2, 0.7), (2, 3, 0.5), (3, 4, 1.0)]
    # "drink" at 喝: right; "s" at 喝: right; "tea" at 茶: right; "." at 。: right; "She" at 她: right.
    assert count_correct_alignments(PAIR, ["她", "喝", "茶", "。"], ["▁She", "▁drink", "s", "▁tea", "."], weights) == (
        5,
        5,
    )


def test_the_strongest_link_counts() -> None:
    weights = [(0, 0, 0.4), (2, 0, 0.6), (1, 1, 0.2), (0, 1, 0.1)]
    assert count_correct_alignments(PAIR, ["她", "喝", "茶", "。"], ["▁She", "▁drinks", "▁tea", "."], weights) == (1, 2)


def test_a_token_across_two_words_is_correct_for_either() -> None:
    assert count_correct_alignments(
        PAIR, ["她喝", "茶。"], ["▁She", "▁drinks", "▁tea", "."], [(0, 0, 1.0), (0, 1, 1.0)]
    ) == (2, 2)


def test_tokens_that_do_not_spell_the_sentence_are_not_counted() -> None:
    assert count_correct_alignments(
        PAIR, ["她", "⟨E5⟩", "茶", "。"], ["▁She", "▁drinks", "▁tea", "."], [(0, 0, 1.0)]
    ) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_the_true_alignment_is_correct(seed: int) -> None:
    for pair in generate(20, seed):
        tokens, at = [], 0
        for word in pair.target_words:
            first = pair.target.index(word, at)
            tokens.append("▁" * (first - at) + word)
            at = first + len(word)
        weights = [(i, j, 1.0) for i, j in pair.alignment]
        count = len(pair.target_words)
        assert count_correct_alignments(pair, pair.source_words, tokens, weights) == (count, count)
