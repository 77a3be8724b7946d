"""Every form: what is saved is what is read, by us and by gensim."""

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, get_args

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from pellucid import UserError, WordVectors
from pellucid.storage.arrays import map_arrays, write_arrays
from pellucid.storage.model_folder import write_config
from pellucid.word_vectors.files import Format
from pellucid.word_vectors.files.escapes import escape, unescape
from pellucid.word_vectors.files.format_detection import detect_format
from tests.conftest import ROOT
from tests.word_vectors.example_vectors import any_words, numbers, random_vectors, word_vectors

FORMATS: tuple[Format, ...] = get_args(Format)
FILES = [format for format in FORMATS if format != "native"]

# A word that is a number with a point is read, but reported: it may be a number too many.
plain_words = any_words.filter(
    lambda word: word and not set(word) & set(" \t\n\r\v\f\ufeff") and not set(word) <= set("0123456789.+-eE")
)


@given(vectors=word_vectors(words=plain_words, elements=numbers), packing=st.sampled_from(["", ".gz", ".xz", ".zst"]))
@pytest.mark.parametrize("format", FILES)
def test_what_is_saved_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, vectors: WordVectors, packing: str, format: Format
) -> None:
    path = tmp_path_factory.mktemp("files") / f"v{packing}"
    vectors.save(path, format)
    again = WordVectors.load(path, format, strict=True, float16=False)
    assert list(again) == list(vectors)
    assert numpy.array_equal(again.input_vectors.view(numpy.uint32), vectors.input_vectors.view(numpy.uint32))
    vectors.save(path, format)
    assert WordVectors.load(path, format, strict=True, float16=False).words[0] == vectors.words[0]


