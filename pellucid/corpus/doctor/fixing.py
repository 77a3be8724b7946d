"""What `--fix` writes: the clean pairs, and a list of what was left out and why."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.corpus.cleaning import clean
from pellucid.corpus.doctor.examination import Examination, examine
from pellucid.corpus.pairs import SentencePair
from pellucid.corpus.raw_pairs import RawPair
from pellucid.errors import UsageError, UserError
from pellucid.storage.files import atomic_file

__all__ = ["FixResult", "dropped_path", "fix"]


class FixResult(NamedTuple):
    """What was written.

    Args:
        examination: of the text, with everything that can be mended mended.
        clean: file of the clean pairs.
        dropped: file of what was left out.
        dropped_pairs: how many pairs or lines that file has.
    """

    examination: Examination
    clean: Path
    dropped: Path
    dropped_pairs: int


def dropped_path(out: str | Path) -> Path:
    """Return where the list of what was left out goes: `clean.dropped.tsv` beside `clean.tsv`."""
    out = Path(out)
    return out.with_name(f"{out.stem}.dropped{out.suffix}")


def fix(sources: Sequence[str | Path], out: str | Path, *, overwrite: bool = False, **how: Any) -> FixResult:
    """Examine a text, and write its usable pairs to `out` and all others beside it; both files whole or not at all.

    In TSV a pair is source, tab, target; texts have no tabs any more, since they become spaces. Beside it stand the
    places of source and target, the check, the message and both texts. In JSONL the same stand under their names.

    Args:
        sources: files, as `read_pairs` takes them; they are never written to.
        out: a `.tsv` or `.jsonl` file.
        overwrite: whether files that stand at these names may be replaced.
        how: what else `examine` takes; `options` are those that turn errors into leaving out, see
            `DataConfig.with_fixes`.

    Raises:
        UsageError: if `out` is named otherwise.
        UserError: if files stand in the way, cannot be read or written, or no pair remains.
    """
    out = Path(out)
    dropped = dropped_path(out)
    _refuse_output(out, dropped, (*sources, *how.get("valid", ()), *how.get("test", ())), overwrite)
    as_json = out.suffix.lower() == ".jsonl"
    with atomic_file(dropped) as leavings, atomic_file(out) as remains:
        count = 0

        def leave(pair: RawPair, check: str, message: str) -> None:
            nonlocal count
            count += 1
            leavings.write(_dropped_line(pair, check, message, as_json))

        if not as_json:
            leavings.write(b"source location\ttarget location\tcheck\tmessage\tsource\ttarget\n")
        examination = examine(sources, on_dropped=leave, **how)
        if not examination.report.usable:
            reasons = ", ".join(f"{name} {number:,}" for name, number in examination.report.counts.items() if number)
            raise UserError(
                "nothing was written: no pair remains",
                where=[*examination.report.files, f"found: {reasons}"],
                hint="Run the doctor without --fix to see what is wrong.",
            )
        for pair in examination.pairs():
            remains.write(_line(pair, as_json))
    return FixResult(examination, out, dropped, count)


def _refuse_output(out: Path, dropped: Path, inputs: Sequence[str | Path], overwrite: bool) -> None:
    if out.suffix.lower() not in (".tsv", ".jsonl"):
        raise UsageError(f"--fix writes .tsv or .jsonl, not {out}", where=str(out), hint="Name it so: --fix clean.tsv")
    for path in (out, dropped):
        if path.exists() and any(Path(file).exists() and path.samefile(file) for file in inputs):
            raise UserError(f"{path} is one of the files to read", where=str(path), hint="Name another file to write.")
        if path.exists() and not overwrite:
            raise UserError(
                f"{path} exists already", where=str(path), hint="Name another file, or allow it with --overwrite."
            )


def _line(pair: SentencePair, as_json: bool) -> bytes:
    if as_json:
        return _json_line({"source": pair.source, "target": pair.target})
    return f"{pair.source}\t{pair.target}\n".encode()


def _dropped_line(pair: RawPair, check: str, message: str, as_json: bool) -> bytes:
    places = (str(pair.source_location), str(pair.target_location))
    if as_json:
        names = ("source_location", "target_location", "check", "message", "source", "target")
        return _json_line(dict(zip(names, (*places, check, message, pair.source, pair.target), strict=True)))
    cells = (*places, check, message, pair.source, pair.target)
    return ("\t".join(clean(cell).text for cell in cells) + "\n").encode("utf-8", "backslashreplace")


def _json_line(value: dict[str, str]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
