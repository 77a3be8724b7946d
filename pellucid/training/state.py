"""Records of a run: its steps, its validations, and the counters that a checkpoint needs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

__all__ = ["Step", "TrainingState", "Validation"]


@dataclass(frozen=True)
class Validation:
    """How well a model does on held-out text.

    Attributes:
        loss: of the averaged weights if there are any, else of the last; nats per target token, end tokens included.
        is_best: whether no earlier validation of this run had a lower loss.
        bleu, chrf: of a translator's greedy translations of the first validation sentences; None without any.
        exact: share of these translations that are the same as the reference.
        bits_per_byte: of a language model on the validation text; None for a translator.
        sample: texts to read, by name: source, translation and reference of a translator; prompt and continuation of a
            language model. None without any.
    """

    loss: float
    is_best: bool
    bleu: float | None = None
    chrf: float | None = None
    exact: float | None = None
    bits_per_byte: float | None = None
    sample: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Step:
    """One optimizer step.

    Attributes:
        step: its number, from 1.
        epoch: epochs completed before it.
        loss: cross-entropy of its target tokens before the update, without smoothing; nats per token.
        guided_loss: cross-entropy of the guided heads against the aligner's posteriors; nats per token, 0 without
            guidance.
        learning_rate: of the update.
        gradient_norm: before clipping.
        tokens: target tokens so far, over all steps.
        padding: share of its positions that hold padding.
        seconds: spent on the run so far, preparation included.
        tokens_per_second: target tokens per second of this step.
        progress: share of the run that has passed, preparation included, from 0 to 1.
        validation: if the model was validated after the step.
        checkpoint: whether a checkpoint was written after the step.
    """

    step: int
    epoch: int
    loss: float
    guided_loss: float
    learning_rate: float
    gradient_norm: float
    tokens: int
    padding: float
    seconds: float
    tokens_per_second: float
    progress: float
    validation: Validation | None = None
    checkpoint: bool = False


@dataclass(frozen=True)
class TrainingState:
    """Every counter of a run; with weights, optimizer and average, all that a checkpoint needs.

    Attributes:
        step: steps done.
        epoch, position: the next batch is number `position` in the plan of `epoch`.
        tokens: target tokens so far.
        seconds: time spent so far: up to the last update, or, in a checkpoint, up to when it was written.
        prepared: seconds spent before the first step.
        validations: done so far.
        validation_seconds, last_validation_seconds: spent on all of them, and on the last.
        exact: share of exact translations at the last validation of a translator.
        best_loss, best_step: of the best validation; None and 0 before the first.
        since_best: validations since the best.
        logged_loss, logged_steps, logged_seconds, logged_tokens: sums since the last line of metrics, so that the next
            line is the same after a resume.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    tokens: int = 0
    seconds: float = 0.0
    prepared: float = 0.0
    validations: int = 0
    validation_seconds: float = 0.0
    last_validation_seconds: float = 0.0
    exact: float | None = None
    best_loss: float | None = None
    best_step: int = 0
    since_best: int = 0
    logged_loss: float = 0.0
    logged_steps: int = 0
    logged_seconds: float = 0.0
    logged_tokens: int = 0

    def after_validation(self, loss: float) -> Self:
        """Count a validation."""
        if self.best_loss is None or loss < self.best_loss:
            return replace(self, validations=self.validations + 1, best_loss=loss, best_step=self.step, since_best=0)
        return replace(self, validations=self.validations + 1, since_best=self.since_best + 1)
