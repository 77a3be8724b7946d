from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.errors import UserError
from pellucid.tokenizers import Tokenizer, TokenizerConfig, train_tokenizer
from pellucid.tokenizers.alphabet import BYTES, Alphabet, choose_alphabet

EVERYTHING = choose_alphabet(Counter("the cat, naïve क्षि 那只猫。カタ ไทย 150 ١٢ (!) 🤗\n"), 1.0, None)


def split(text: str) -> list[str]:
    return EVERYTHING.split(EVERYTHING.mark_start(EVERYTHING.escape(text)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the cat", ["▁the", "▁cat"]),
        ("the, the", ["▁the", ",", "▁the"]),
        ("(the)", ["(", "the", ")"]),
        ("the (cat)", ["▁the", "▁(", "cat", ")"]),
        ("150 cat", ["1", "5", "0", "▁cat"]),
        ("cat 150", ["▁cat", "▁", "1", "5", "0"]),
        ("١٢", ["١", "٢"]),
        ("那只猫。", ["那只猫", "。"]),
        ("那只cat猫", ["那只", "cat", "猫"]),
        ("那 猫", ["那", "▁", "猫"]),
        ("カタ", ["カタ"]),
        ("ไทย", ["ไทย"]),
        ("naïve क्षि", ["▁naïve", "▁क्षि"]),
        ("the  cat", ["▁the", "▁", "▁cat"]),
        (" cat", ["▁", "▁cat"]),
        ("🤗🤗", ["🤗🤗"]),
        ("é", [BYTES[0xC3], BYTES[0xA9]]),
        ("▁", [BYTES[0xE2], BYTES[0x96], BYTES[0x81]]),
        ("", []),
    ],
)
def test_text_comes_apart_into_words(text: str, words: list[str]) -> None:
    assert split(text) == words


@given(text=st.text())
def test_the_words_joined_are_the_escaped_text(text: str) -> None:
    assert "".join(split(text)) == EVERYTHING.mark_start(EVERYTHING.escape(text))


def test_a_very_long_run_is_cut_into_bounded_words() -> None:
    assert max(map(len, split("a" * 10_000 + "猫" * 10_000 + "!" * 10_000))) <= 65


def test_a_word_has_the_same_ids_at_the_start_and_inside(bpe: Tokenizer) -> None:
    cat = bpe.encode("cat")
    assert bpe.encode("the cat") == bpe.encode("the") + cat
    assert bpe.encode("猫cat") != bpe.encode("猫") + cat


def test_the_most_frequent_characters_are_chosen_up_to_the_coverage_and_the_limit() -> None:
    counts = {chr(0x4E00 + i): 1000 - i for i in range(900)}
    covered = choose_alphabet(counts, 0.9, None).unspaced
    assert sum(counts[sign] for sign in covered) >= 0.9 * sum(counts.values())
    assert sum(counts[sign] for sign in covered[:-1]) < 0.9 * sum(counts.values())
    assert len(choose_alphabet(counts, 0.01, None).unspaced) == 300
    assert choose_alphabet(counts, 1.0, 7).unspaced == "".join(chr(0x4E00 + i) for i in range(7))


def test_marks_are_never_in_the_alphabet() -> None:
    assert choose_alphabet(Counter("▁\0\U000f0000\U000f0100\U000f01ff \ud800a"), 1.0, None) == Alphabet(letters="a")


def test_half_a_character_is_refused_with_its_place(tokenizer: Tokenizer) -> None:
    with pytest.raises(UserError, match=r"U\+D83D at character 4"):
        tokenizer.encode("cat\ud83d")
    with pytest.raises(UserError, match="lone surrogate"):
        train_tokenizer(["cat\udc80"], TokenizerConfig(kind=tokenizer.kind))
