import gzip
import lzma
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pellucid.corpus.text_files import read_blocks, read_lines
from pellucid.errors import UserError
from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText, encode_text
from pellucid.word_vectors.sanity_checks import check_text

words = st.sampled_from(["the", "cat", "猫", "naïve", "x"])
texts = st.lists(st.lists(words, max_size=6), max_size=12)


def sentences_of(text: EncodedText) -> list[list[str]]:
    return [[text.words[n] for n in sentence] for sentence in text.ids]


@given(texts, st.integers(1, 3), st.none() | st.integers(2, 4))
def test_a_text_is_counted_and_encoded_as_a_counter_does(
    tmp_path_factory: pytest.TempPathFactory, text: list[list[str]], min_count: int, max_vocab: int | None
) -> None:
    folder = tmp_path_factory.mktemp("text")
    pluralize = Counter(word for sentence in text for word in sentence)
    kept = [word for word, count in pluralize.most_common(max_vocab) if count >= min_count]
    if len(kept) < 2:
        return
    file = folder / "text.txt"
    file.write_text("\n".join(map(" ".join, text)) + "\n", encoding="utf-8")
    for source in (text, file):
        found = encode_text(source, folder, min_count=min_count, max_vocab=max_vocab)
        assert list(found.words) == kept
        assert found.counts.tolist() == [pluralize[word] for word in kept]
        assert sentences_of(found) == [[word for word in sentence if word in kept] for sentence in text]
        assert found.words_read == pluralize.total() and found.distinct == len(pluralize)


def test_packed_files_marks_and_missing_line_ends_are_read(tmp_path: Path) -> None:
    content = "\ufeffthe cat\r\nthe 猫".encode()
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(content))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(content))
    files = [tmp_path / name for name in ("a.txt", "b.txt.gz", "c.txt.xz")]
    found = encode_text(files, tmp_path, min_count=1)
    assert sentences_of(found) == [["the", "cat"], ["the", "猫"]] * 3


@pytest.mark.parametrize("block", [1, 2, 1 << 18])
def test_a_mark_goes_however_the_first_bytes_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("pellucid.corpus.text_files._READ_BYTES", block)
    (tmp_path / "a.txt").write_bytes("\ufeffthe cat\n".encode())
    assert encode_text(tmp_path / "a.txt", tmp_path, min_count=1).words == ("the", "cat")


def test_a_mark_goes_where_the_first_bytes_of_an_archive_unpack_to_nothing(tmp_path: Path) -> None:
    draw = random.Random(1)  # words that pack badly: the first 16 KiB of the archive are not yet a whole block of zstd
    content = "\ufeffthe cat\n" + "\n".join(draw.randbytes(20).hex() for _ in range(5000))
    (tmp_path / "a.zst").write_bytes(zstandard.compress(content.encode()))
    assert next(read_blocks(tmp_path / "a.zst")) == b""
    assert encode_text(tmp_path / "a.zst", tmp_path, min_count=1).words[:2] == ("the", "cat")


def test_a_line_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"the cat\nthe d\xffg\nthe end\n")
    for options in ({}, {"tokenizer": "words"}):
        with pytest.raises(UserError) as caught:
            encode_text(path, tmp_path, min_count=1, **options)  # type: ignore[arg-type]
        assert caught.value.where == (f"{path}:2",)


def test_utf16_and_files_without_white_space_are_refused(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_bytes("the cat".encode("utf-16"))
    with pytest.raises(UserError, match="is UTF-16"):
        encode_text(tmp_path / "wide.txt", tmp_path)
    (tmp_path / "long.txt").write_bytes(b"x" * (3 << 20))
    with pytest.raises(UserError, match="a word is longer than 1 MiB"):
        encode_text(tmp_path / "long.txt", tmp_path)


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        ("whitespace", [["那只猫", "Cat-like"]]),
        ("words", [["那", "只", "猫", "Cat", "-", "like"]]),
        ("characters", [list("那只猫Cat-like")]),
        ("rjieba", [["那", "只", "猫", "Cat", "-", "like"]]),
    ],
)
def test_lines_come_apart_as_asked(tmp_path: Path, tokenizer: str, expected: list[list[str]]) -> None:
    path = tmp_path / "zh.txt"
    path.write_text("那只猫 Cat-like\n", encoding="utf-8")
    found = sentences_of(encode_text(path, tmp_path, tokenizer=tokenizer, min_count=1))
    if tokenizer == "rjieba":
        assert "".join(found[0]) == "那只猫Cat-like" and len(found[0]) < 12
    else:
        assert found == expected


