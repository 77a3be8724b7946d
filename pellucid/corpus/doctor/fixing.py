"""Write the clean pairs of a text, and a list of what was left out and why (`--fix`)."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import Examination, examine
from pellucid.corpus.pairs import RawPair
from pellucid.errors import UsageError, UserError
from pellucid.storage.files import atomic_file

__all__ = ["FixResult", "dropped_path", "fix"]


class FixResult(NamedTuple):
    """What was written.

    Attributes:
        examination: the examination of the text, with every possible fix applied.
        clean: the file of clean pairs.
        dropped: the file of pairs left out.
        dropped_pairs: the number of pairs or lines in that file.
    """

    examination: Examination
    clean: Path
    dropped: Path
    dropped_pairs: int


def dropped_path(out: str | Path) -> Path:
    """The file for what was left out: `clean.dropped.tsv` next to `clean.tsv`."""
    out = Path(out)
    return out.with_name(f"{out.stem}.dropped{out.suffix}")


def fix(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    overwrite: bool = False,
    source_lang: str | None = None,
    target_lang: str | None = None,
    options: DataConfig | None = None,
    valid: Sequence[str | Path] = (),
    test: Sequence[str | Path] = (),
    on_progress: Callable[[int], None] | None = None,
) -> FixResult:
    """Examine a text and write its usable pairs to `out` and all others to a second file, both atomically.

    A TSV line is source, tab, target; tabs inside texts have become spaces. The second file has the locations of source
    and target, the check, the message and both texts. JSONL files have the same under these names.

    Args:
        sources: files, as for `read_pairs`; they are never written to.
        out: a `.tsv` or `.jsonl` file.
        overwrite: whether existing files may be replaced.
        options: as for `examine`, like all other arguments; `DataConfig().with_fixes()` drops pairs with errors.

    Raises:
        UsageError: if `out` has another suffix.
        UserError: if the files exist already, cannot be read or written, or no pair is usable.
    """
    out = Path(out)
    dropped = dropped_path(out)
    _check_output(out, dropped, (*sources, *valid, *test), overwrite)
    as_json = out.suffix.lower() == ".jsonl"
    with atomic_file(dropped) as dropped_file, atomic_file(out) as clean_file:
        count = 0

        def write_dropped(pair: RawPair, check: str, message: str) -> None:
            nonlocal count
            count += 1
            fields = {
                "source_location": str(pair.source_location),
                "target_location": str(pair.target_location),
                "check": check,
                "message": message,
                "source": pair.source,
                "target": pair.target,
            }
            dropped_file.write(_line(fields, as_json))

        if not as_json:
            dropped_file.write(b"source location\ttarget location\tcheck\tmessage\tsource\ttarget\n")
        examination = examine(
            sources,
            source_lang=source_lang,
            target_lang=target_lang,
            options=options,
            valid=valid,
            test=test,
            on_dropped=write_dropped,
            on_progress=on_progress,
        )
        if not examination.report.usable:
            reasons = ", ".join(f"{name} {number:,}" for name, number in examination.report.counts.items() if number)
            raise UserError(
                "nothing was written: no pair is usable",
                where=[*examination.report.files, f"issues: {reasons}"],
                hint="Run the doctor without --fix to see what is wrong.",
            )
        for pair in examination.pairs():
            clean_file.write(_line({"source": pair.source, "target": pair.target}, as_json))
    return FixResult(examination, out, dropped, count)


def _check_output(out: Path, dropped: Path, inputs: Sequence[str | Path], overwrite: bool) -> None:
    if out.suffix.lower() not in (".tsv", ".jsonl"):
        raise UsageError(
            f"--fix writes .tsv or .jsonl, not {out}", where=str(out), hint="Use a name such as --fix clean.tsv."
        )
    for path in (out, dropped):
        if path.exists() and any(Path(file).exists() and path.samefile(file) for file in inputs):
            raise UserError(f"{path} is one of the files to read", where=str(path), hint="Name another output file.")
        if path.exists() and not overwrite:
            raise UserError(
                f"{path} exists already", where=str(path), hint="Name another file, or replace it with --overwrite."
            )


def _line(fields: Mapping[str, str], as_json: bool) -> bytes:
    text = (
        json.dumps(fields, ensure_ascii=False) if as_json else "\t".join(clean(cell).text for cell in fields.values())
    )
    return f"{text}\n".encode("utf-8", "backslashreplace")