@given(vectors=word_vectors(elements=numbers), data=st.data())
def test_the_native_form_holds_all_there_is(
    tmp_path_factory: pytest.TempPathFactory, vectors: WordVectors, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("native") / "v"
    counts = data.draw(st.none() | st.just(numpy.arange(len(vectors))))
    output = data.draw(st.none() | st.just(vectors.input_vectors[::-1]))
    metadata = data.draw(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2))
    try:
        json.dumps(metadata, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    WordVectors(vectors.words, vectors.input_vectors, output, counts, metadata).save(path)
    again = WordVectors.load(path, strict=True)
    assert list(again) == list(vectors)
    assert numpy.array_equal(again.input_vectors.view(numpy.uint32), vectors.input_vectors.view(numpy.uint32))
    for found, saved in ((again.output_vectors, output), (again.counts, counts)):
        assert (found is None) == (saved is None)
        assert found is None or saved is None or numpy.array_equal(found, saved)
    assert again.metadata == metadata
    for word in vectors:
        assert again.row(word) == vectors.row(word)


@given(vectors=word_vectors(words=plain_words, elements=st.floats(width=16, allow_nan=False, allow_infinity=False)))
def test_two_bytes_a_number_hold_what_fits_in_them(
    tmp_path_factory: pytest.TempPathFactory, vectors: WordVectors
) -> None:
    path = tmp_path_factory.mktemp("half") / "v.bin"
    vectors.save(path, "word2vec-binary", float16=True)
    again = WordVectors.load(path, "word2vec-binary", strict=True, float16=True)
    assert list(again) == list(vectors)
    assert numpy.array_equal(again.input_vectors, vectors.input_vectors)


@given(word=any_words | st.text(" \\\ntsne", max_size=6))
def test_escaped_words_come_back(word: str) -> None:
    escaped = escape(word)
    assert unescape(escaped) == word
    assert escaped and not set(escaped) & set(" \t\n\r\v\f\ufeff")


@pytest.mark.parametrize("dim", [1, 2, 50])
@pytest.mark.parametrize("format", FILES)
def test_the_form_is_told_from_the_content(tmp_path: Path, format: Format, dim: int) -> None:
    random_vectors(300, dim).save(tmp_path / "v.vec", format)
    assert detect_format(tmp_path / "v.vec").format == format
    random_vectors(300, dim).save(tmp_path / "v.vec.gz", format)
    assert detect_format(tmp_path / "v.vec.gz").format == format


def test_the_ending_of_a_name_says_the_form_to_write(tmp_path: Path) -> None:
    forms = {
        "v": "native",
        "v.txt": "word2vec-text",
        "v.bin.gz": "word2vec-binary",
        "v.vec": "fasttext",
        "v.d": "native",
    }
    for name, form in forms.items():
        random_vectors(3, 2).save(tmp_path / name)
        vectors = WordVectors.load(tmp_path / name, strict=True)
        assert vectors.report is not None and vectors.report.format == form


@pytest.mark.parametrize("dim", [1, 2, 50])
def test_two_bytes_are_told_from_four(tmp_path: Path, dim: int) -> None:
    for float16 in (False, True):
        for count in (2, 300, 3000):
            random_vectors(count, dim).save(tmp_path / "v.bin", "word2vec-binary", float16=float16)
            assert detect_format(tmp_path / "v.bin").itemsize == (2 if float16 else 4)


def test_binary_rows_are_read_alike_wherever_a_portion_of_the_file_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random_vectors(1000, 7)
    vectors.save(tmp_path / "v.bin", "word2vec-binary")
    for chunk, block in ((1, 10), (100, 33), (1 << 22, 1 << 18)):
        monkeypatch.setattr("pellucid.word_vectors.files.binary_format._CHUNK", chunk)
        monkeypatch.setattr("pellucid.corpus.text_files._READ_BYTES", block)
        again = WordVectors.load(tmp_path / "v.bin", strict=True)
        assert list(again) == list(vectors)
        assert numpy.array_equal(again.input_vectors, vectors.input_vectors)


def test_room_grows_when_there_are_more_rows_than_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pellucid.word_vectors.files.reading._expected_rows", lambda path, form: 1)
    monkeypatch.setattr("pellucid.word_vectors.files.row_collector._MORE", 1)
    monkeypatch.setattr("pellucid.word_vectors.files.text_format._CHUNK", 100)
    vectors = random_vectors(500, 6)
    vectors.save(tmp_path / "v.txt", "glove")
    assert numpy.array_equal(WordVectors.load(tmp_path / "v.txt").input_vectors, vectors.input_vectors)


def test_fasttext_ends_its_lines_in_a_space(tmp_path: Path) -> None:
    WordVectors(["a", "b"], [[1, 2], [3, 4]]).save(tmp_path / "v.vec", "fasttext")
    assert (tmp_path / "v.vec").read_bytes() == b"2 2\na 1 2 \nb 3 4 \n"


def test_numbers_that_are_not_finite_are_not_written(tmp_path: Path) -> None:
    vectors = WordVectors(["a", "b"], [[1.0, 2.0], [numpy.inf, 4.0]])
    for format in FORMATS:
        with pytest.raises(UserError, match="the vector of 'b'"):
            vectors.save(tmp_path / "v", format)
    with pytest.raises(UserError, match=r"'a' contains a number above 65,504"):
        WordVectors(["a"], [[70000]]).save(tmp_path / "v", "word2vec-binary", float16=True)
    assert list(tmp_path.iterdir()) == []


def test_options_that_a_form_does_not_have_are_refused(tmp_path: Path) -> None:
    vectors = random_vectors(3, 2)
    with pytest.raises(UserError, match="not for word2vec-text"):
        vectors.save(tmp_path / "v", "word2vec-text", float16=True)
    with pytest.raises(UserError, match="the native format holds any word"):
        vectors.save(tmp_path / "v", escape=True)
    with pytest.raises(UserError, match="unknown format 'text'"):
        vectors.save(tmp_path / "v", "text")  # type: ignore[arg-type]


# The native form


def test_the_native_form_is_a_model_folder_read_in_place(tmp_path: Path) -> None:
    vectors = random_vectors(1000, 10)
    vectors.save(tmp_path / "v")
    assert sorted(entry.name for entry in (tmp_path / "v").iterdir()) == ["config.json", "model.safetensors"]
    config = json.loads((tmp_path / "v" / "config.json").read_text(encoding="utf-8"))
    assert config == {"kind": "vectors", "format": 2, "vocab_size": 1000, "dim": 10, "metadata": {}}
    again = WordVectors.load(tmp_path / "v")
    base: Any = again.input_vectors
    while isinstance(base, numpy.ndarray):
        base = base.base
    assert type(base).__name__ in ("mmap", "memoryview")
    assert not again.input_vectors.flags.writeable
    tensors = load_file(tmp_path / "v" / "model.safetensors")
    assert numpy.array_equal(tensors["input_vectors"], vectors.input_vectors)
    assert tensors["word_letters"].tobytes().decode() == "\n".join(vectors)


def test_vectors_replace_vectors_even_those_they_are_read_from(tmp_path: Path) -> None:
    random_vectors(5, 2).save(tmp_path / "v")
    (tmp_path / "v" / "report.json").write_text("{}", encoding="utf-8")
    opened = WordVectors.load(tmp_path / "v")
    WordVectors([f"{word}!" for word in opened], opened.input_vectors).save(tmp_path / "v")
    assert WordVectors.load(tmp_path / "v").words[0] == "w0!"
    assert opened["w4"].tolist() == random_vectors(5, 2)["w4"].tolist()
    assert sorted(entry.name for entry in (tmp_path / "v").iterdir()) == ["config.json", "model.safetensors"]


def test_nothing_else_is_replaced(tmp_path: Path) -> None:
    vectors = random_vectors(5, 2)
    (tmp_path / "es-en").mkdir()
    write_config(tmp_path / "es-en", "translator", {})
    with pytest.raises(UserError, match="holds a translator, which will not be overwritten"):
        vectors.save(tmp_path / "es-en")
    vectors.save(tmp_path / "mine")
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"contains other files: thesis\.tex"):
        vectors.save(tmp_path / "mine")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is a file, but the native format is a folder"):
        vectors.save(tmp_path / "file")
    for name, form in (("v.txt", "native"), ("v.gz", None)):
        with pytest.raises(UserError, match=f"{name} looks like a file name"):
            vectors.save(tmp_path / name, form)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"cannot write .*/file is a file"):
        vectors.save(tmp_path / "file" / "v")
    with pytest.raises(UserError, match=r"cannot write .*/none does not exist"):
        vectors.save(tmp_path / "none" / "v.txt")
    with pytest.raises(UserError, match=r"cannot write .*: file name too long"):
        vectors.save(tmp_path / ("v" * 300))
    with pytest.raises(UserError, match="is a folder, but glove is a file format"):
        vectors.save(tmp_path / "mine", "glove")
    with pytest.raises(UserError, match="the metadata cannot be written as JSON"):
        WordVectors(["a"], [[1]], metadata={"x": object()}).save(tmp_path / "new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["es-en", "file", "mine"]


def test_a_full_disk_leaves_what_stood_there(
    tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    for form in FORMATS:
        path = tmp_path / form
        random_vectors(5, 2).save(path, form)
        with small_disk(2000), pytest.raises(UserError, match="the disk is full"):
            random_vectors(1000, 8).save(path, form)
        assert len(WordVectors.load(path)) == 5
    assert len(list(tmp_path.iterdir())) == len(FORMATS)


@pytest.mark.parametrize("cut", [0, 100, 300, -1])
def test_a_damaged_folder_is_named(tmp_path: Path, cut: int) -> None:
    random_vectors(20, 2).save(tmp_path / "v")
    path = tmp_path / "v" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UserError, match=r"model\.safetensors is damaged") as caught:
        WordVectors.load(tmp_path / "v")
    assert caught.value.where == (str(path),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("word_ends", numpy.array([1, 3, 4])),
        ("word_ends", numpy.array([1, 1, 5])),
        ("word_ends", numpy.array([1, 5])),
        ("word_rows", numpy.array([0, 1, 3], numpy.int32)),
        ("word_rows", numpy.array([0, 1, 2])),
        ("word_hashes", numpy.array([3, 2, 1], numpy.uint64)),
        ("word_letters", numpy.full(5, 255, numpy.uint8)),
        ("input_vectors", numpy.zeros((2, 2), numpy.float32)),
        ("input_vectors", numpy.zeros((3, 3), numpy.float32)),
        ("input_vectors", None),
    ],
)
def test_arrays_that_do_not_fit_are_damage(tmp_path: Path, name: str, value: numpy.ndarray | None) -> None:
    random_vectors(3, 2).save(tmp_path / "v")
    arrays = dict(map_arrays(tmp_path / "v" / "model.safetensors"))
    arrays.pop(name)
    write_arrays(tmp_path / "v" / "model.safetensors", arrays if value is None else arrays | {name: value})
    with pytest.raises(UserError, match=r"model\.safetensors is damaged"):
        WordVectors.load(tmp_path / "v")


