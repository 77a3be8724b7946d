"""`pellucid train vectors`: a text in, a vector for each word out."""

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.cli.stopping import STOPPED, Stop
from pellucid.cli.vector_files import Form, check_new, opened, size_of
from pellucid.cli.vector_settings import DEFAULT_SETTINGS, VectorSettings
from pellucid.errors import UsageError, UserError
from pellucid.storage.files import write_error

if TYPE_CHECKING:
    from pellucid.word2vec import Format, VectorsConfig, WordVectors
    from pellucid.word2vec.training import Training

__all__ = ["vectors"]

SECONDS_A_CHECKPOINT = 300.0

_Switch = Annotated[bool, Parameter(negative="")]


def vectors(
    *text: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    to: Form | None = None,
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    resume: _Switch = False,
    overwrite: _Switch = False,
    settings: VectorSettings = DEFAULT_SETTINGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Train word vectors from a text, a sentence a line; of the same text and seed come the same vectors, to the bit.

    Sequences need not be words: baskets of a shop, a line each, give vectors of its items. Ctrl-C stops and keeps the
    vectors as they are. In a folder there is a checkpoint every five minutes and after Ctrl-C, from which `--resume`
    goes on: the vectors are then those of a training that nobody stopped, to the bit.

    Args:
        text: Files; .gz, .xz and .zst are read as they are.
        output: Folder for the native form, a file for the others.
        to: The form to write: native is a folder that opens at once and holds counts and output vectors, too. By the
            output's ending unless given: .txt is word2vec-text, .bin word2vec-binary, .vec fasttext, anything else
            native.
        start_from: Word vectors to go on with, a folder or file; new words are added behind theirs.
        resume: Go on with the training in the folder; text and settings are given again.
        overwrite: Replace word vectors that stand in the output folder, or the file.
    """
    if not text:
        raise UsageError("no text was given", where="pellucid train vectors", hint="Name a file, a sentence a line.")
    form = check_new(output, to, overwrite, resume)
    if any(os.path.realpath(output) == os.path.realpath(file) for file in text):
        raise UserError(f"{output} is the text to learn from", where=str(output), hint="Name another file with `-o`.")
    from pellucid.word2vec.config import vectors_config

    start = None if start_from is None else opened(start_from)
    given = settings.given()
    if start is not None:
        given.setdefault("d", start.d)
    config = vectors_config(given)
    with _work_folder(output) as folder:
        training = _begun(list(text), config, folder, start, form, flags.threads)
        run = _Run(training, output if form == "native" else None)
        if resume:
            run.take_up()
        stopped = run.take_on()
        made = training.vectors()
    _save(made, output, form)
    if form == "native":
        run.leave_records(text, stopped)
    console.say(f"{output}: {len(made):,} words, {made.d} numbers each")
    console.say(f"Try it: pellucid vectors similar {output} {made.words[min(100, len(made) - 1)]}")
    return STOPPED if stopped else 0


def _begun(
    text: list[Path],
    config: "VectorsConfig",
    folder: Path,
    start: "WordVectors | None",
    form: "Format",
    threads: int | None,
) -> "Training":
    """Read the text and return a training on it.

    Raises:
        UserError: before the training, if the form to write cannot hold a word.
    """
    from pellucid.word2vec import Vocabulary
    from pellucid.word2vec.files import check_words
    from pellucid.word2vec.training import Training, encoded_for

    with console.progress("Reading", size_of(text), "bytes") as bar:
        encoded = encoded_for(text, config, folder, start, bar.advance)
    console.say(
        f"{encoded.words_read:,} words, {encoded.different:,} different, {len(encoded.words):,} of them "
        f"at least {config.min_count} times; {len(encoded.ids):,} sentences"
    )
    words = encoded.words if start is None else dict.fromkeys([*start.words, *encoded.words])
    check_words(Vocabulary.of(words), form)
    training = Training(encoded, config, threads=threads, start=start)
    with console.progress("Fetching machine code (compiled at the first training on a machine, some twenty seconds)"):
        training.prepare()
    return training


def _save(made: "WordVectors", output: Path, form: "Format") -> None:
    """Write the vectors, or, where that is refused, keep them in another place and say where."""
    try:
        with console.progress("Writing"):
            made.save(output, form)
    except UserError:
        kept = Path(tempfile.mkdtemp(prefix="pellucid-")) / "vectors"
        try:
            made.save(kept)
        except UserError:  # there is no room either: the first error tells
            kept.parent.rmdir()
        else:
            console.warn(f"the vectors are kept in {kept}; `pellucid vectors convert {kept} NEW` puts them elsewhere")
        raise


class _Run:
    """A training that is shown, and that leaves checkpoints and records in a folder, if there is one."""

    def __init__(self, training: "Training", folder: Path | None) -> None:
        self._training = training
        self._folder = folder
        self._records: list[dict[str, Any]] = []

    def take_up(self) -> None:
        """Go on from the newest checkpoint, if there is one."""
        from pellucid.storage.checkpoints import latest_checkpoint, read_checkpoint

        assert self._folder is not None
        newest = latest_checkpoint(self._folder)
        if newest is None:
            return
        checkpoint = read_checkpoint(newest)
        self._training.go_on_from(checkpoint)
        self._records = list(checkpoint.state["records"])
        console.say(f"Going on after {self._training.progress:.0%}.")

    def take_on(self) -> bool:
        """Take the training to its end, or to Ctrl-C; return whether it was stopped."""
        epochs, step = self._training.config.epochs, None
        stop = Stop("Stopping here, with the vectors as they are")
        last_checkpoint = time.monotonic()
        with stop.heeded(), console.progress("Training", 100, "%") as bar:
            for step in self._training:
                stop.waits = True
                self._records.append(asdict(step))
                left = step.seconds * (1 / step.progress - 1)
                bar.update(
                    round(100 * step.progress, 1),
                    f"loss {step.loss:.3f}, {step.words_per_second:,.0f} words/s, {left:.0f} s left",
                )
                if step.epoch_loss is not None:
                    console.say(f"pass {step.epoch + 1} of {epochs}: loss {step.epoch_loss:.4f}")
                if step.progress < 1 and stop.asked:
                    console.say(f"Stopped after {step.progress:.0%}; the vectors are kept as they are.")
                    return True
                if step.progress < 1 and time.monotonic() - last_checkpoint > SECONDS_A_CHECKPOINT:
                    self._write_checkpoint()
                    last_checkpoint = time.monotonic()
        if step is not None:
            console.say(f"{step.words:,} words in {step.seconds:.1f} s: {step.words / step.seconds:,.0f} words/s")
        return False

    def leave_records(self, text: Sequence[Path], stopped: bool) -> None:
        """Write metrics and report into the folder of the vectors, and a checkpoint if there is something to go on."""
        from pellucid.storage.files import write_text
        from pellucid.storage.model_folder import write_json

        assert self._folder is not None
        lines = []
        for record in self._records:
            fields = dict(record)
            fields["tokens"], fields["tokens_per_second"] = fields.pop("words"), fields.pop("words_per_second")
            lines.append(json.dumps(fields, allow_nan=False))
        write_text(self._folder / "metrics.jsonl", "\n".join(lines) + "\n")
        write_json(self._folder / "report.json", self._report(text, stopped))
        if stopped:
            self._write_checkpoint()
            console.say("The same command with --resume instead of --overwrite goes on.")

    def _report(self, text: Sequence[Path], stopped: bool) -> dict[str, Any]:
        encoded, training = self._training.text, self._training
        return {
            "data": {
                "files": [str(file) for file in text],
                "words": encoded.words_read,
                "different_words": encoded.different,
                "kept_words": int(encoded.counts.sum()),
                "vocab_size": len(encoded.words),
                "sentences": len(encoded.ids),
            },
            "training": {
                "settings": training.config.model_dump(mode="json"),
                "threads": training.threads,
                "losses": training.losses,
                "seconds": self._records[-1]["seconds"] if self._records else 0.0,
                "progress": training.progress,
                "stopped": stopped,
            },
        }

    def _write_checkpoint(self) -> None:
        """Write a checkpoint; one that cannot be written is told, and stops nothing."""
        if self._folder is None:
            return
        from pellucid.storage.checkpoints import prune, write_checkpoint

        checkpoint = self._training.checkpoint()
        checkpoint.state["records"] = self._records
        try:
            write_checkpoint(self._folder, checkpoint)
            prune(self._folder, keep=1)
        except UserError as error:
            console.warn(f"no checkpoint: {error}")


@contextmanager
def _work_folder(output: Path) -> Iterator[Path]:
    """Yield a folder for the encoded text, beside the output: there is room where vectors go."""
    beside = next(folder for folder in output.absolute().parents if folder.is_dir())
    try:
        temporary = tempfile.TemporaryDirectory(prefix=".pellucid-", dir=beside)
    except OSError as error:
        raise write_error(output, error) from error
    with temporary as folder:
        yield Path(folder)
