"""What the training loop needs of a kind of model: batches in a fixed order, a loss, and validation."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Batch", "BatchLoss", "Metrics", "Task"]


class Batch(Protocol):
    """What goes through the model in one forward pass."""

    @property
    def target_tokens(self) -> int:
        """Tokens to predict."""

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
        loss: what is minimised, with a gradient.
        nll: cross-entropy alone, without smoothing.
        guided: cross-entropy of the guided heads against the aligner's posteriors; 0 without guidance.
    """

    loss: Tensor
    nll: float
    guided: float = 0.0


class Metrics(NamedTuple):
    """Metrics of held-out text besides the loss; None where one does not apply.

    Attributes:
        bleu, chrf: of a translator's greedy translations.
        exact: share of these that are the same as the reference.
        bits_per_byte: of a language model.
        sample: texts to read, by name.
    """

    bleu: float | None = None
    chrf: float | None = None
    exact: float | None = None
    bits_per_byte: float | None = None
    sample: Mapping[str, str] | None = None


class Task(Protocol[AnyBatch]):
    """What a model learns from and how it is validated. The order of the data is a pure function of (seed, epoch)."""

    def plan(self, batch_tokens: int, epoch: int) -> list[NDArray[numpy.int64]]:
        """Plan the batches of an epoch, each as the indices of its items."""

    def batches(self, items: NDArray[numpy.int64], epoch: int, micro_batch_tokens: int) -> Sequence[AnyBatch]:
        """Load a planned batch, split into the fewest parts of at most `micro_batch_tokens` each."""

    def loss(self, batch: AnyBatch, progress: float) -> BatchLoss:
        """Compute the loss of a batch; `progress` is the share of the schedule that has passed."""

    def validation_loss(self) -> float | None:
        """Compute the loss of held-out text with the current weights, nats per token; None if there is none."""

    def measure(self, loss: float, validations: int) -> Metrics:
        """Compute the other metrics with the current weights.

        Args:
            validations: number of validations so far in this run; it selects the sample.
        """
