"""Word vectors in Pellucid's native format: a model folder whose arrays are memory-mapped.

    config.json         kind, format, vocab_size, dim, metadata
    model.safetensors   input_vectors, output_vectors and counts, if there are any, and the vocabulary's arrays

It holds any word, and a million words open instantly, since only what is used is read.
"""

import json
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.storage.arrays import map_arrays, write_arrays
from pellucid.storage.files import atomic_folder
from pellucid.storage.model_folder import MODEL_KINDS, contains_model, read_config, write_config
from pellucid.word_vectors.files.problems import LoadReport
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["check_native_path", "read_native", "save_native", "write_native"]

_OURS = frozenset({"checkpoints", "config.json", "metrics.jsonl", "model.safetensors", "report.json"})
_WORDS = ("word_letters", "word_ends", "word_hashes", "word_rows")
_OTHER_FORMAT = 'Name a folder, or choose a file format: `--to word2vec-binary`, in Python `format="word2vec-binary"`.'
_AGAIN = "Copy the folder again from an intact source, or train again."


def read_native(folder: str | Path) -> KeyedVectors:
    """Open the vectors in a model folder; their arrays are memory-mapped.

    Raises:
        UserError: if the folder has no word vectors, or damaged ones.
    """
    folder = Path(folder)
    config = read_config(folder, "vectors")
    path = folder / "model.safetensors"
    arrays = map_arrays(path)
    try:
        vocabulary = _vocabulary(*(arrays[name] for name in _WORDS))
        vectors = KeyedVectors(
            vocabulary,
            arrays["input_vectors"],
            arrays.get("output_vectors"),
            arrays.get("counts"),
            dict(config.get("metadata", {})),
            LoadReport(str(folder), "native", len(vocabulary)),
        )
        dim = config.get("dim", config.get("d"))  # `d` until the first release
        if (config.get("vocab_size"), dim) != (len(vectors), vectors.dim):
            raise ValueError(f"config.json describes {config.get('vocab_size')} words of dimension {dim}")
    except KeyError as error:
        raise UserError(f"{path.name} is damaged: it has no {error}", where=str(path), hint=_AGAIN) from error
    except (UserError, ValueError, TypeError, IndexError) as error:
        what = error.what if isinstance(error, UserError) else str(error)
        raise UserError(f"{path.name} is damaged: {what}", where=str(path), hint=_AGAIN) from error
    return vectors


def write_native(vectors: KeyedVectors, folder: str | Path) -> None:
    """Write the two files of `vectors` into an existing folder, each atomically.

    Raises:
        UserError: if a vector is not finite, the metadata cannot be written as JSON, or writing fails.
    """
    vectors.check_finite()
    metadata = dict(vectors.metadata)
    try:
        json.dumps(metadata, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(
            f"the metadata cannot be written as JSON: {error}",
            where="metadata",
            hint="Use strings, finite numbers, lists and dicts.",
        ) from error
    vocabulary = vectors.vocabulary
    arrays: dict[str, NDArray[Any]] = {"input_vectors": vectors.input_vectors}
    if vectors.output_vectors is not None:
        arrays["output_vectors"] = vectors.output_vectors
    if vectors.counts is not None:
        arrays["counts"] = vectors.counts
    words = (vocabulary.letters, vocabulary.ends, vocabulary.hashes, vocabulary.rows)
    write_arrays(Path(folder) / "model.safetensors", arrays | dict(zip(_WORDS, words, strict=True)))
    write_config(folder, "vectors", {"vocab_size": len(vectors), "dim": vectors.dim, "metadata": metadata})


def save_native(vectors: KeyedVectors, folder: str | Path) -> None:
    """Write `vectors` to a folder, atomically; existing word vectors are replaced.

    Raises:
        UserError: as `check_native_path`, or if writing fails.
    """
    check_native_path(folder)
    with atomic_folder(folder, replace=True) as temporary:
        write_native(vectors, temporary)


def check_native_path(folder: str | Path) -> None:
    """Check that a folder of vectors can be written to a path, without changing anything.

    Raises:
        UserError: if there is a model of another kind, a file, or anything else.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise UserError(f"{folder} is a file, but the native format is a folder", where=str(folder), hint=_OTHER_FORMAT)
    if not path.exists() and path.suffix in (".txt", ".vec", ".bin", ".gz", ".xz", ".zst"):
        raise UserError(
            f"the native format is a folder, but {path.name} looks like a file name",
            where=str(folder),
            hint=_OTHER_FORMAT,
        )
    if path.is_dir() and any(path.iterdir()):
        _check_replaceable(path)


def _check_replaceable(folder: Path) -> None:
    hint = "Choose another folder, or remove this one first."
    if (folder / "config.json").is_file():
        kind = read_config(folder)["kind"]
        if kind != "vectors":
            raise UserError(
                f"{folder} holds {MODEL_KINDS[kind]}, which will not be overwritten", where=str(folder), hint=hint
            )
    others = sorted(entry.name for entry in folder.iterdir() if entry.name not in _OURS)
    if others or not contains_model(folder):
        shown = ", ".join(others[:3]) or "files without a config.json"
        raise UserError(f"{folder} contains other files: {shown}", where=str(folder), hint=hint)


def _vocabulary(letters: NDArray[Any], ends: NDArray[Any], hashes: NDArray[Any], rows: NDArray[Any]) -> Vocabulary:
    """Build the vocabulary from memory-mapped arrays, checked in one pass."""
    for array, dtype in ((letters, numpy.uint8), (ends, numpy.int64), (hashes, numpy.uint64), (rows, numpy.int32)):
        if array.dtype != dtype or array.ndim != 1:
            raise ValueError("the vocabulary's arrays have wrong types")
    if not len(ends) == len(hashes) == len(rows) or not len(ends):
        raise ValueError("the vocabulary's arrays differ in length")
    if ends[0] < 0 or ends[-1] != len(letters) or (ends[1:] <= ends[:-1]).any():
        raise ValueError("the ends of its words are not increasing")
    if (hashes[1:] < hashes[:-1]).any() or rows.min() < 0 or rows.max() >= len(rows):
        raise ValueError("its word index is not sorted")
    letters.tobytes().decode("utf-8")
    return Vocabulary(letters, ends, hashes, rows)
