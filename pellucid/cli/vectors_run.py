"""A training of word vectors as a user sees it: progress, Ctrl-C, and in a folder checkpoints and records."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.interrupt import Interrupt
from pellucid.errors import UserError

if TYPE_CHECKING:
    from pellucid.word_vectors.training import VectorsTraining

__all__ = ["VectorsRun"]

SECONDS_A_CHECKPOINT = 300.0


class VectorsRun:
    """A training that is shown, and that leaves checkpoints in a folder, if there is one.

    Attributes:
        stopped: whether Ctrl-C has ended it early.
        can_go_on: whether there is a checkpoint beside the vectors of a stopped training.
    """

    def __init__(self, training: "VectorsTraining", folder: Path | None, text: Sequence[Path]) -> None:
        self.stopped = self.can_go_on = False
        self._training = training
        self._folder = folder
        self._text = text
        self._records: list[dict[str, Any]] = []
        self._taken_up = False

    def take_up(self) -> None:
        """Go on from the newest checkpoint, if there is one.

        Raises:
            UserError: if it is of another training, or damaged.
        """
        from pellucid.storage.checkpoints import latest_checkpoint, read_checkpoint

        assert self._folder is not None
        newest = latest_checkpoint(self._folder)
        if newest is None:
            return
        checkpoint = read_checkpoint(newest)
        records = checkpoint.state.get("records")
        self._training.resume_from(checkpoint)
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise UserError("a checkpoint's records are damaged", where=str(newest), hint="Start with `--overwrite`.")
        self._records, self._taken_up = records, True
        console.log(f"Going on after {self._training.progress:.0%}.")

    def take_on(self, stop: Interrupt) -> None:
        """Take the training to its end, or to Ctrl-C."""
        from pellucid.word_vectors.sanity_checks import check_losses

        epochs, last_checkpoint = self._training.config.epochs, time.monotonic()
        with console.progress("Training", 100, "%") as bar:
            for step in self._training:
                stop.deferred = True
                self._records.append(asdict(step))
                left = step.seconds * (1 / step.progress - 1)
                bar.update(
                    round(100 * step.progress, 1),
                    f"loss {step.loss:.3f}, {step.words_per_second:,.0f} words/s, {left:.0f} s left",
                )
                if step.epoch_loss is not None:
                    console.log(f"pass {step.epoch + 1} of {epochs}: loss {step.epoch_loss:.4f}")
                if step.progress < 1 and stop.requested:
                    console.log(f"Stopped after {step.progress:.0%}; the vectors are kept as they are.")
                    self.stopped = True
                    return
                if step.progress < 1 and time.monotonic() - last_checkpoint > SECONDS_A_CHECKPOINT:
                    self._write_checkpoint()
                    last_checkpoint = time.monotonic()
        for doubt in check_losses(self._training.losses):
            console.warn(doubt)
        if self._records:
            words, seconds = (self._records[-1][name] for name in ("words", "seconds"))
            console.log(
                f"{words:,} words (those kept, all passes together) in {seconds:.1f} s: {words / seconds:,.0f} words/s"
            )

    def leave_records(self, folder: Path) -> None:
        """Write metrics and report beside the vectors in `folder`, and a checkpoint if there is something to go on."""
        from pellucid.storage.files import write_text
        from pellucid.storage.model_folder import write_json

        lines = []
        for record in self._records:
            fields = dict(record)
            fields["tokens"], fields["tokens_per_second"] = fields.pop("words"), fields.pop("words_per_second")
            lines.append(json.dumps(fields, allow_nan=False))
        write_text(folder / "metrics.jsonl", "\n".join(lines) + "\n")
        write_json(folder / "report.json", self._report())
        if self.stopped:
            self.can_go_on = self._checkpoint_written(folder)

    def _report(self) -> dict[str, Any]:
        encoded, training = self._training.text, self._training
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

    def _write_checkpoint(self) -> None:
        if self._folder is None:
            return
        from pellucid.storage.checkpoints import prune_checkpoints, remove_checkpoints

        if not self._taken_up:  # what stands there is of the training that is to be replaced
            remove_checkpoints(self._folder)
            self._taken_up = True
        if self._checkpoint_written(self._folder):
            prune_checkpoints(self._folder, keep=1)

    def _checkpoint_written(self, folder: Path) -> bool:
        """Write a checkpoint; one that cannot be written is told, and stops nothing."""
        from pellucid.storage.checkpoints import write_checkpoint

        try:
            checkpoint = self._training.checkpoint()
            checkpoint.state["records"] = self._records
            write_checkpoint(folder, checkpoint)
        except (UserError, MemoryError) as error:
            console.warn(
                f"no checkpoint: {error.what if isinstance(error, UserError) else 'there is no memory for it'}"
            )
            return False
        return True
