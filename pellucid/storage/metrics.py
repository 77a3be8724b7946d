"""metrics.jsonl of a model folder: one JSON object per line, one line per logged step."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pellucid.storage.files import write_error, write_text
from pellucid.storage.model_folder import reject_nan

__all__ = ["append_metrics", "read_metrics", "truncate_metrics"]


def append_metrics(folder: str | Path, record: Mapping[str, Any]) -> None:
    """Add a line to the metrics of a model folder.

    Raises:
        UserError: if the file cannot be written.
        ValueError: for NaN and infinity, which JSON does not have.
    """
    path = _path(folder)
    line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        with path.open("ab") as file:
            file.write(line.encode("utf-8"))
    except OSError as error:
        raise write_error(path, error) from error


def read_metrics(folder: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the records in order; skip lines truncated by a kill or with NaN. A missing file has no records."""
    path = _path(folder)
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line, parse_constant=reject_nan)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record


def truncate_metrics(folder: str | Path, step: int) -> None:
    """Drop the records after `step`: a run that resumes from a checkpoint writes them again."""
    if not _path(folder).is_file():
        return
    kept = [record for record in read_metrics(folder) if record.get("step", 0) <= step]
    write_text(_path(folder), "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept))


def _path(folder: str | Path) -> Path:
    return Path(folder) / "metrics.jsonl"
