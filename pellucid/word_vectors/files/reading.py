"""Reading word vectors from a file or a folder in any format."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pellucid.corpus.text_files import format_suffix
from pellucid.errors import UserError
from pellucid.word_vectors.files.format_detection import FileFormat, detect_format
from pellucid.word_vectors.files.formats import Format, check_format
from pellucid.word_vectors.files.native_format import read_native
from pellucid.word_vectors.files.problems import ProblemLog
from pellucid.word_vectors.files.row_collector import RowCollector
from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["read_vectors"]

_MAX_INITIAL_NUMBERS = 1 << 28  # allocated at first where the file size gives no bound


def read_vectors(
    path: str | Path,
    format: Format | None = None,
    *,
    strict: bool = False,
    unescape: bool = False,
    float16: bool | None = None,
    on_progress: Callable[[int], object] = lambda more: None,
) -> KeyedVectors:
    """Read vectors from a file or a folder, as `WordVectors.load` does; problems are listed in `report`.

    Args:
        on_progress: called with the number of bytes read, uncompressed, since the last call.

    Raises:
        UserError: if the file is missing, is not a file of word vectors, or is ambiguous.
    """
    check_format(format)
    folder = os.path.isdir(path)
    if folder or format == "native":
        if format not in (None, "native"):
            raise UserError(
                f"{path} is a folder, but {format} is a file format",
                where=str(path),
                hint=_files_in(path) or "Name a file.",
            )
        if folder and not (Path(path) / "config.json").is_file() and (hint := _files_in(path)):
            raise UserError(f"{path} is a folder without config.json", where=str(path), hint=hint)
        return read_native(path)
    form = detect_format(path, format, float16)
    binary = form.format == "word2vec-binary"
    unit: Literal["byte", "line"] = "byte" if binary else "line"
    rows = RowCollector(form.dim, _expected_rows(Path(path), form), ProblemLog(path, strict), unit, unescape)
    if binary:
        from pellucid.word_vectors.files.binary_format import read_binary

        return read_binary(path, form, rows, on_progress)

    from pellucid.word_vectors.files.text_format import read_text

    return read_text(path, form, rows, on_progress)


def _expected_rows(path: Path, form: FileFormat) -> int:
    """Estimate the number of rows from the header and the file size, never above what the size allows."""
    least = form.dim * form.itemsize + 1 if form.format == "word2vec-binary" else 2 * form.dim + 1
    size = path.stat().st_size
    bound = size // least + 1 if format_suffix(path) == path.suffix.lower() else _MAX_INITIAL_NUMBERS // form.dim + 1
    if form.rows is not None:
        return min(form.rows, bound)
    return min(size // (8 * form.dim) + 1, bound)  # about eight bytes per number; the buffer grows as needed


def _files_in(folder: str | Path) -> str:
    """Suggest the files in a folder that look like word vectors."""
    suffixes = (".txt", ".vec", ".bin")
    names = [entry.name for entry in sorted(Path(folder).iterdir()) if format_suffix(entry) in suffixes]
    return f"Name a file in it: {', '.join(names[:5])}." if names else ""
