"""The training of word vectors: numbers of words in, better vectors out, a record every second or so.

    text = encode_text("corpus.txt", folder)
    training = Training(text, VectorsConfig(), threads=2)
    for step in training:
        print(step.progress, step.loss, step.words_per_second)
    vectors = training.vectors()

The vectors can be taken at any time; they are as far as the training is. Of the same text, settings and seed come the
same vectors, whatever the number of threads, unless the setting `fast` is on.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.randomness import generator
from pellucid.storage.checkpoints import Checkpoint
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText
from pellucid.word_vectors.rounds import RoundResult, RoundRunner
from pellucid.word_vectors.keyed_vectors import KeyedVectors

if TYPE_CHECKING:
    from pellucid.word_vectors.rounds import Matrices

__all__ = ["VectorsStep", "VectorsTraining"]

_SECONDS_A_STEP = 0.5
_COUNTERS = ("_epoch", "_round", "_words", "_steps", "_predictions", "_seconds", "_loss")


@dataclass(frozen=True)
class VectorsStep:
    """How far a training is.

    Attributes:
        step: number of the record, from 1.
        epoch: the pass over the text that was under way, from 0.
        loss: nats a prediction, mean since the last record; a prediction is a pair of centre and context for skip-gram,
            and a centre for CBOW. It is taken before the update that it leads to.
        epoch_loss: the mean of the whole pass, with its last record; None otherwise, and for a pass in which
            sub-sampling left nothing to predict.
        learning_rate: at the end of the record.
        words: read so far, all passes together, those that were sub-sampled included.
        seconds: since the start.
        words_per_second: since the last record.
        progress: share of the training that is done, 0 to 1.
    """

    step: int
    epoch: int
    loss: float
    epoch_loss: float | None
    learning_rate: float
    words: int
    seconds: float
    words_per_second: float
    progress: float


class VectorsTraining:
    """A training under way; iterate over it to take it on.

    Args:
        text: what to learn from; see `encode_text`.
        config: the settings.
        threads: how many threads work; all cores unless given. More than `workers` do not help.
        start: vectors to go on with. Words that both have keep their rows, words that only the text has are added
            behind them, and words that only the vectors have stay as they are.

    Attributes:
        matched: how many of the text's words have their rows from `start`.
        losses: that of each pass so far, nats a prediction; None of a pass in which sub-sampling left nothing to
            predict, as of a text of very few words.

    Raises:
        UserError: if there is nothing to learn from, or `start` does not fit the settings or holds what is not finite.
    """

    def __init__(
        self, text: EncodedText, config: VectorsConfig, *, threads: int | None = None, start: KeyedVectors | None = None
    ) -> None:
        if not (text.ids.lengths >= 2).any():
            raise UserError(
                "no sentence has two words of the vocabulary: there is no context to learn from",
                hint="A line of the file is a sentence; words stand between spaces. Lower min_count for little text.",
            )
        if start is not None and start.dim != config.dim:
            raise UserError(
                f"the vectors to go on with have {start.dim} numbers each, the settings say dim = {config.dim}",
                hint=f"Give dim = {start.dim}, `-d {start.dim}`.",
            )
        self.text = text
        self.config = config
        self.start = start
        self.losses: list[float | None] = []
        if start is not None:
            start.check_finite()
        self._trainer = RoundRunner(text, config, threads or _cores())
        self.matched = self._first_rows(self._trainer.model)
        self._epoch = self._round = self._words = self._steps = self._predictions = 0
        self._seconds = self._loss = 0.0
        self._whole = True

    def prepare(self) -> None:
        """Fetch the machine code, or compile it: once on a machine, some twenty seconds."""
        self._trainer.run(self._epoch, 0, 0, self._learning_rates)

    @property
    def threads(self) -> int:
        """How many threads work."""
        return self._trainer.threads

    @property
    def progress(self) -> float:
        """The share of the training that is done."""
        return self._words / (len(self.text.ids.ids) * self.config.epochs)

    def __iter__(self) -> Iterator[VectorsStep]:
        """Train, and yield a record about twice a second and at the end of each pass."""
        if not self._whole:
            raise UserError(
                "the training was broken off in the middle of a round",
                hint="Make it anew, or go on from a checkpoint; its vectors can be taken as they are.",
            )
        at_once = 1
        self.prepare()
        with self._trainer.started() as trainer:
            while self._epoch < self.config.epochs:
                clock = time.monotonic()
                last = min(trainer.rounds, self._round + at_once)
                self._whole = False  # until these rounds are done
                result = trainer.run(self._epoch, self._round, last, self._learning_rates)
                self._whole = True
                seconds = max(time.monotonic() - clock, 1e-9)
                step = self._counted(result, last, seconds)
                at_once = max(1, min(2 * at_once, round(at_once * _SECONDS_A_STEP / seconds)))
                yield step

    def _counted(self, result: RoundResult, last: int, seconds: float) -> VectorsStep:
        """Note that the rounds before `last` are done, and return the record."""
        epoch, ended = self._epoch, last == self._trainer.rounds
        self._words += result.words
        self._steps += 1
        self._seconds += seconds
        self._loss += result.loss
        self._predictions += result.predictions
        self._round = last
        epoch_loss = None
        if ended:
            epoch_loss = self._loss / self._predictions if self._predictions else None
            self.losses.append(epoch_loss)
            self._epoch, self._round, self._loss, self._predictions = epoch + 1, 0, 0.0, 0
        loss = result.loss / max(result.predictions, 1)
        self._check_finite(loss)
        return VectorsStep(
            step=self._steps,
            epoch=epoch,
            loss=loss,
            epoch_loss=epoch_loss,
            learning_rate=float(self._learning_rates(numpy.array(self.progress))),
            words=self._words,
            seconds=self._seconds,
            words_per_second=result.words / seconds,
            progress=self.progress,
        )

    def checkpoint(self) -> Checkpoint:
        """Return all that is needed to go on from here, in another process, as if nothing had happened."""
        from torch import from_numpy

        inputs, outputs = self._trainer.model.matrices(self.config.dim)
        counters = {name: getattr(self, name) for name in _COUNTERS}
        state = {"counters": counters, "losses": self.losses, "begun_with": self._begun_with()}
        return Checkpoint(self._steps, {"inputs": from_numpy(inputs), "outputs": from_numpy(outputs)}, {}, state)

    def resume_from(self, checkpoint: Checkpoint) -> None:
        """Take the training up where a checkpoint of it was made; the number of threads may be another.

        Raises:
            UserError: if the checkpoint is of another text, of other settings, or of other vectors to start from.
        """
        try:
            now, then = self._begun_with(), dict(checkpoint.state["begun_with"])
            if now != then:
                raise UserError(
                    f"the training was begun with {_difference(then, now)}",
                    hint="Go on with the same text and settings, or start anew with `--overwrite`.",
                )
            matrices = [checkpoint.model[name].numpy() for name in ("inputs", "outputs")]
            counters = {name: checkpoint.state["counters"][name] for name in _COUNTERS}
            losses = [None if loss is None else float(loss) for loss in checkpoint.state["losses"]]
            rounds, words = self._trainer.rounds, len(self.text.ids.ids) * self.config.epochs
            if not (
                all(matrix.shape == (len(self.text.words), self.config.dim) for matrix in matrices)
                and 0 <= counters["_epoch"] < self.config.epochs
                and 0 <= counters["_round"] < rounds
                and 0 <= counters["_words"] <= words
            ):
                raise ValueError("its numbers do not fit the text")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"the checkpoint of step {checkpoint.step} is damaged: {error}",
                hint="Start anew with `--overwrite`.",
            ) from error
        for rows, matrix in zip(self._trainer.model, matrices, strict=True):
            rows[:, : self.config.dim] = matrix
        for name, value in counters.items():
            setattr(self, name, value)
        self.losses = losses

    def _begun_with(self) -> dict[str, Any]:
        """Return what a training that goes on must have been begun with."""
        settings = self.config.model_dump(mode="json")
        if self.config.fast:  # each thread has its own share of the rounds
            settings["threads"] = self.threads
        return {
            "settings": settings,
            "text": self.text.fingerprint(),
            "start": None if self.start is None else _fingerprint(self.start),
        }

    def vectors(self) -> KeyedVectors:
        """Return the vectors as they are now, the most frequent word first.

        Raises:
            UserError: if one of their numbers is not finite.
        """
        inputs, outputs_or_nodes = self._trainer.model.matrices(self.config.dim)
        if not (numpy.isfinite(inputs).all() and numpy.isfinite(outputs_or_nodes).all()):
            raise self._left_the_finite()
        # A tree's nodes are no words: their rows are of no use without the tree.
        outputs = None if self.config.objective == "hierarchical-softmax" else outputs_or_nodes
        words = list(self.text.words)
        counts: NDArray[numpy.int64] | None = self.text.counts
        if self.start is not None:
            words, inputs, outputs, counts = self._joined(inputs, outputs)
        about = {
            "training": self.config.model_dump(mode="json"),
            "words": int(self.text.counts.sum()),
            "words_read": self.text.words_read,
            "distinct_words": self.text.distinct,
            "sentences": len(self.text.ids),
            "losses": [None if loss is None else round(loss, 6) for loss in self.losses],
            "progress": self.progress,
        }
        return KeyedVectors(words, inputs, outputs, counts, about)

    def _learning_rates(self, progress: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        first, last = self.config.first_learning_rate, self.config.end_learning_rate
        return first + (last - first) * numpy.minimum(1.0, progress)

    def _check_finite(self, loss: float) -> None:
        if not math.isfinite(loss) or not self._trainer.model.finite():
            raise self._left_the_finite()

    def _left_the_finite(self) -> UserError:
        return UserError(
            "the vectors have left the finite numbers",
            hint=f"Lower the learning rate: it was {self.config.first_learning_rate}.",
        )

    def _first_rows(self, model: Matrices) -> int:
        """Fill input vectors with random numbers from −1/2d to 1/2d, as word2vec does; output vectors start at 0.

        Returns how many words have their rows from the vectors to go on with instead.
        """
        draw = generator(self.config.seed, "first vectors")
        dim = self.config.dim
        for begin in range(0, len(model.inputs), 1 << 14):
            block = model.inputs[begin : begin + (1 << 14), :dim]
            block[:] = (draw.random(block.shape, numpy.float32) - 0.5) / dim
        if self.start is None:
            return 0
        found = [self.start.vocabulary.find(word) for word in self.text.words]
        here = numpy.array([n for n, row in enumerate(found) if row is not None], numpy.int64)
        rows = numpy.array([row for row in found if row is not None], numpy.int64)
        model.inputs[here, :dim] = self.start.input_vectors[rows]
        if self.start.output_vectors is not None and self.config.objective != "hierarchical-softmax":
            model.outputs[here, :dim] = self.start.output_vectors[rows]
        return len(here)

    def _joined(
        self, inputs: NDArray[numpy.float32], outputs: NDArray[numpy.float32] | None
    ) -> tuple[list[str], NDArray[numpy.float32], NDArray[numpy.float32] | None, NDArray[numpy.int64] | None]:
        """Return the words that the training went on from, in their rows, and behind them the new ones."""
        assert self.start is not None
        old = self.start
        found = [old.vocabulary.find(word) for word in self.text.words]
        words = list(old.words) + [word for word, row in zip(self.text.words, found, strict=True) if row is None]
        free = iter(range(len(old), len(words)))
        rows = numpy.array([next(free) if row is None else row for row in found], numpy.int64)

        def joined(before: NDArray[Any] | None, now: NDArray[Any]) -> NDArray[Any]:
            whole = numpy.zeros((len(words), *now.shape[1:]), now.dtype)
            if before is not None:
                whole[: len(before)] = before
            whole[rows] = now
            return whole

        counts: NDArray[numpy.int64] | None = None
        if old.counts is not None:
            whole, here = joined(old.counts, self.text.counts), rows < len(old)
            whole[rows[here]] += old.counts[rows[here]]
            counts = whole
        whole_outputs = None if outputs is None else joined(old.output_vectors, outputs)
        return words, joined(old.input_vectors, inputs), whole_outputs, counts


def _difference(then: dict[str, Any], now: dict[str, Any]) -> str:
    """Say in words what is not the same."""
    before, after = then["settings"], now["settings"]
    other = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if other:
        return ", ".join(f"{name} = {before[name]}" if name in before else f"no {name}" for name in other)
    return "another text" if then["text"] != now["text"] else "other vectors to start from (`--from`)"


def _fingerprint(vectors: KeyedVectors) -> str:
    content = hashlib.sha256(vectors.vocabulary.letters.tobytes())
    for matrix in (vectors.input_vectors, vectors.output_vectors):
        for begin in range(0, 0 if matrix is None else len(matrix), 1 << 14):
            content.update(numpy.ascontiguousarray(matrix[begin : begin + (1 << 14)]).data)  # type: ignore[index]
    return content.hexdigest()


def _cores() -> int:
    """Return how many cores this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