def test_a_model_s_tokenizer_gives_pieces(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(["the cat", "the dog"] * 20, TokenizerConfig(vocab_size=300))
    tokenizer.save(tmp_path / "tokenizer.json")
    path = tmp_path / "text.txt"
    path.write_text("the cat 猫\n", encoding="utf-8")
    found = encode_text(path, tmp_path, tokenizer=str(tmp_path / "tokenizer.json"), min_count=1)
    assert "<0xE7>" in found.words or "猫" in found.words


def test_capitals_become_small_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("The the ÉCOLE école\n", encoding="utf-8")
    assert encode_text(path, tmp_path, min_count=1, lowercase=True).words == ("the", "école")
    assert len(encode_text(path, tmp_path, min_count=1).words) == 4


def test_an_unknown_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a b\n", encoding="utf-8")
    with pytest.raises(UserError, match="unknown tokenizer 'jieba'"):
        encode_text(path, tmp_path, tokenizer="jieba")


def test_large_texts_are_renumbered_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pellucid.word_vectors.encoded_text._BLOCK", 7)
    text: list[list[str]] = [[f"w{n * k % 13}" for k in range(n % 9)] for n in range(200)]
    found = encode_text(text, tmp_path, min_count=1)
    assert sentences_of(found) == text
    assert not (tmp_path / "numbers").exists()


@pytest.mark.parametrize(
    "content", ["a b\n  ", "a b\n\t", "a b\n\ufeff", "a b\n\n \u3000", "", " ", "\ufeff", "a b", "\n\n"]
)
@pytest.mark.parametrize("block", [1, 3, 1 << 18])
def test_a_sentence_is_a_line_whatever_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, block: int
) -> None:
    """Line numbers of the file are numbers of sentences: resampling documents rests on it."""
    monkeypatch.setattr("pellucid.corpus.text_files._READ_BYTES", block)
    path = tmp_path / "a.txt"
    path.write_text(content, encoding="utf-8")
    (tmp_path / "b.txt").write_text("c d\ne f\n", encoding="utf-8")
    found = encode_text([path, tmp_path / "b.txt"], tmp_path, min_count=1)
    assert len(found.ids) == len(list(read_lines(path))) + 2
    assert sentences_of(found)[-2:] == [["c", "d"], ["e", "f"]]


def test_half_a_character_is_refused_before_the_training(tmp_path: Path) -> None:
    text = [["the", "c\ud83dt"], ["the", "dog"]]
    with pytest.raises(UserError, match=r"the word 'c\\ud83dt' contains a lone surrogate"):
        encode_text(text, tmp_path, min_count=1)
    assert encode_text([*text, ["dog"]], tmp_path, min_count=2).words == ("the", "dog")


def test_any_string_can_be_a_word_of_a_list(tmp_path: Path) -> None:
    text: Any = [["new york", "", "a\nb"], ("new york", "", "a\nb")]
    found = encode_text(text, tmp_path, min_count=1)
    assert sentences_of(found) == [["new york", "", "a\nb"]] * 2
    assert numpy.array_equal(found.counts, [2, 2, 2])


def test_words_without_a_letter_or_digit_are_left_out_where_asked(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("the cat , the dog . -- 3\n" * 5, encoding="utf-8")
    text = encode_text(tmp_path / "t.txt", tmp_path, drop_punctuation=True, known=[","])
    assert set(text.words) == {"the", "cat", "dog", "3"}
    assert (text.words_read, text.distinct, text.ids[0].tolist().count(0)) == (25, 4, 2)


@pytest.mark.parametrize(("encoding", "named"), [("gb18030", "GB18030"), ("big5", "BIG5"), ("latin-1", "LATIN1")])
def test_the_likely_encoding_of_a_text_is_named(tmp_path: Path, encoding: str, named: str) -> None:
    line = "año, señor" if encoding == "latin-1" else "我們的人在中國" if encoding == "big5" else "我们的人在中国"
    (tmp_path / "t.txt").write_bytes(line.encode(encoding) + b"\n")
    with pytest.raises(UserError, match=f"iconv -f {named} "):
        encode_text(tmp_path / "t.txt", tmp_path)


def test_utf16_without_its_mark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(("the cat and the dog\n" * 50).encode("utf-16-le"))
    for tokenizer in ("whitespace", "words"):
        with pytest.raises(UserError, match="UTF-16"):
            encode_text(tmp_path / "t.txt", tmp_path, tokenizer=tokenizer)


def test_chinese_that_is_not_cut_is_doubted(tmp_path: Path) -> None:
    lines = [f"第{n}句话说了这么多" for n in range(40)] + ["同一句话"] * 6 + ["又一句话"] * 5
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    (doubt,) = check_text(encode_text(tmp_path / "t.txt", tmp_path), VectorsConfig())
    assert "--tokenizer rjieba" in doubt
    cut = encode_text(tmp_path / "t.txt", tmp_path, tokenizer="characters")
    assert check_text(cut, VectorsConfig(tokenizer="characters")) == []
