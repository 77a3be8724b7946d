"""What is held out for validation."""

from hypothesis import given
from hypothesis import strategies as st

from pellucid.corpus.pairs import Location, SentencePair
from pellucid.corpus.splitting import HeldOut, hold_out, validation_size


def pairs_of(texts: list[tuple[str, str]]) -> list[SentencePair]:
    return [
        SentencePair(source, target, Location("a", number), Location("b", number))
        for number, (source, target) in enumerate(texts, 1)
    ]


def held(pairs: list[SentencePair]) -> HeldOut:
    return hold_out(lambda: iter(pairs), len(pairs))


def test_sizes_are_a_hundredth_within_limits() -> None:
    assert [validation_size(count) for count in (0, 4, 200, 1000, 27_000, 10**6)] == [0, 0, 40, 100, 270, 2000]


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.text("xyz", max_size=2)), max_size=60))
def test_nothing_held_out_is_trained_on_and_nothing_is_lost_uncounted(texts: list[tuple[str, str]]) -> None:
    pairs = pairs_of(texts)
    split = held(pairs)
    training = list(split.training_pairs())
    assert not {pair.source for pair in training} & {pair.source for pair in split.valid}
    assert not {pair.target for pair in training} & {pair.target for pair in split.valid}
    assert len(split.valid) <= max(len(pairs) // 5, 0)
    assert len(training) == split.training
    assert len(training) + len(split.valid) + split.shared == len(pairs)


def test_the_choice_depends_on_the_texts_alone() -> None:
    pairs = pairs_of([(f"s{number}", f"t{number}") for number in range(2000)])
    backwards = held(pairs[::-1]).valid
    assert set(held(pairs).valid) == set(backwards) and len(backwards) == 100
    assert held(pairs).valid == tuple(sorted(backwards, key=lambda pair: pair.source_location.line))


def test_sentences_that_many_pairs_share_stay_in_training() -> None:
    pairs = pairs_of([(f"s{number}", "Yes." if number % 2 else f"t{number}") for number in range(3000)])
    split = held(pairs)
    assert all(pair.target != "Yes." for pair in split.valid)
    assert split.shared == 0 and split.training == 2900
