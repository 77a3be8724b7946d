r"""Read files in lines, compressed or not; only `\n` and `\r\n` end a line.

Files are read in blocks, so their size does not matter. Errors name the file and, if known, the line.
"""

import lzma
import stat
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import zstandard

from pellucid.errors import UserError

__all__ = ["DamagedArchiveError", "format_suffix", "guess_encoding", "read_blocks", "read_lines", "reject_utf16"]

_READ_BYTES = 1 << 18
_MAX_LINE = 1 << 26  # bytes; text has no such lines, other kinds of files do

_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_MAGIC_OF_SUFFIX = {".gz": _GZIP, ".xz": _XZ, ".zst": _ZSTD}
# One object unpacks one member of a file.
_Unpacker: TypeAlias = "zlib._Decompress | lzma.LZMADecompressor | zstandard.ZstdDecompressionObj"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class DamagedArchiveError(UserError):
    """A compressed file that cannot be unpacked completely."""


_BEGINNING = 4096  # bytes of a file used to detect UTF-16
_FREQUENT = "的是不了人我在有他这這中大来來一上国國个個到说說们們为為子和地出道也时時年得就那要下以生会會自着著去之，。"


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    r"""Yield each line's number, from 1, and its bytes without the line end; only `\n` and `\r\n` end a line.

    `.gz`, `.xz` and `.zst` files are unpacked on the fly. A byte order mark is kept.

    Raises:
        UserError: if the file is missing, a folder, a pipe, unreadable or UTF-16.
        DamagedArchiveError: if it cannot be unpacked completely; names the first incomplete line.
    """
    number = 0
    rest = b""
    try:
        for block in read_blocks(path):
            if number == 0 and not rest:
                reject_utf16(path, block)
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                number += 1
                yield number, line[:-1] if line.endswith(b"\r") else line
            if len(rest) > _MAX_LINE:
                raise UserError(
                    f"a line is longer than {_MAX_LINE >> 20} MiB: this is not a text",
                    where=f"{path}:{number + 1}",
                    hint="Give a UTF-8 text with one sentence per line.",
                )
    except DamagedArchiveError as error:
        raise DamagedArchiveError(error.what, where=f"{path}:{number + 1}", hint=error.hint) from error
    if rest:
        yield number + 1, rest[:-1] if rest.endswith(b"\r") else rest


def read_blocks(path: str | Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file in blocks of varying size.

    Raises:
        UserError: if the file is missing, a folder, a pipe or unreadable.
        DamagedArchiveError: if it cannot be unpacked completely.
    """
    blocks = _raw_blocks(path)
    first = next(blocks, b"")
    magic = next((magic for magic in _MAGIC_OF_SUFFIX.values() if first.startswith(magic)), None)
    named = Path(path).suffix.lower()
    if named in _MAGIC_OF_SUFFIX and magic is None:
        raise DamagedArchiveError(
            f"the name ends in {named}, but the content is not compressed that way",
            where=str(path),
            hint="Download or compress the file again, or remove the suffix from its name.",
        )
    if magic is None:
        yield first
        yield from blocks
    else:
        yield from _unpacked(path, magic, first, blocks)


def format_suffix(path: str | Path) -> str:
    """The suffix that tells a file's format, in lower case and without `.gz`, `.xz` or `.zst`: `.tsv`."""
    name = Path(path)
    if name.suffix.lower() in _MAGIC_OF_SUFFIX:
        name = name.with_suffix("")
    return name.suffix.lower()


def _raw_blocks(path: str | Path) -> Iterator[bytes]:
    try:
        mode = Path(path).stat().st_mode
        if stat.S_ISDIR(mode):
            raise UserError(f"{path} is a folder, expected a file", where=str(path), hint="Name the files in it.")
        if not stat.S_ISREG(mode):
            raise UserError(
                f"{path} is a pipe or a device, expected a file: the text is read several times",
                where=str(path),
                hint="Write it to a file first; .gz, .xz and .zst files are read directly.",
            )
        with Path(path).open("rb") as file:
            while block := file.read(_READ_BYTES):
                yield block
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}", where=str(path), hint="Check the name and the folder.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(
            f"cannot read {path}: {reason}", where=str(path), hint="Check the file's permissions."
        ) from error


def _unpacked(path: str | Path, magic: bytes, first: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    start: dict[bytes, Callable[[], _Unpacker]] = {
        _GZIP: lambda: zlib.decompressobj(wbits=31),
        _XZ: lzma.LZMADecompressor,
        _ZSTD: lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
    }
    unpacker = start[magic]()
    try:
        for block in _small(first, blocks):
            while block:
                if unpacker.eof:  # a file may have several members one after another, and zeros as padding
                    block = block.lstrip(b"\0")
                    unpacker = start[magic]() if block else unpacker
                if block:
                    yield unpacker.decompress(block)
                    block = unpacker.unused_data if unpacker.eof else b""
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise DamagedArchiveError(
            f"damaged archive: {error}", where=str(path), hint="Download or compress the file again."
        ) from error
    if not unpacker.eof:
        raise DamagedArchiveError(
            "the compressed file is truncated", where=str(path), hint="Download or compress the file again."
        )


def _small(first: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Split blocks: one byte may unpack to a thousand, and everything unpacked by one call is in memory at once."""
    size = 1 << 14
    for block in chain([first], blocks):
        for start in range(0, len(block), size):
            yield block[start : start + size]


def reject_utf16(path: str | Path, block: bytes) -> None:
    """Reject a file whose first block is UTF-16.

    Raises:
        UserError: with the command that converts it.
    """
    begun = block[:_BEGINNING]
    # Also without a byte order mark: every other byte of letters below 256 is 0. One or two zeros prove nothing.
    halves = begun[::2].count(0), begun[1::2].count(0)
    if block.startswith(_UTF16_MARKS) or (max(halves) > max(2, len(begun) / 8) and len(begun) / 8 > 8 * min(halves)):
        raise UserError(
            f"{path} is UTF-16, expected UTF-8",
            where=f"{path}:1",
            hint=f"Convert it with `iconv -f UTF-16 -t UTF-8 {path} > {Path(path).stem}.utf8{Path(path).suffix}`.",
        )


def guess_encoding(line: bytes) -> str:
    """Guess the encoding of a line that is not UTF-8, for a hint: Chinese by frequent characters, else Latin-1."""
    found = {name: sum(line.decode(name, "ignore").count(sign) for sign in _FREQUENT) for name in ("GB18030", "BIG5")}
    best = max(found, key=lambda name: found[name])
    return best if found[best] else "LATIN1"
