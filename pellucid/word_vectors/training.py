"""Training of word vectors: encoded text in, better vectors out, one record about twice a second.

    text = encode_text("corpus.txt", folder)
    training = VectorsTraining(text, VectorsConfig(), threads=2)
    for step in training:
        print(step.progress, step.loss, step.words_per_second)
    vectors = training.vectors()

The vectors can be taken at any time. The same text, settings and seed give the same vectors for any number of threads,
unless the setting `fast` is on.
"""

import hashlib
import math
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.randomness import generator
from pellucid.storage.checkpoints import Checkpoint
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.rounds import Matrices, RoundResult, RoundRunner

__all__ = ["VectorsStep", "VectorsTraining"]

_SECONDS_PER_STEP = 0.5
_CHECKPOINT_VERSION = 2


@dataclass(frozen=True)
class VectorsStep:
    """A record of a training run.

    Attributes:
        step: number of the record, from 1.
        epoch: the current epoch, from 0.
        loss: mean loss per prediction since the last record, in nats; a prediction is a pair of centre and context for
            skip-gram, and a centre for CBOW. It is computed before the update.
        epoch_loss: mean loss of the whole epoch, in its last record; None otherwise, and for an epoch in which
            subsampling left nothing to predict.
        learning_rate: learning rate at the time of the record.
        words: words read so far, over all epochs, including subsampled ones.
        seconds: time since the start.
        words_per_second: since the last record.
        progress: share of the run that is done, 0 to 1.
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


@dataclass
class _Counters:
    """Progress of a training run.

    Attributes:
        epoch, round: indices of the next round and its epoch.
        words: words read so far.
        steps: number of records so far.
        loss, predictions: sums over the current epoch.
        seconds: training time so far.
    """

    epoch: int = 0
    round: int = 0
    words: int = 0
    steps: int = 0
    loss: float = 0.0
    predictions: int = 0
    seconds: float = 0.0


class VectorsTraining:
    """A training run in progress; iterate over it to train.

    Args:
        text: see `encode_text`.
        threads: number of threads; all cores by default. More threads than `workers` do not help.
        start: vectors to continue training from. Their words keep their rows, and those that are not in the text stay
            unchanged; new words of the text are added after them.

    Attributes:
        matched: number of the text's words that continue from `start`.
        losses: mean loss per prediction of each epoch so far, in nats; None for an epoch in which subsampling left
            nothing to predict.

    Raises:
        UserError: if there is nothing to learn from, or `start` does not fit the settings or is not finite.
    """

    def __init__(
        self,
        text: EncodedText,
        config: VectorsConfig,
        *,
        threads: int | None = None,
        start: KeyedVectors | None = None,
    ) -> None:
        if not (text.ids.lengths >= 2).any():
            raise UserError(
                "no sentence has two words of the vocabulary: there is no context to learn from",
                where="text",
                hint="Each line is a sentence of words separated by spaces. For a small text, lower min_count.",
            )
        if start is not None and start.dim != config.dim:
            raise UserError(
                f"the existing vectors have dimension {start.dim}, but dim = {config.dim}",
                where="dim",
                hint=f"Set dim = {start.dim} (`-d {start.dim}`).",
            )
        self.text = text
        self.config = config
        self.start = start
        self.losses: list[float | None] = []
        if start is not None:
            start.check_finite()
        self._runner = RoundRunner(text, config, threads or _available_cores())
        self.matched = self._init_vectors(self._runner.matrices)
        self._at = _Counters()
        self._consistent = True  # False while a round is running

    def compile(self) -> None:
        """Compile the kernels, or load them from the cache; the first run on a machine takes about twenty seconds."""
        self._runner.run(self._at.epoch, 0, 0, self._learning_rates)

    @property
    def threads(self) -> int:
        """Number of threads in use."""
        return self._runner.threads

    @property
    def progress(self) -> float:
        """Share of the run that is done."""
        return self._at.words / (len(self.text.ids.ids) * self.config.epochs)

    def __iter__(self) -> Iterator[VectorsStep]:
        """Train, and yield a record about twice a second and at the end of each epoch."""
        if not self._consistent:
            raise UserError(
                "the training was interrupted in the middle of a round",
                where="VectorsTraining",
                hint="Start over, or resume from a checkpoint; `vectors()` still returns the vectors as they are.",
            )
        rounds = 1
        self.compile()
        with self._runner.started() as runner:
            while self._at.epoch < self.config.epochs:
                clock = time.monotonic()
                last = min(runner.rounds, self._at.round + rounds)
                self._consistent = False
                result = runner.run(self._at.epoch, self._at.round, last, self._learning_rates)
                self._consistent = True
                seconds = max(time.monotonic() - clock, 1e-9)
                step = self._record(result, last, seconds)
                rounds = max(1, min(2 * rounds, round(rounds * _SECONDS_PER_STEP / seconds)))
                yield step

    def _record(self, result: RoundResult, last: int, seconds: float) -> VectorsStep:
        """Update the counters after the rounds before `last`, and make the record."""
        at = self._at
        epoch = at.epoch
        at.words += result.words
        at.steps += 1
        at.seconds += seconds
        at.loss += result.loss
        at.predictions += result.predictions
        at.round = last
        epoch_loss = None
        if last == self._runner.rounds:
            epoch_loss = at.loss / at.predictions if at.predictions else None
            self.losses.append(epoch_loss)
            at.epoch, at.round, at.loss, at.predictions = epoch + 1, 0, 0.0, 0
        loss = result.loss / max(result.predictions, 1)
        if not math.isfinite(loss) or not self._runner.matrices.finite():
            raise self._not_finite()
        return VectorsStep(
            step=at.steps,
            epoch=epoch,
            loss=loss,
            epoch_loss=epoch_loss,
            learning_rate=float(self._learning_rates(numpy.array(self.progress))),
            words=at.words,
            seconds=at.seconds,
            words_per_second=result.words / seconds,
            progress=self.progress,
        )

    def checkpoint(self) -> Checkpoint:
        """Make a checkpoint from which another process can continue exactly."""
        from torch import from_numpy

        inputs, outputs = self._runner.matrices.unpadded(self.config.dim)
        state = {
            "version": _CHECKPOINT_VERSION,
            "counters": asdict(self._at),
            "losses": self.losses,
            "identity": self._identity(),
        }
        return Checkpoint(self._at.steps, {"inputs": from_numpy(inputs), "outputs": from_numpy(outputs)}, {}, state)

    def resume_from(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint; the number of threads may differ.

        Raises:
            UserError: if the checkpoint belongs to another text, other settings or other existing vectors.
        """
        where = f"checkpoint of step {checkpoint.step}"
        if checkpoint.state.get("version") != _CHECKPOINT_VERSION:
            raise UserError(
                f"the checkpoint of step {checkpoint.step} was written by another version of Pellucid",
                where=where,
                hint="Start over with `--overwrite`.",
            )
        try:
            now, then = self._identity(), dict(checkpoint.state["identity"])
            if now != then:
                raise UserError(
                    f"the training was started with {_difference(then, now)}",
                    where=where,
                    hint="Resume with the same text and settings, or start over with `--overwrite`.",
                )
            matrices = [checkpoint.model[name].numpy() for name in ("inputs", "outputs")]
            counters = _Counters(
                **{field.name: checkpoint.state["counters"][field.name] for field in fields(_Counters)}
            )
            losses = [None if loss is None else float(loss) for loss in checkpoint.state["losses"]]
            if not (
                all(matrix.shape == (len(self.text.words), self.config.dim) for matrix in matrices)
                and 0 <= counters.epoch < self.config.epochs
                and 0 <= counters.round < self._runner.rounds
                and 0 <= counters.words <= len(self.text.ids.ids) * self.config.epochs
            ):
                raise ValueError("its numbers do not fit the text")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"the checkpoint of step {checkpoint.step} is damaged: {error}",
                where=where,
                hint="Start over with `--overwrite`.",
            ) from error
        for rows, matrix in zip(self._runner.matrices, matrices, strict=True):
            rows[:, : self.config.dim] = matrix
        self._at = counters
        self.losses = losses

    def _identity(self) -> dict[str, Any]:
        """Describe what must be the same when the training is resumed."""
        settings = self.config.model_dump(mode="json")
        if self.config.fast:  # each thread has its own share of the rounds
            settings["threads"] = self.threads
        return {
            "settings": settings,
            "text": self.text.fingerprint(),
            "start": None if self.start is None else _fingerprint(self.start),
        }

    def vectors(self) -> KeyedVectors:
        """Copy the vectors as they are now, the most frequent word first.

        Raises:
            UserError: if one of them contains NaN or infinity.
        """
        inputs, outputs_or_nodes = self._runner.matrices.unpadded(self.config.dim)
        if not (numpy.isfinite(inputs).all() and numpy.isfinite(outputs_or_nodes).all()):
            raise self._not_finite()
        # The rows of a tree's nodes belong to no word and are useless without the tree.
        outputs = None if self.config.objective == "hierarchical-softmax" else outputs_or_nodes
        words = list(self.text.words)
        counts: NDArray[numpy.int64] | None = self.text.counts
        if self.start is not None:
            words, inputs, outputs, counts = self._joined(inputs, outputs)
        metadata = {
            "training": self.config.model_dump(mode="json"),
            "words": int(self.text.counts.sum()),
            "words_read": self.text.words_read,
            "distinct_words": self.text.distinct,
            "sentences": len(self.text.ids),
            "losses": [None if loss is None else round(loss, 6) for loss in self.losses],
            "progress": self.progress,
        }
        return KeyedVectors(words, inputs, outputs, counts, metadata)

    def _learning_rates(self, progress: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        first, last = self.config.first_learning_rate, self.config.end_learning_rate
        return first + (last - first) * numpy.minimum(1.0, progress)

    def _not_finite(self) -> UserError:
        return UserError(
            "training diverged: the vectors became NaN or infinite",
            where="learning_rate",
            hint=f"Lower the learning rate from {self.config.first_learning_rate}.",
        )

    def _init_vectors(self, matrices: Matrices) -> int:
        """Initialise input vectors at random from −1/2d to 1/2d, as word2vec does, and output vectors with 0.

        Words that have a vector in `start` are initialised from it; return how many.
        """
        draw = generator(self.config.seed, "first vectors")
        dim = self.config.dim
        for begin in range(0, len(matrices.inputs), 1 << 14):
            block = matrices.inputs[begin : begin + (1 << 14), :dim]
            block[:] = (draw.random(block.shape, numpy.float32) - 0.5) / dim
        if self.start is None:
            return 0
        found = [self.start.vocabulary.find(word) for word in self.text.words]
        here = numpy.array([n for n, row in enumerate(found) if row is not None], numpy.int64)
        rows = numpy.array([row for row in found if row is not None], numpy.int64)
        matrices.inputs[here, :dim] = self.start.input_vectors[rows]
        if self.start.output_vectors is not None and self.config.objective != "hierarchical-softmax":
            matrices.outputs[here, :dim] = self.start.output_vectors[rows]
        return len(here)

    def _joined(
        self, inputs: NDArray[numpy.float32], outputs: NDArray[numpy.float32] | None
    ) -> tuple[list[str], NDArray[numpy.float32], NDArray[numpy.float32] | None, NDArray[numpy.int64] | None]:
        """Append the new words to the existing vectors, which keep their rows."""
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
    """Describe what differs."""
    before, after = then["settings"], now["settings"]
    other = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if other:
        return ", ".join(f"{name} = {before[name]}" if name in before else f"no {name}" for name in other)
    return "another text" if then["text"] != now["text"] else "other existing vectors (`--from`)"


def _fingerprint(vectors: KeyedVectors) -> str:
    content = hashlib.sha256(vectors.vocabulary.letters.tobytes())
    for matrix in (vectors.input_vectors, vectors.output_vectors):
        if matrix is not None:
            content.update(numpy.ascontiguousarray(matrix).data)
    return content.hexdigest()


def _available_cores() -> int:
    """Count the cores that this process may use, possibly fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
