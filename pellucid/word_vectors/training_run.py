"""A training run of word vectors, from text files to a model folder or a file: checkpoints, resuming, records, report.

    with TrainingRun([Path("corpus.txt")], "vectors", VectorsConfig(epochs=3)) as run:
        run.encode()
        for step in run:
            print(step.progress, step.loss)
        vectors = run.save()

Leaving the loop early stops the training; `save` then writes the vectors as they are and, in a folder, a checkpoint
from which `resume=True` continues to the same vectors, bit for bit, as an uninterrupted run.
"""

import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from pellucid.errors import UsageError, UserError
from pellucid.storage.checkpoints import (
    latest_checkpoint,
    prune_checkpoints,
    read_checkpoint,
    remove_checkpoints,
    write_checkpoint,
)
from pellucid.storage.files import atomic_folder, write_error, write_text
from pellucid.storage.model_folder import read_json, write_json
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.files import Format, check_output_path, check_words, format_from_name, write_vectors
from pellucid.word_vectors.files.native_format import check_native_path, write_native
from pellucid.word_vectors.files.writing import check_new_output
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.sanity_checks import check_losses, check_text
from pellucid.word_vectors.train_vectors import encode_for_training
from pellucid.word_vectors.training import VectorsStep, VectorsTraining
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["TrainingRun"]

SECONDS_PER_CHECKPOINT = 300.0


