"""V8: what a header promises is held against the file before a byte of memory is taken for it."""

import gzip
import tracemalloc
from pathlib import Path

import numpy
import pytest

from pellucid import UserError, WordVectors
from pellucid.vectors import VectorFileWarning


@pytest.mark.parametrize("header", [b"9999999 100000", b"999999999999999999 999999999999999999"])
@pytest.mark.parametrize("rows", [b"king 1 2 3\nqueen 4 5 6\n", b"king " + numpy.ones(3, "<f4").tobytes()])
def test_a_giant_header_on_a_small_file_is_refused(tmp_path: Path, header: bytes, rows: bytes) -> None:
    (tmp_path / "v").write_bytes(header + b"\n" + rows)
    tracemalloc.start()
    with pytest.raises(UserError, match=r"the header says 9\S+ rows of \S+ numbers") as caught:
        WordVectors.load(tmp_path / "v")
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert caught.value.where == (f"{tmp_path / 'v'}:1",)


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz"])
def test_giant_counts_of_rows_take_no_memory_either(tmp_path: Path, name: str) -> None:
    vectors = WordVectors(["a", "b"], numpy.ones((2, 3), numpy.float32))
    vectors.save(tmp_path / "v.txt", "word2vec-text")
    content = (tmp_path / "v.txt").read_bytes().replace(b"2 3\n", b"999999999999 3\n")
    if name.endswith(".gz"):
        content = gzip.compress(content)
    (tmp_path / name).write_bytes(content)
    with pytest.warns(VectorFileWarning, match="the header says 999,999,999,999 rows, the file has 2"):
        assert list(WordVectors.load(tmp_path / name)) == ["a", "b"]


def test_nor_do_they_where_the_width_of_numbers_is_said(tmp_path: Path) -> None:
    content = b"2 999999999999999\nking " + numpy.ones(3, "<f4").tobytes()
    (tmp_path / "v.bin").write_bytes(content)
    (tmp_path / "v.bin.gz").write_bytes(gzip.compress(content + b"x" * 2_000_000))
    with pytest.raises(UserError, match="the header says 2 rows of 999,999,999,999,999 numbers"):
        WordVectors.load(tmp_path / "v.bin", float16=False)
    with pytest.raises(UserError, match=r"not enough memory|the header says"):
        WordVectors.load(tmp_path / "v.bin.gz", float16=False)


def test_a_header_of_a_thousand_digits_is_no_header(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("9" * 5000 + " 3\nking 1 2 3\n", encoding="utf-8")
    with pytest.raises(UserError):
        WordVectors.load(tmp_path / "v.txt")


OTHERS = {
    "numpy": (b"\x93NUMPY\x01\x00v\x00", "a NumPy array"),
    "pickle": (b"\x80\x04\x95\x0b\x00", "a Python pickle"),
    "zip": (b"PK\x03\x04\x14\x00", "a ZIP archive"),
    "fasttext": (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", "a fastText model"),
    "bzip2": (b"BZh91AY&SY", "compressed with bzip2"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "html": (b"\n<!DOCTYPE html><html>", "a web page"),
    "utf-16": ("2 3\nking 1 2 3\n".encode("utf-16"), "UTF-16"),
    "safetensors": (b"\x10\x00\x00\x00\x00\x00\x00\x00{}              ", "a safetensors file"),
    "tar": (b"\0" * 257 + b"ustar\x0000", "a tar archive"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_other_kinds_are_refused_by_name(tmp_path: Path, name: str) -> None:
    content, kind = OTHERS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=f"is {kind}") as caught:
        WordVectors.load(tmp_path / name)
    assert caught.value.where == (str(tmp_path / name),)
    assert caught.value.hint


def test_a_folder_of_files_names_them(tmp_path: Path) -> None:
    (tmp_path / "glove.6B.100d.txt").write_text("the 1 2 3\n", encoding="utf-8")
    with pytest.raises(UserError, match="is a folder") as caught:
        WordVectors.load(tmp_path)
    assert "glove.6B.100d.txt" in caught.value.hint
    with pytest.raises(UserError, match="no model folder at"):
        WordVectors.load(tmp_path / "none", "native")
    with pytest.raises(UserError, match="no such file"):
        WordVectors.load(tmp_path / "none")
    with pytest.raises(UserError, match="name too long"):
        WordVectors.load("king 1 2 3\n" * 100)
