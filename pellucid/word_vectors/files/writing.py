"""Writing word vectors to a file or a folder in any format."""

import gzip
import lzma
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy
import zstandard
from numpy.typing import NDArray

from pellucid.corpus.text_files import format_suffix
from pellucid.errors import UserError
from pellucid.storage.files import atomic_file, write_error
from pellucid.word_vectors.files.escapes import escape as escape_word
from pellucid.word_vectors.files.formats import Format, check_format
from pellucid.word_vectors.files.native_format import check_native_path, save_native
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["check_new_output", "check_output_path", "check_words", "format_from_name", "write_vectors"]

# Characters that words must not contain because they delimit words or rows.
_FORBIDDEN_IN_BINARY, _FORBIDDEN_IN_TEXT = " \n", " \t\n\r\v\f"

_SUFFIXES: dict[str, Format] = {".bin": "word2vec-binary", ".txt": "word2vec-text", ".vec": "fasttext"}
_MAX_FLOAT16 = 65504.0


def write_vectors(
    vectors: KeyedVectors,
    path: str | Path,
    format: Format | None = None,
    *,
    float16: bool = False,
    escape: bool = False,
) -> None:
    """Write vectors to a file or a folder, atomically; the arguments are those of `WordVectors.save`.

    Raises:
        UserError: if the format cannot hold a word, the path is taken by something else, or writing fails.
    """
    check_format(format)
    format = format or format_from_name(path)
    if float16 and format != "word2vec-binary":
        raise UserError(
            f"float16 is available for word2vec-binary only, not for {format}",
            where="float16",
            hint="Leave `float16` out, or write word2vec-binary.",
        )
    if format == "native" and escape:
        raise UserError(
            "the native format holds any word and has no escapes", where="escape", hint="Leave `escape` out."
        )
    check_output_path(path, format)
    if format == "native":
        save_native(vectors, path)
        return
    vocabulary = vectors.vocabulary
    if escape:
        vocabulary = Vocabulary.of(map(escape_word, vocabulary))
    else:
        check_words(vocabulary, format)
    vectors.check_finite()
    if float16:
        _check_float16_range(vectors)
    chunks: Iterable[NDArray[numpy.uint8] | bytes]
    if format == "word2vec-binary":
        from pellucid.word_vectors.files.binary_format import format_binary

        chunks = format_binary(vocabulary, vectors.input_vectors, float16)
    else:
        from pellucid.word_vectors.files.text_format import format_text

        header, last_space = format != "glove", format == "fasttext"
        chunks = format_text(vocabulary, vectors.input_vectors, header, last_space)
    with _compressed(path) as file:
        for chunk in chunks:
            file.write(chunk if isinstance(chunk, bytes) else chunk.data)


def format_from_name(path: str | Path) -> Format:
    """Choose the format by suffix: .bin, .txt and .vec, compressed or not, are files; anything else is native."""
    return _SUFFIXES.get(format_suffix(path), "native")


def check_output_path(path: str | Path, format: Format) -> None:
    """Check that vectors can be written to a path, without changing anything.

    Raises:
        UserError: if the path is taken by something else, or its parent folder is not writable.
    """
    try:
        target = Path(os.path.realpath(path))
        if format == "native":
            check_native_path(path)
        elif target.is_dir():
            raise UserError(f"{path} is a folder, but {format} is a file format", where=str(path), hint="Name a file.")
        elif target.exists() and not target.is_file():  # a pipe or a device such as /dev/stdout
            return
        parent = target.parent
        if format == "native":  # missing parents are created
            parent = next(folder for folder in target.parents if folder.exists())
        reason = "does not exist" if not parent.exists() else "is a file" if not parent.is_dir() else ""
        if not reason and not os.access(parent, os.W_OK | os.X_OK):
            reason = "is not writable"
    except OSError as error:
        raise write_error(path, error) from error
    if reason:
        raise UserError(
            f"cannot write {path}: {parent} {reason}", where=str(path), hint="Check the path, or choose another one."
        )


def check_new_output(path: str | Path, format: Format, overwrite: bool) -> None:
    """Check that new vectors can be written to a path without replacing anything unasked.

    Raises:
        UserError: as `check_output_path`, or if there are word vectors, or a training in progress, and not `overwrite`.
    """
    from pellucid.storage.checkpoints import latest_checkpoint  # loads PyTorch

    check_output_path(path, format)
    output = Path(path)
    exists = (output / "config.json").is_file() if format == "native" else output.is_file()
    in_progress = format == "native" and latest_checkpoint(output) is not None
    if (exists or in_progress) and not overwrite:
        what = (
            "exists" if format != "native" else "contains word vectors" if exists else "contains an unfinished training"
        )
        hint = "Add `--overwrite` to replace it, or choose another output."
        raise UserError(
            f"{path} already {what}",
            where=str(path),
            hint=f"Add `--resume` to continue the training. {hint}" if in_progress else hint,
        )


@contextmanager
def _compressed(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for atomic writing, compressed according to its suffix."""
    suffix = Path(path).suffix.lower()
    with atomic_file(path) as file:
        if suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as gz:
                yield cast(BinaryIO, gz)
        elif suffix == ".xz":
            with lzma.LZMAFile(file, "wb") as xz:
                yield cast(BinaryIO, xz)
        elif suffix == ".zst":
            with zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False) as zst:
                yield cast(BinaryIO, zst)
        else:
            yield file


def check_words(vocabulary: Vocabulary, format: Format) -> None:
    """Check that a format can hold all words.

    Raises:
        UserError: lists the words it cannot hold.
    """
    if format == "native":
        return
    forbidden = _FORBIDDEN_IN_BINARY if format == "word2vec-binary" else _FORBIDDEN_IN_TEXT
    whole, lengths = vocabulary.letters.tobytes(), numpy.diff(vocabulary.ends, prepend=-1) - 1
    found = [character for character in forbidden if character != "\n" and character.encode() in whole]
    if not found and lengths.all() and whole.count(b"\n") == len(vocabulary) - 1 and format != "glove":
        return  # fast path: no need to look at each word
    words = [word for word in vocabulary if not word or any(character in word for character in forbidden)]
    if format == "glove" and vocabulary[0].startswith("\ufeff"):  # would be read as the byte order mark of the file
        words.append(vocabulary[0])
    if words:
        shown = ", ".join(map(repr, words[:5])) + (" …" if len(words) > 5 else "")
        raise UserError(
            f"{format} cannot hold {len(words):,} of the words: {shown}",
            where=format,
            hint="Words with spaces or line breaks, and the empty word, need the native format, or `escape`, which "
            r"writes new\syork; read such a file with `unescape`.",
        )


def _check_float16_range(vectors: KeyedVectors) -> None:
    large = numpy.flatnonzero(numpy.abs(vectors.input_vectors).max(axis=1) > _MAX_FLOAT16)
    if len(large):
        raise UserError(
            f"the vector of {vectors.words[int(large[0])]!r} contains a number above {_MAX_FLOAT16:,.0f}, "
            "too large for float16",
            where="float16",
            hint="Write float32: leave `float16` out.",
        )