def test_opening_vectors_loads_neither_torch_nor_numba(tmp_path: Path) -> None:
    random_vectors(30, 3).save(tmp_path / "v")
    program = f"""
from pellucid import WordVectors
vectors = WordVectors.load({str(tmp_path / "v")!r})
vectors.similar("w3"), vectors.analogy("w1", "w2", "w3"), vectors.axis(["w1"], ["w2"]).extremes()
import sys
assert not {{"torch", "numba"}} & set(sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_packed_files_are_the_same_each_time(tmp_path: Path) -> None:
    vectors = random_vectors(10, 3)
    for name in ("a.txt.gz", "b.txt.gz"):
        vectors.save(tmp_path / name, "glove")
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()
    vectors.save(tmp_path / "c.txt", "glove")
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()) == (tmp_path / "c.txt").read_bytes()


def test_braces_in_repeated_words_are_text(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("{ 1 2\n{ 3 4\n{ 5 6\nx{0} 7 8\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="'{'"):
        vectors = WordVectors.load(tmp_path / "v.txt", "glove")
    assert list(vectors.words) == ["{", "x{0}"]


def test_blank_lines_take_no_room(tmp_path: Path) -> None:
    row = b" 1" * 300 + b"\n"
    (tmp_path / "v.txt").write_bytes(b"a" + row + b"\n" * 500_000 + b"b" + row)
    tracemalloc.start()
    try:
        vectors = WordVectors.load(tmp_path / "v.txt", "glove")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert list(vectors.words) == ["a", "b"]
    assert most < 100 << 20  # rows for all lines would take six times that
