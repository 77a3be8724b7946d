"""What a run knows of itself at a step: its records, and all that is needed to go on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

__all__ = ["Step", "TrainingState", "Validation"]


@dataclass(frozen=True)
class Validation:
    """How well the model does on held-out text.

    Attributes:
        loss: of the averaged weights if there are any, else of the last ones; nats a target token, end tokens included.
        is_best: whether no earlier validation of this run had a lower loss.
        bleu: a translator's, of greedy translations of the first validation sentences; None if none were translated.
        chrf: likewise.
        bits_per_byte: a language model's, of the validation text; None if it is none.
        sample: texts to look at, by what they are: of a translator source, now and reference; of a language model
            prompt and continuation. None if none were made.
    """

    loss: float
    is_best: bool
    bleu: float | None = None
    chrf: float | None = None
    bits_per_byte: float | None = None
    sample: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Step:
    """One update of the weights.

    Attributes:
        step: which, counted from 1.
        epoch: passes through the text completed before it.
        loss: cross-entropy of this update's target tokens before it, without smoothing, nats a token.
        guided_loss: how far the guided heads are from the aligner's posteriors, nats a token; 0 without guidance.
        learning_rate: that it was made with.
        gradient_norm: before clipping.
        tokens: target tokens so far, all updates together.
        padding: share of this update's positions that hold padding.
        seconds: of the run so far, preparation included.
        tokens_per_second: target tokens a second of this update.
        progress: share of the run that has passed, preparation included, 0 to 1.
        validation: if the model was validated after it.
        checkpoint: whether one was written after it.
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
    """Every counter of a run; with weights, optimizer and average it is all a checkpoint needs.

    Attributes:
        step: updates made.
        epoch, position: the next batch is number `position` of the plan of `epoch`.
        tokens: target tokens so far.
        seconds: of work so far; in a checkpoint until it was written, in a step until its update was made.
        prepared: seconds of work before the first update.
        validations: made so far.
        best_loss, best_step: of the best validation; None and 0 before the first.
        since_best: validations since then.
        logged_loss, logged_steps, logged_seconds, logged_tokens: sums since the last line of metrics, so that the next
            is the same after a resume.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    tokens: int = 0
    seconds: float = 0.0
    prepared: float = 0.0
    validations: int = 0
    best_loss: float | None = None
    best_step: int = 0
    since_best: int = 0
    logged_loss: float = 0.0
    logged_steps: int = 0
    logged_seconds: float = 0.0
    logged_tokens: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it for state.json."""
        return asdict(self)

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """Read it from state.json."""
        return cls(**state)

    def after_validation(self, loss: float) -> Self:
        """Return the state with one validation more."""
        if self.best_loss is None or loss < self.best_loss:
            return replace(self, validations=self.validations + 1, best_loss=loss, best_step=self.step, since_best=0)
        return replace(self, validations=self.validations + 1, since_best=self.since_best + 1)
