import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pellucid.word_vectors.word_table import WordTable

SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000"
texts = st.text(
    st.sampled_from(SPACES + "ab猫é𐍈\u200b\u0300àáâã\x00、。") | st.characters(exclude_categories=["Cs"]), max_size=40
)


def read(data: bytes, cuts: list[int]) -> tuple[WordTable, list[list[bytes]]]:
    """Return the table and the sentences of a text that comes in blocks."""
    table, numbers, ends, rest = WordTable(), list[int](), list[int](), b""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    blocks = [data[a:b] for a, b in pairwise(places)] or [b""]
    for number, block in enumerate(blocks):
        scan = table.scan(rest + block, number == len(blocks) - 1)
        ends += [len(numbers) + end for end in scan.ends.tolist()]
        numbers += scan.numbers.tolist()
        rest = (rest + block)[scan.read :]
    assert rest == b""
    words = table.words()
    ends.append(len(numbers))
    starts = [0, *ends[:-1]]
    return table, [[words[n] for n in numbers[a:b]] for a, b in zip(starts, ends, strict=True)]


@given(texts, st.lists(st.integers(0, 200), max_size=6))
def test_words_are_those_of_str_split_however_the_text_is_cut(text: str, cuts: list[int]) -> None:
    table, sentences = read(text.encode(), cuts)
    expected = [line.split() for line in text.split("\n")]
    assert [[word.decode() for word in sentence] for sentence in sentences] == expected
    every = [word for line in expected for word in line]
    assert [word.decode() for word in table.words()] == list(dict.fromkeys(every))
    assert table.counts.tolist() == [every.count(word) for word in dict.fromkeys(every)]


@given(st.binary(max_size=60))
def test_bytes_that_are_no_text_are_words_too(data: bytes) -> None:
    _, sentences = read(data, [7, 20])
    assert sum(map(len, sentences)) <= len(data)


def test_the_table_grows() -> None:
    draw = random.Random(1)
    words = [f"{draw.random()}" * draw.randint(1, 4) for _ in range(50_000)]
    table, sentences = read(" ".join(words + words[::-1]).encode(), [1_000_000])
    assert [word.decode() for word in sentences[0]] == words + words[::-1]
    assert table.counts.tolist() == [2] * len(words)
