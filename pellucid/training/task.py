"""What a run asks of what it trains: batches in a fixed order, a loss to make small, and a measure on held-out text."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Batch", "BatchLoss", "Metrics", "Task"]


class Batch(Protocol):
    """What passes through the model at once."""

    @property
    def target_tokens(self) -> int:
        """Tokens that are predicted."""

    @property
    def tokens(self) -> int:
        """Tokens without padding."""

    @property
    def padded_size(self) -> int:
        """Positions, padding included."""


AnyBatch = TypeVar("AnyBatch", bound=Batch)


class BatchLoss(NamedTuple):
    """The loss of a batch, in nats, summed over its target tokens.

    Attributes:
        minimised: has a gradient.
        plain: cross-entropy alone, without smoothing.
        guided: how far guided attention heads are from an aligner's posteriors; 0 without guidance.
    """

    loss: Tensor
    nll: float
    guided: float = 0.0


class Metrics(NamedTuple):
    """What is measured on held-out text beside the loss; None where it is not measured.

    Attributes:
        bleu, chrf: of a translator's greedy translations.
        bits_per_byte: of a language model.
        sample: texts by what they are, to look at.
    """

    bleu: float | None = None
    chrf: float | None = None
    bits_per_byte: float | None = None
    sample: Mapping[str, str] | None = None


class Task(Protocol[AnyBatch]):
    """What a model learns from and how it is measured. The order of the data is a pure function of (seed, epoch)."""

    def plan(self, batch_tokens: int, epoch: int) -> list[NDArray[numpy.int64]]:
        """Return the batches of an epoch, each as the numbers of what is in it."""

    def batches(self, items: NDArray[numpy.int64], epoch: int, micro_batch_tokens: int) -> Sequence[AnyBatch]:
        """Return these items in as few parts as keep each within `micro_batch_tokens`."""

    def loss(self, batch: AnyBatch, progress: float) -> BatchLoss:
        """Return the loss of a batch when this share of the run has passed."""

    def validation_loss(self) -> float | None:
        """Return the loss of held-out text by the weights as they are, nats a token; None if none is held out."""

    def measure(self, loss: float, validations: int) -> Metrics:
        """Measure what else there is to measure by the weights as they are.

        Args:
            loss: what `validation_loss` gave.
            validations: made so far in this run; samples take turns by it.
        """
