from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from pellucid.errors import UserError
from pellucid.tokenizers import Tokenizer, TokenizerConfig, choose_vocab_size, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind
from pellucid.tokenizers.training import VOCABULARY_SIZES, choose_vocab_size_for_bytes

KINDS: tuple[TokenizerKind, ...] = ("bpe", "unigram", "words", "characters")
LINES = [f"the {name} number {number} eats 鱼 and {name}s" for number in range(300) for name in ("cat", "dog", "猫")]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_tokenizer(kind: TokenizerKind) -> None:
    config = TokenizerConfig(kind=kind, vocab_size=330)
    assert train_tokenizer(LINES, config).as_dict() == train_tokenizer(iter(LINES), config).as_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_the_vocabulary_is_as_large_as_asked_or_as_the_text_allows(kind: TokenizerKind) -> None:
    assert train_tokenizer(LINES, TokenizerConfig(kind=kind, vocab_size=300)).vocab_size <= 300
    large = train_tokenizer(LINES, TokenizerConfig(kind=kind, vocab_size=30_000)).vocab_size
    assert 290 < large < 400


def test_bpe_makes_exactly_as_many_as_asked_when_it_can() -> None:
    assert train_tokenizer(LINES, TokenizerConfig(vocab_size=312)).vocab_size == 312


def test_a_text_of_empty_lines_is_refused() -> None:
    for nothing in ([], ["", ""]):
        with pytest.raises(UserError, match="no text"):
            train_tokenizer(nothing)


@pytest.mark.parametrize("kind", KINDS)
def test_one_character_is_enough(kind: TokenizerKind) -> None:
    tokenizer = train_tokenizer(["a"], TokenizerConfig(kind=kind))
    assert tokenizer.decode(tokenizer.encode("ab a")) == "ab a"


def test_one_text_in_place_of_many_is_refused() -> None:
    with pytest.raises(UserError, match="got one text"):
        train_tokenizer("the cat")
    with pytest.raises(UserError, match="got one text"):
        train_tokenizer(["the cat"]).encode_batch("the cat")


def test_of_much_text_an_even_sample_is_used_and_counted() -> None:
    def both_sides() -> Iterator[str]:
        for number in range(4000):
            yield f"a cat {number}"
            yield f"猫 {number}"

    characters = sum(map(len, both_sides()))
    used = train_tokenizer(both_sides(), TokenizerConfig(max_training_characters=8000))
    assert used.trained_on["texts"] == 8000
    assert used.trained_on["characters"] == characters
    assert 2000 < used.trained_on["used_characters"] <= 8000
    assert 200 < used.trained_on["used_texts"] < 1500
    assert {"c", "a", "t"} <= set(used.alphabet.letters), "both sides are in the sample"
    assert used.alphabet.unspaced == "猫"


def test_one_text_larger_than_the_limit_is_cut() -> None:
    tokenizer = train_tokenizer(["ab" * 1000], TokenizerConfig(max_training_characters=10))
    assert tokenizer.trained_on == {"texts": 1, "used_texts": 1, "characters": 2000, "used_characters": 10}


def test_chinese_needs_no_segmenter() -> None:
    lines = ["那只猫吃了三条鱼", "三条鱼在那里", "那只猫在这里", "这只猫不吃鱼"] * 10
    shown = [piece.display for piece in train_tokenizer(lines, TokenizerConfig(vocab_size=340)).pieces("那只猫在")]
    assert "".join(shown) == "那只猫在"
    assert len(shown) < 4, "characters that often stand together become one piece"


def test_rare_characters_become_bytes_and_frequent_ones_do_not() -> None:
    lines = ["".join(chr(0x4E00 + i) for i in range(400))] * 100 + ["鿿"]
    tokenizer = train_tokenizer(lines, TokenizerConfig(kind="characters"))
    assert len(tokenizer.encode("一")) == 1
    assert len(tokenizer.encode("鿿")) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_special_ids_are_distinct_and_without_bytes(kind: TokenizerKind, each_kind: dict[str, Tokenizer]) -> None:
    tokenizer = each_kind[kind]
    special = [tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id, *tokenizer.placeholder_ids]
    assert len(set(special)) == len(special) == 13
    assert all(tokenizer.id_to_bytes(number) == b"" for number in special)
    assert all(tokenizer.id_to_bytes(number) for number in range(13, tokenizer.vocab_size))
    assert tokenizer.decode([1, *tokenizer.encode("the cat"), 2, 0, 0]) == "the cat"
    shown = [piece.display for piece in tokenizer.pieces_from_ids([1, 3, 2, 0])]
    assert shown == ["⟨start⟩", "⟨placeholder 0⟩", "⟨end⟩", "⟨pad⟩"]


def test_what_is_out_of_range_is_refused(bpe: Tokenizer) -> None:
    for number in (-1, bpe.vocab_size):
        with pytest.raises(UserError, match="not in the vocabulary"):
            bpe.decode([number])
    for number in (-1, 10):
        with pytest.raises(UserError, match="no placeholder"):
            bpe.encode_segments([number])


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="use kind bpe"):
        TokenizerConfig(kind="words", dropout=0.1)
    with pytest.raises(ValidationError):
        TokenizerConfig(vocab_size=299)


def test_the_size_grows_with_the_text_as_the_docstring_says() -> None:
    limits = [pairs for pairs, _ in VOCABULARY_SIZES]
    sizes = [choose_vocab_size(pairs) for pairs in (*limits, limits[-1] + 1)]
    assert sizes == sorted(set(sizes))
    header, _, row = [
        [cell.strip() for cell in line.strip().strip("|").split("|")][1:]
        for line in (choose_vocab_size.__doc__ or "").splitlines()
        if line.strip().startswith("|")
    ]
    assert header == [*(f"{limit:,}" for limit in limits), "more"]
    assert row == [f"{size:,}" for size in sizes]
    assert (choose_vocab_size(27_600), choose_vocab_size(291_811)) == (4_000, 8_000)


def test_a_language_model_gets_as_many_ids_as_a_translator_of_as_much_text() -> None:
    """A book of 100 kB, Shakespeare's works of 4.8 MB, 15 MB of Chinese poems, 10 GB."""
    assert [choose_vocab_size_for_bytes(size) for size in (100_000, 4_800_000, 15_500_000, 10**10)] == [
        600, 4_000, 8_000, 32_000,
    ]  # fmt: skip


def test_the_size_is_chosen_from_the_pairs_on_both_sides_or_on_one() -> None:
    lines = [f"{a}{b}{c} {c}{a}{b}" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwxyz" for _ in range(2)]
    assert len(lines) == 1280
    assert train_tokenizer(lines).vocab_size <= choose_vocab_size(640) == 600
    assert 600 < train_tokenizer(lines, TokenizerConfig(joint=False)).vocab_size <= choose_vocab_size(1280)
