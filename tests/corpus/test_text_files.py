"""Bytes on disk → lines."""

import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from pellucid.corpus.text_files import DamagedArchiveError, format_suffix, read_lines
from pellucid.errors import UserError

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def lines_of(path: Path) -> list[bytes]:
    return [line for _, line in read_lines(path)]


def test_only_newline_and_carriage_return_newline_end_a_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\rstill two\x0c\x1c\xe2\x80\xa8\xc2\x85\n\nlast")
    assert list(read_lines(tmp_path / "a")) == [
        (1, b"one"),
        (2, b"two\rstill two\x0c\x1c\xe2\x80\xa8\xc2\x85"),
        (3, b""),
        (4, b"last"),
    ]


@given(st.binary(max_size=300))
@example(b"\0")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_lines_joined_again_are_the_file(tmp_path: Path, content: bytes) -> None:
    assume(max(content[::2].count(0), content[1::2].count(0)) <= 2)  # more could be UTF-16
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")):
        content = b" " + content
    (tmp_path / "a").write_bytes(content)
    expected = content.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n") if content else []
    if content.endswith(b"\r") and expected:
        expected[-1] = expected[-1].removesuffix(b"\r")
    assert lines_of(tmp_path / "a") == expected


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files_read_as_what_they_hold(tmp_path: Path, suffix: str) -> None:
    content = b"".join(b"line %d\n" % number for number in range(50_000))
    for name in (f"a{suffix}", "a.txt"):  # the content says what it is, also under another name
        (tmp_path / name).write_bytes(PACKERS[suffix](content))
        assert b"\n".join(lines_of(tmp_path / name)) + b"\n" == content


@pytest.mark.parametrize("suffix", PACKERS)
def test_members_one_after_another_and_zeros_are_read(tmp_path: Path, suffix: str) -> None:
    pack = PACKERS[suffix]
    zeros = b"" if suffix == ".zst" else b"\0" * 512
    (tmp_path / f"a{suffix}").write_bytes(pack(b"one\ntw") + pack(b"o\n") + zeros)
    assert lines_of(tmp_path / f"a{suffix}") == [b"one", b"two"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_cut_archive_is_an_error_that_names_the_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    packed = PACKERS[suffix](b"".join(b"%d\n" % (number * 7919 % 100_003) for number in range(100_000)))
    path.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(DamagedArchiveError) as caught:
        lines_of(path)
    assert "truncated" in caught.value.what
    assert caught.value.where[0].startswith(f"{path}:")


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_damaged_archive_is_an_error(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(PACKERS[suffix](os.urandom(5000)))
    packed[len(packed) // 2 :] = b"\x55" * (len(packed) - len(packed) // 2)
    (tmp_path / f"a{suffix}").write_bytes(bytes(packed))
    with pytest.raises(DamagedArchiveError):
        lines_of(tmp_path / f"a{suffix}")


def test_a_name_that_lies_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"plain text\n")
    with pytest.raises(UserError, match="not compressed that way"):
        lines_of(tmp_path / "a.gz")


def test_what_is_no_file_is_an_error_with_a_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, what in ((tmp_path / "none", "no such file"), (tmp_path, "is a folder"), (tmp_path / "pipe", "a pipe")):
        with pytest.raises(UserError, match=what) as caught:
            lines_of(path)
        assert str(path) in str(caught.value)


def test_utf16_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("hello\n".encode("utf-16"))
    with pytest.raises(UserError, match="UTF-16"):
        lines_of(tmp_path / "a.txt")


def test_the_form_of_a_file_is_told_by_its_name_without_the_packing() -> None:
    assert [format_suffix(name) for name in ("a.TSV.gz", "b.es", "c", "d.tmx.zst")] == [".tsv", ".es", "", ".tmx"]