class TrainingRun:
    """A training run of word vectors whose result is a folder or a file.

    Args:
        text: files with one sentence per line.
        output: a folder for the native format, a file for the others.
        format: by default from the name of `output`.
        start: vectors to continue training from; see `VectorsTraining`.
        threads: number of threads; all cores by default.
        resume: continue from the latest checkpoint in `output`; the text and the settings must be the same.
        overwrite: replace existing word vectors.
        log: called with progress messages.
        warn: called with warnings; by default they are issued as Python warnings.

    Attributes:
        training: the training itself, after `encode`.
        resumable: whether `save` has written a checkpoint to resume from.

    Raises:
        UserError: if `output` cannot be written, exists, or has nothing to resume.
    """

    training: VectorsTraining

    def __init__(
        self,
        text: Sequence[Path],
        output: str | Path,
        config: VectorsConfig,
        *,
        format: Format | None = None,
        start: KeyedVectors | None = None,
        threads: int | None = None,
        resume: bool = False,
        overwrite: bool = False,
        log: Callable[[str], None] = lambda line: None,
        warn: Callable[[str], None] = warnings.warn,
    ) -> None:
        self.output = Path(output)
        self.config = config
        self.resumable = False
        self._text, self._start, self._threads = list(text), start, threads
        self._log, self._warn = log, warn
        self._resume, self._may_replace = resume, resume or overwrite
        self.format: Format = format or format_from_name(output)
        if resume:
            if overwrite:
                raise UsageError(
                    "--resume and --overwrite are mutually exclusive",
                    where=str(output),
                    hint="Use `--resume` to continue the training, or `--overwrite` to start over.",
                )
            self._check_resumable()
        else:
            check_new_output(output, self.format, overwrite)
        if any(os.path.realpath(output) == os.path.realpath(file) for file in text):
            raise UserError(
                f"{output} is the training text", where=str(output), hint="Choose another output with `-o`."
            )
        self._records: list[dict[str, Any]] = []
        self._owns_checkpoints = False  # whether the checkpoints in the folder are those of this training
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        """Create a temporary folder for the encoded text, beside the output, where there should be enough space."""
        parent = next(folder for folder in self.output.absolute().parents if folder.is_dir())
        try:
            self._temporary = tempfile.TemporaryDirectory(prefix=".pellucid-", dir=parent)
        except OSError as error:
            raise write_error(self.output, error) from error
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def encode(self, on_progress: Callable[[int], None] | None = None) -> None:
        """Read and encode the text, set up the run, and restore the latest checkpoint when resuming.

        Args:
            on_progress: called with the number of bytes read since the last call.

        Raises:
            UserError: if the text or the checkpoint cannot be used, or the output format cannot hold a word.
        """
        assert self._temporary is not None, "use the run as a context manager"
        start, folder = self._start, Path(self._temporary.name)
        encoded = encode_for_training(self._text, self.config, folder, start, on_progress)
        self._log(
            f"{encoded.words_read:,} words, {encoded.distinct:,} distinct, {len(encoded.words):,} of them "
            f"at least {self.config.min_count} times; {len(encoded.ids):,} sentences"
        )
        words = encoded.words if start is None else dict.fromkeys([*start.words, *encoded.words])
        check_words(Vocabulary.of(words), self.format)
        self.training = VectorsTraining(encoded, self.config, threads=self._threads, start=start)
        if start is not None:
            self._report_overlap(start)
        for problem in check_text(encoded, self.config):
            self._warn(problem)
        if self._resume:
            self._restore()

    def __iter__(self) -> Iterator[VectorsStep]:
        """Train, with a checkpoint every five minutes if the output is a folder; yields a record twice a second."""
        last_checkpoint = time.monotonic()
        for step in self.training:
            self._records.append(asdict(step))
            yield step
            if (
                self.format == "native"
                and step.progress < 1
                and time.monotonic() - last_checkpoint > SECONDS_PER_CHECKPOINT
            ):
                self._update_checkpoint()
                last_checkpoint = time.monotonic()
        for problem in check_losses(self.training.losses):
            self._warn(problem)

    def save(self) -> KeyedVectors:
        """Write the vectors; in a folder also metrics, report and, if the training was stopped early, a checkpoint.

        If writing fails, the vectors are saved to a temporary folder, which a warning names, before the error is
        raised.

        Raises:
            UserError: if writing fails, or the output now exists.
        """
        vectors = self.training.vectors()
        try:
            self._write(vectors)
        except UserError:
            self._save_elsewhere(vectors)
            raise
        return vectors

    @property
    def stopped(self) -> bool:
        """Whether the training has not reached its end."""
        return self.training.progress < 1

    def _write(self, vectors: KeyedVectors) -> None:
        taken = self.output / "config.json" if self.format == "native" else self.output
        if not self._may_replace and taken.is_file():
            raise UserError(
                f"{self.output} was created by another run in the meantime",
                where=str(self.output),
                hint="Choose another output.",
            )
        if self.format != "native":
            write_vectors(vectors, self.output, self.format)
            return
        check_native_path(self.output)
        with atomic_folder(self.output, replace=True) as temporary:
            write_native(vectors, temporary)
            write_text(temporary / "metrics.jsonl", "".join(f"{line}\n" for line in self._metrics()))
            write_json(temporary / "report.json", self._report())
            if self.stopped:
                self.resumable = self._write_checkpoint(temporary)

    def _save_elsewhere(self, vectors: KeyedVectors) -> None:
        folder = Path(tempfile.mkdtemp(prefix="pellucid-")) / "vectors"
        try:
            write_vectors(vectors, folder)
        except UserError:  # no space there either: the first error is raised
            folder.parent.rmdir()
        else:
            self._warn(
                f"the vectors have been saved to {folder} instead; copy them with "
                f"`pellucid vectors convert {folder} NEW`"
            )

    def _check_resumable(self) -> None:
        """Check that there is a run to resume, or that none has started yet.

        Raises:
            UsageError: if the format has no checkpoints.
            UserError: if the training has ended, or its checkpoint is lost.
        """
        output = self.output
        check_output_path(output, self.format)
        if self.format != "native":
            raise UsageError(
                "a file of vectors has no checkpoint to resume from",
                where=str(output),
                hint="Train into a folder (`-o FOLDER`) and create the file with `pellucid vectors convert`.",
            )
        if latest_checkpoint(output) is not None:
            return
        progress = _progress_when_stopped(output)
        if progress is not None:
            raise UserError(
                f"the training run in {output} was stopped at {progress:.0%}, but its checkpoint is missing or damaged",
                where=str(output / "checkpoints"),
                hint=f"Choose another folder with `-o` and add `--from {output}`, or start over with `--overwrite`.",
            )
        if (output / "config.json").is_file():
            raise UserError(
                f"the training run in {output} is complete: nothing to resume",
                where=str(output),
                hint=f"To train on more text, choose another folder with `-o` and add `--from {output}`.",
            )
        self._log(f"{output} has no checkpoint yet: starting from the beginning.")

    def _restore(self) -> None:
        newest = latest_checkpoint(self.output)
        if newest is None:
            return
        checkpoint = read_checkpoint(newest)
        records = checkpoint.state.get("records")
        self.training.resume_from(checkpoint)
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise UserError(
                "the checkpoint's records are damaged", where=str(newest), hint="Start over with `--overwrite`."
            )
        self._records, self._owns_checkpoints = records, True
        self._log(f"Resuming at {self.training.progress:.0%}.")

    def _report_overlap(self, start: KeyedVectors) -> None:
        """Log how much of the vocabulary continues from existing vectors."""
        words, matched = len(self.training.text.words), self.training.matched
        without = " (without output vectors)" if start.output_vectors is None else ""
        self._log(f"{matched:,} of the text's {words:,} words continue from existing vectors{without}; the rest is new")
        if matched < words / 10:
            self._warn(
                "hardly any word of the text is among the existing vectors: are language and tokenizer the same?"
            )
        then = start.metadata.get("training")
        before = then.get("model") if isinstance(then, dict) else None
        if before not in (None, self.config.model):
            self._warn(f"the existing vectors were trained with {before}, this training uses {self.config.model}")

    def _update_checkpoint(self) -> None:
        if not self._owns_checkpoints:  # those of the run that is being replaced
            remove_checkpoints(self.output)
            self._owns_checkpoints = True
        if self._write_checkpoint(self.output):
            prune_checkpoints(self.output, keep=1)

    def _write_checkpoint(self, folder: Path) -> bool:
        """Write a checkpoint; a failure is a warning and does not stop the training."""
        try:
            checkpoint = self.training.checkpoint()
            checkpoint.state["records"] = self._records
            write_checkpoint(folder, checkpoint)
        except (UserError, MemoryError) as error:
            self._warn(f"no checkpoint written: {error.what if isinstance(error, UserError) else 'out of memory'}")
            return False
        return True

    def _metrics(self) -> Iterator[str]:
        for record in self._records:
            fields = dict(record)
            fields["tokens"], fields["tokens_per_second"] = fields.pop("words"), fields.pop("words_per_second")
            yield json.dumps(fields, allow_nan=False)

    def _report(self) -> dict[str, Any]:
        encoded, training = self.training.text, self.training
        return {
            "data": {
                "files": [os.fsencode(file).decode("utf-8", "replace") for file in self._text],
                "words": encoded.words_read,
                "distinct_words": encoded.distinct,
                "kept_words": int(encoded.counts.sum()),
                "vocab_size": len(encoded.words),
                "sentences": len(encoded.ids),
            },
            "training": {
                "learning_rate": training.config.first_learning_rate,
                "threads": training.threads,
                "losses": training.losses,
                "seconds": self._records[-1]["seconds"] if self._records else 0.0,
                "progress": training.progress,
                "stopped": self.stopped,
            },
        }


def _progress_when_stopped(output: Path) -> float | None:
    """Read the progress at which the training in a folder was stopped; None if it was not stopped."""
    try:
        training = read_json(output / "report.json")["training"]
        return float(training["progress"]) if training["stopped"] else None
    except (UserError, KeyError, TypeError, ValueError):
        return None
