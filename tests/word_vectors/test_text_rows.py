"""Numbers as text, read and written: always the float32 that Python's own `float` leads to."""

import struct

import numpy
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pellucid import WordVectors
from pellucid.word_vectors.files import text_rows
from pellucid.word_vectors.files.text_rows import LONGEST, format_rows, parse_rows

every_float32 = st.integers(0, 2**32 - 1).map(lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0])
finite = every_float32.filter(lambda number: bool(numpy.isfinite(number)))
digits = st.text("0123456789", min_size=1, max_size=25)
decimals = st.builds(
    lambda sign, whole, after, exponent: f"{sign}{whole}{after}{exponent}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.just("") | st.just(".") | digits.map(lambda text: f".{text}"),
    st.just("") | st.integers(-400, 400).map(lambda power: f"e{power}") | st.integers(0, 50).map(lambda p: f"E+{p:03}"),
)


def parsed(line: bytes, dim: int) -> tuple[int, list[float]]:
    """Return what the line is and its numbers."""
    text = numpy.frombuffer(line + b"\n", numpy.uint8)
    vectors, kinds = numpy.full((1, dim), 7, numpy.float32), numpy.empty(1, numpy.uint8)
    ends, starts = numpy.empty(1, numpy.int64), numpy.empty(2, numpy.int64)
    parse_rows(text, dim, vectors, numpy.empty(len(text) + 1, numpy.uint8), ends, kinds, starts)
    return int(kinds[0]), vectors[0].tolist()


def bits(number: float) -> int:
    with numpy.errstate(over="ignore"):
        return int(numpy.float32(number).view(numpy.uint32))


def formatted(numbers: list[float]) -> list[str]:
    row = numpy.array([numbers], numpy.float32)
    letters, ends = numpy.frombuffer(b"w", numpy.uint8).copy(), numpy.array([1])
    out = numpy.empty(len(numbers) * LONGEST + 3, numpy.uint8)
    used = format_rows(row, numpy.signbit(row), letters, ends, False, out)
    word, *texts = out[:used].tobytes().decode().split()
    assert word == "w"
    return texts


between = st.integers(2**24, 2**40).map(str)  # among them many in the middle of two float32


@given(texts=st.lists(decimals | between, min_size=1, max_size=4))
@example(texts=["16777217", "16777219"])  # in the middle, of which the even one is taken
@example(texts=["16777216.99999999999999999999999999999999999999"])
@example(texts=["1.00000005960464477539062500000000000000000001"])
@example(texts=["0.000000000000000000000000000000000000000000001e45"])
@example(texts=["3.4028235677973366e38"])
@example(texts=["1e-46", "1.4e-45", "7e-46", "-0", "-0.0", "+0e99"])
def test_a_number_is_the_float32_of_pythons_float_or_left_to_it(texts: list[str]) -> None:
    for line in (" ".join(["w", *texts]), "\t".join(["w", *texts]), " ".join(["new york", *texts])):
        kind, numbers = parsed(line.encode(), len(texts))
        assert kind in (text_rows.PLAIN, text_rows.SPACED, text_rows.DOUBTFUL)
        if kind != text_rows.DOUBTFUL:
            assert [bits(number) for number in numbers] == [bits(float(text)) for text in texts]


def test_hardly_any_number_is_left_to_python() -> None:
    draw = numpy.random.default_rng(1)
    for form in ("%r", "%.6f", "%.9g", "%.18e"):
        lines = [f"w {form % float(number)}".encode() for number in draw.normal(size=2000)]
        assert sum(parsed(line, 1)[0] == text_rows.DOUBTFUL for line in lines) == 0


@pytest.mark.parametrize(
    "field", ["", "x", "1x", "1.2.3", "1e", "1e+", "e5", ".", "-", "+-1", "1_000", "0x10", "1,5", "nanx"]
)
def test_what_is_no_number_makes_the_row_ragged(field: str) -> None:
    assert parsed(f"w {field} 1".encode(), 2)[0] == text_rows.RAGGED


@pytest.mark.parametrize("field", ["nan", "NaN", "-nan", "inf", "-Inf", "+infinity", "INFINITY"])
def test_what_is_not_finite_is_known_as_such(field: str) -> None:
    assert parsed(f"w {field} 1".encode(), 2)[0] == text_rows.NOT_FINITE


@given(numbers=st.lists(finite, min_size=1, max_size=5))
@example(numbers=[0.0, -0.0, 1.0, 10.0, 0.1, 1e8, 1e9, 1e-5, 1e-6, 3.4028234663852886e38, 1.401298464324817e-45])
def test_a_number_is_written_so_that_it_reads_as_the_same(numbers: list[float]) -> None:
    texts = formatted(numbers)
    assert [bits(float(text)) for text in texts] == [bits(number) for number in numbers]
    assert all(len(text) < LONGEST for text in texts)


@given(number=finite)
def test_no_shorter_decimal_reads_as_the_same(number: float) -> None:
    (text,) = formatted([number])
    assume("e" in text or abs(number) < 2**24)  # larger whole numbers are written out: 48670168, not 48670170
    significant = text.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    for count in range(1, len(significant)):
        assert bits(float(f"{numpy.float32(number):.{count - 1}e}")) != bits(number)


def test_numbers_look_as_people_write_them() -> None:
    numbers = [0.0, -0.0, 1.0, -2.5, 0.1, 0.001, 1 / 3, 123456.0, 1e8, 1e9, 1e-7, -1.5e-38, 65504.0]
    expected = "0 -0 1 -2.5 0.1 0.001 0.33333334 123456 100000000 1e+09 1e-07 -1.5e-38 65504"
    assert formatted(numbers) == expected.split()


def test_rows_are_read_alike_wherever_a_portion_of_the_file_ends(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path_factory.mktemp("portions") / "v.txt"
    lines = ["a 1 2", "new york 3 4", "", "ragged 5", "bad nan 1", "b 1e-46 7e-46", "é 16777217 -0", "too large 1 1e39"]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = []
    for chunk in (1, 7, 30, 1 << 20):
        monkeypatch.setattr("pellucid.word_vectors.files.text_format._CHUNK", chunk)
        with pytest.warns(match="does not end in 2 numbers|NaN or infinity"):
            vectors = WordVectors.load(path)
        assert vectors.report is not None
        places = [(problem.kind, problem.where, problem.occurrences) for problem in vectors.report.problems]
        found.append((list(vectors), vectors.input_vectors.view(numpy.uint32).tolist(), places))
    assert found[0][0] == ["a", "new york", "b", "é"]
    assert found[0][2] == [("ragged-row", f"{path}:4", 1), ("not-finite", f"{path}:5", 2)]
    assert found[0][1][3] == [bits(16777216), bits(-0.0)]
    assert all(one == found[0] for one in found)
