"""Files of word vectors: Pellucid's own form, word2vec's two, GloVe's and fastText's."""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy
import zstandard
from numpy.typing import NDArray

from pellucid.corpus.text_files import format_suffix
from pellucid.errors import UserError
from pellucid.storage.files import atomic_file, write_error
from pellucid.word_vectors.files.escapes import escape as escaped_word
from pellucid.word_vectors.files.format_detection import FORMATS, FileFormat, Format, detect_format
from pellucid.word_vectors.files.native_format import check_native_path, read_native, save_native
from pellucid.word_vectors.files.problems import FileProblem, LoadReport, ProblemLog
from pellucid.word_vectors.vectors import WordVectors
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = [
    "FORMATS",
    "FileProblem",
    "Format",
    "LoadReport",
    "check_output_path",
    "check_words",
    "format_from_name",
    "read_vectors",
    "write_vectors",
]

_UNHELD = {
    "word2vec-binary": (" ", "\n"),
    "word2vec-text": (" ", "\t", "\n", "\r", "\v", "\f"),
}
"""What a form's words cannot hold: what ends a word or a row for its readers."""

_ENDINGS: dict[str, Format] = {".bin": "word2vec-binary", ".txt": "word2vec-text", ".vec": "fasttext"}
_MOST_AT_FIRST = 1 << 28  # numbers that room is made for where the file's size does not bound them
_LARGEST_FLOAT16 = 65504.0


def read_vectors(
    path: str | Path,
    format: Format | None = None,
    *,
    strict: bool = False,
    unescape: bool = False,
    float16: bool | None = None,
    on_progress: Callable[[int], object] = lambda more: None,
) -> WordVectors:
    """Read vectors from a file or a folder, as `WordVectors.load` does, and warn of nothing: `report` tells.

    Args:
        on_progress: called with how many bytes more have been read, unpacked.

    Raises:
        UserError: if it is missing, is of another kind, or does not tell clearly what it is.
    """
    _check_format(format)
    folder = os.path.isdir(path)
    if folder or format == "native":
        if format not in (None, "native"):
            raise UserError(f"{path} is a folder, and {format} is a file", where=str(path), hint=_files_in(path))
        if folder and not (Path(path) / "config.json").is_file() and (hint := _files_in(path)):
            raise UserError(f"{path} is a folder, expected vectors", where=str(path), hint=hint)
        return read_native(path)
    form = detect_format(path, format, float16)
    problems = ProblemLog(path, strict)
    expected = _expected_rows(Path(path), form)
    if form.format == "word2vec-binary":
        from pellucid.word_vectors.files.binary_format import read_binary

        return read_binary(path, form, expected, problems, unescape, on_progress)
    from pellucid.word_vectors.files.text_format import read_text

    return read_text(path, form, expected, problems, unescape, on_progress)


def write_vectors(
    vectors: WordVectors,
    path: str | Path,
    format: Format | None = None,
    *,
    float16: bool = False,
    escape: bool = False,
) -> None:
    """Write vectors to a file or a folder, as `WordVectors.save` does.

    Raises:
        UserError: if the form cannot hold a word, something else stands in the way, or the disk refuses.
    """
    _check_format(format)
    format = format or format_from_name(path)
    if float16 and format != "word2vec-binary":
        raise UserError(f"two bytes a number are there for word2vec-binary, not for {format}")
    if format == "native" and escape:
        raise UserError("the native form holds any word: nothing is escaped in it")
    check_output_path(path, format)
    if format == "native":
        save_native(vectors, path)
        return
    vocabulary = vectors.vocabulary
    if escape:
        vocabulary = Vocabulary.of(map(escaped_word, vocabulary))
    else:
        check_words(vocabulary, format)
    rows = vectors.search_index.rows  # measured, so that what is not finite is refused
    if float16:
        _check_range(vectors)
    with _packed(path) as file:
        for piece in _pieces(vocabulary, rows, format, float16):
            file.write(piece if isinstance(piece, bytes) else piece.data)


def format_from_name(path: str | Path) -> Format:
    """Return the form that a name's ending stands for: .bin, .txt and .vec are files, packed or not; else native."""
    return _ENDINGS.get(format_suffix(path), "native")


