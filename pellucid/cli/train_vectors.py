"""`pellucid train vectors`: a text in, a vector for each word out."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.cli.stopping import STOPPED, Stop
from pellucid.cli.vector_files import Form, opened
from pellucid.cli.vector_settings import DEFAULT_SETTINGS, VectorSettings
from pellucid.errors import UsageError, UserError

if TYPE_CHECKING:
    from pellucid.word2vec.training import Training, VectorsStep

__all__ = ["vectors"]

_Switch = Annotated[bool, Parameter(negative="")]


def vectors(
    *text: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    to: Form = "native",
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    overwrite: _Switch = False,
    settings: VectorSettings = DEFAULT_SETTINGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Train word vectors from a text, a sentence a line; of the same text and seed come the same vectors, to the bit.

    Sequences need not be words: baskets of a shop, a line each, give vectors of its items. Ctrl-C stops and keeps the
    vectors as they are.

    Args:
        text: Files; .gz, .xz and .zst are read as they are.
        output: Folder for the native form, a file for the others.
        to: The form to write: native is a folder that opens at once and holds counts and output vectors, too.
        start_from: Word vectors to go on with, a folder or file; new words are added behind theirs.
        overwrite: Replace word vectors that stand in the output folder, or the file.
    """
    if not text:
        raise UsageError("no text was given", where="pellucid train vectors", hint="Name a file, a sentence a line.")
    _check_output(output, to, overwrite)
    from pellucid.word2vec.config import vectors_config
    from pellucid.word2vec.training import Training, encoded_for

    start = None if start_from is None else opened(start_from)
    given = settings.given()
    if start is not None:
        given.setdefault("d", start.d)
    config = vectors_config(given)
    size = sum(file.stat().st_size for file in text if file.is_file())
    packed = any(file.suffix.lower() in (".gz", ".xz", ".zst") for file in text)
    parent = output.absolute().parent
    with _work_folder(parent) as folder:
        with console.progress("Reading", None if packed else size, "bytes") as bar:
            encoded = encoded_for(list(text), config, folder, start, bar.advance)
        console.say(
            f"{encoded.words_read:,} words, {encoded.different:,} different, {len(encoded.words):,} of them "
            f"at least {config.min_count} times; {len(encoded.ids):,} sentences"
        )
        training = Training(encoded, config, threads=flags.threads, start=start)
        records, stopped = _trained(training)
        made = training.vectors()
        with console.progress("Writing"):
            made.save(output, to)
        if to == "native":
            _write_metrics(output, records)
    console.say(f"{output}: {len(made):,} words, {made.d} numbers each")
    console.say(f"Try it: pellucid vectors similar {output} {made.words[min(100, len(made) - 1)]}")
    return STOPPED if stopped else 0


def _trained(training: "Training") -> tuple[list["VectorsStep"], bool]:
    """Take the training to its end, or to Ctrl-C; return its records and whether it was stopped."""
    records = []
    began = time.monotonic()
    stop = Stop("Stopping here, with the vectors as they are")
    with stop.heeded(), console.progress("Training", 100, "%") as bar:
        for step in training:
            stop.waits = True
            records.append(step)
            left = step.seconds * (1 / step.progress - 1)
            bar.update(
                round(100 * step.progress, 1),
                f"loss {step.loss:.3f}, {step.words_per_second:,.0f} words/s, {left:.0f} s left",
            )
            if step.epoch_loss is not None:
                console.say(f"pass {step.epoch + 1} of {training.config.epochs}: loss {step.epoch_loss:.4f}")
            if stop.asked and step.progress < 1:
                console.say(f"Stopped after {step.progress:.0%}; the vectors are kept as they are.")
                return records, True
    seconds = time.monotonic() - began
    words = records[-1].words
    console.say(f"{words:,} words in {seconds:.1f} s: {words / max(seconds, 1e-9):,.0f} words/s")
    return records, False


def _write_metrics(folder: Path, records: list["VectorsStep"]) -> None:
    import json

    from pellucid.storage.files import write_text

    lines = []
    for record in records:
        fields = asdict(record)
        fields["tokens"], fields["tokens_per_second"] = fields.pop("words"), fields.pop("words_per_second")
        lines.append(json.dumps(fields, allow_nan=False))
    write_text(folder / "metrics.jsonl", "\n".join(lines) + "\n")


def _check_output(output: Path, to: Literal["native"] | str, overwrite: bool) -> None:
    there = (output / "config.json").is_file() if to == "native" else output.exists()
    if there and not overwrite:
        raise UserError(
            f"{output} {'holds a model' if to == 'native' else 'exists'} already",
            where=str(output),
            hint="Add `--overwrite` to replace it, or name another place with `-o`.",
        )


@contextmanager
def _work_folder(beside: Path) -> Iterator[Path]:
    """Yield a folder for the encoded text, beside the output: there is room where vectors go."""
    place = beside if beside.is_dir() else None
    with tempfile.TemporaryDirectory(prefix=".pellucid-", dir=place) as folder:
        yield Path(folder)
