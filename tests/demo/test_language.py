from collections import Counter
from itertools import chain, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.demo.language import (
    TEST_PAIRS,
    TRAIN_PAIRS,
    DemoData,
    DemoPair,
    all_combinations,
    cooccurrences,
    fixed_phrases,
    generate,
    has_unseen_combination,
    held_out_combinations,
    spans,
    split,
)
from pellucid.demo.lexicon import KIN, NAMES, NOUNS, SURNAMES, TIMES, TITLES
from pellucid.demo.noun_phrases import PRONOUNS

seeds = st.integers(min_value=0, max_value=2**31)


@pytest.fixture(scope="module")
def pairs() -> list[DemoPair]:
    return generate(6_000, seed=11)


@pytest.fixture(scope="module")
def data() -> DemoData:
    return split(3_000, valid_pairs=50, test_pairs=100, seed=5)


@given(seeds)
@settings(max_examples=20)
def test_the_same_seed_gives_the_same_pairs_and_a_longer_list_begins_with_the_shorter(seed: int) -> None:
    assert generate(15, seed) == generate(30, seed)[:15]


def test_another_seed_gives_other_pairs() -> None:
    assert not {pair.source for pair in generate(50, 1)} >= {pair.source for pair in generate(50, 2)}


@given(seeds)
@settings(max_examples=30)
def test_every_word_has_a_link_and_every_link_is_in_range(seed: int) -> None:
    for pair in generate(20, seed):
        assert {i for i, _ in pair.alignment} == set(range(len(pair.source_words)))
        assert {j for _, j in pair.alignment} == set(range(len(pair.target_words)))
        assert list(pair.alignment) == sorted(set(pair.alignment))


@given(seeds)
@settings(max_examples=30)
def test_the_texts_are_written_as_the_languages_are(seed: int) -> None:
    for pair in generate(20, seed):
        assert pair.source == "".join(pair.source_words)
        assert pair.source[-1] in "。？！" and pair.target[-1] in ".?!"
        assert pair.source.isprintable() and " " not in pair.source
        assert pair.target[0].isupper() and "  " not in pair.target and pair.target.isascii()
        assert ("？" in pair.source) == ("?" in pair.target)


def test_spans_are_the_offsets_of_the_words(pairs: list[DemoPair]) -> None:
    for pair in pairs[:500]:
        for text, words in ((pair.source, pair.source_words), (pair.target, pair.target_words)):
            assert [text[first:last] for first, last in spans(text, words)] == list(words)
    assert spans("Anna's a cat.", ("Anna", "'s", "a", "cat", ".")) == [(0, 4), (4, 6), (7, 8), (9, 12), (12, 13)]


def test_a_source_has_one_target() -> None:
    from pellucid.demo.language import _stream

    targets: dict[str, str] = {}
    for pair in chain(islice(_stream(3), 20_000), fixed_phrases()):
        assert targets.setdefault(pair.source, pair.target) == pair.target


def test_no_source_occurs_twice(pairs: list[DemoPair]) -> None:
    assert len({pair.source for pair in pairs}) == len(pairs)


def test_the_vocabulary_is_moderate(pairs: list[DemoPair]) -> None:
    words = Counter(word for pair in pairs for word in pair.source_words)
    assert 300 < len(words) < 450


def test_there_are_more_than_a_million_sentences() -> None:
    # 他去年送给了她一本书: subject, receiver, one of the gifts, how many of them, when, by this pattern alone.
    people = len(PRONOUNS) + len(NAMES) + len(SURNAMES) * len(TITLES) + 4 * len(KIN)
    gifts, numbers = 20, 12
    assert people * (people - 10) * gifts * numbers * len(TIMES["past"]) > 1_000_000


def test_two_things_are_两_and_never_二(pairs: list[DemoPair]) -> None:
    measures = {noun.measure for noun in NOUNS}
    for pair in pairs:
        assert "二" not in pair.source_words
        for word, following in zip(pair.source_words, pair.source_words[1:], strict=False):
            if word == "两":
                assert following in measures | {"点"}


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("比", "than"),
        ("因此", "therefore"),
        ("已经", "already"),
        ("谁", "who"),
        ("什么", "what"),
        ("如果", "if"),
        ("可是", "but"),
    ],
)
def test_a_word_of_one_sense_is_always_translated_by_its_word(
    pairs: list[DemoPair], chinese: str, english: str
) -> None:
    for pair in pairs:
        if chinese in pair.source_words:
            linked = {pair.target_words[j].lower() for i, j in pair.alignment if pair.source_words[i] == chinese}
            assert english in linked or "whose" in linked


def test_every_pattern_occurs(pairs: list[DemoPair]) -> None:
    assert len({pair.template for pair in pairs}) == 33


def test_fixed_phrases_have_links() -> None:
    by_source = {pair.source: pair for pair in fixed_phrases()}
    assert by_source["好久不见。"].target == "Long time no see."
    assert by_source["谢谢。"].target == "Thank you."
    assert by_source["早上好。"].alignment == ((0, 1), (1, 0), (2, 2))


def test_no_source_or_target_of_the_test_is_in_training_or_validation(data: DemoData) -> None:
    known = (*data.train, *data.valid)
    assert {pair.source for pair in data.test}.isdisjoint(pair.source for pair in known)
    assert {pair.target for pair in data.test}.isdisjoint(pair.target for pair in known)
    assert {pair.source for pair in data.valid}.isdisjoint(pair.source for pair in data.train)


def test_the_split_has_the_sizes_asked_for(data: DemoData) -> None:
    assert (len(data.train), len(data.valid), len(data.test)) == (3_000, 50, 100)
    assert len({pair.target for pair in data.test}) == 100


def test_at_least_a_third_of_the_test_has_unseen_combinations(data: DemoData) -> None:
    assert len(data.unseen_combinations) >= len(data.test) * 0.3
    assert set(data.unseen_combinations) <= set(data.test)
    sources = [set(pair.source_words) for pair in data.train]
    for pair in data.unseen_combinations:
        assert any(not any({word, noun} <= words for words in sources) for word, noun in pair.combinations)


def test_a_combination_is_unseen_until_its_words_occur_together() -> None:
    pair = next(pair for pair in generate(100, 1) if pair.combinations)
    others = [other for other in generate(100, 1) if other.source != pair.source]
    assert not has_unseen_combination(pair, cooccurrences([pair, *others]))
    assert has_unseen_combination(pair, cooccurrences([]))


def test_a_word_held_out_from_some_partners_keeps_four_others() -> None:
    partners = Counter(word for pair in all_combinations() for word in pair)
    held_out = held_out_combinations(5)
    assert held_out <= set(all_combinations())
    assert len(held_out) == len(all_combinations()) // 10
    for word, times in Counter(word for pair in held_out for word in pair).items():
        assert partners[word] - times >= 4


def test_the_demo_has_its_documented_sizes() -> None:
    # The guide names them.
    assert (TRAIN_PAIRS, TEST_PAIRS) == (20_000, 500)


def test_the_fixed_phrases_are_all_in_training(data: DemoData) -> None:
    assert set(fixed_phrases()) <= set(data.train)


@given(seeds)
@settings(max_examples=3)
def test_any_seed_splits_without_a_leak(seed: int) -> None:
    found = split(300, valid_pairs=20, test_pairs=20, seed=seed)
    assert {pair.target for pair in found.test}.isdisjoint(pair.target for pair in found.train)
    assert len(found.unseen_combinations) >= 8