def check_output_path(path: str | Path, format: Format) -> None:
    """Refuse a place where vectors cannot be written, before they are made; change nothing.

    Raises:
        UserError: if something else stands there, or the folder above cannot be written to.
    """
    try:
        place = Path(os.path.realpath(path))
        if format == "native":
            check_native_path(path)
        elif place.is_dir():
            raise UserError(f"{path} is a folder, and {format} is a file", where=str(path), hint="Name a file.")
        elif place.exists() and not place.is_file():  # a pipe or a device, as /dev/stdout
            return
        above = place.parent
        if format == "native":  # folders above it are made
            above = next(folder for folder in place.parents if folder.exists())
        reason = "does not exist" if not above.exists() else "is a file" if not above.is_dir() else ""
        if not reason and not os.access(above, os.W_OK | os.X_OK):
            reason = "may not be written to"
    except OSError as error:
        raise write_error(path, error) from error
    if reason:
        raise UserError(
            f"cannot write {path}: {above} {reason}",
            where=str(path),
            hint="Check the name, or name another place.",
        )


def _pieces(
    vocabulary: Vocabulary, rows: NDArray[numpy.float32], format: Format, float16: bool
) -> Iterable[NDArray[numpy.uint8] | bytes]:
    if format == "word2vec-binary":
        from pellucid.word_vectors.files.binary_format import format_binary

        return format_binary(vocabulary, rows, float16)
    from pellucid.word_vectors.files.text_format import format_text

    return format_text(vocabulary, rows, header=format != "glove", last_space=format == "fasttext")


@contextmanager
def _packed(path: str | Path) -> Iterator[BinaryIO]:
    """Open a new file for writing; what its name says of packing is done."""
    suffix = Path(path).suffix.lower()
    with atomic_file(path) as file:
        if suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packer:
                yield cast(BinaryIO, packer)
        elif suffix == ".xz":
            with lzma.LZMAFile(file, "wb") as xz:
                yield cast(BinaryIO, xz)
        elif suffix == ".zst":
            with zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False) as zst:
                yield cast(BinaryIO, zst)
        else:
            yield file


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise UserError(f"unknown format {format!r}", hint=f"Use one of {', '.join(FORMATS)}.")


def check_words(vocabulary: Vocabulary, format: Format) -> None:
    """Refuse words that a form cannot hold.

    Raises:
        UserError: names them.
    """
    if format == "native":
        return
    unheld = _UNHELD.get(format, _UNHELD["word2vec-text"])
    whole, lengths = vocabulary.letters.tobytes(), numpy.diff(vocabulary.ends, prepend=-1) - 1
    rare = [sign for sign in unheld if sign != "\n" and sign.encode() in whole]
    if not rare and lengths.all() and whole.count(b"\n") == len(vocabulary) - 1 and format != "glove":
        return  # a million words in no time
    words = [word for word in vocabulary if not word or any(sign in word for sign in unheld)]
    if format == "glove" and vocabulary[0].startswith("\ufeff"):  # at the very beginning of the file
        words.append(vocabulary[0])
    if words:
        shown = ", ".join(map(repr, words[:5])) + (" …" if len(words) > 5 else "")
        raise UserError(
            f"{format} cannot hold {len(words):,} of the words: {shown}",
            hint="Words with spaces or line ends, or of no letters, need the native form, or `escape`, which writes "
            r"new\syork; such a file is then read with `unescape`.",
        )


def _check_range(vectors: WordVectors) -> None:
    large = numpy.flatnonzero(numpy.abs(vectors.input_vectors).max(axis=1) > _LARGEST_FLOAT16)
    if len(large):
        raise UserError(
            f"the vector of {vectors.words[int(large[0])]!r} holds a number above {_LARGEST_FLOAT16:,.0f}, "
            "too large for two bytes",
            hint="Write it with four bytes a number, without `float16`.",
        )


def _expected_rows(path: Path, form: FileFormat) -> int:
    """Return about how many rows a file has: never more than its size allows, whatever its header says."""
    least = form.dim * form.itemsize + 1 if form.format == "word2vec-binary" else 2 * form.dim + 1
    size = path.stat().st_size
    bound = size // least + 1 if format_suffix(path) == path.suffix.lower() else _MOST_AT_FIRST // form.dim + 1
    if form.rows is not None:
        return min(form.rows, bound)
    return min(size // (8 * form.dim) + 1, bound)  # some eight bytes a number; it grows if there are more


def _files_in(folder: str | Path) -> str:
    """Return a hint that names files in a folder which may be what was meant."""
    endings = (".txt", ".vec", ".bin")
    names = [entry.name for entry in sorted(Path(folder).iterdir()) if format_suffix(entry) in endings]
    return f"Name a file in it: {', '.join(names[:5])}." if names else ""
