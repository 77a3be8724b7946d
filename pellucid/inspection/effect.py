"""The effect of edits: the difference to the unedited run, in the output and in any recorded array."""

from dataclasses import dataclass, replace
from typing import Any

import numpy

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.look import Look
from pellucid.inspection.views.charts import Chart, bars
from pellucid.inspection.views.view import View, ViewTable

__all__ = ["Effect", "effect_view"]

_MOST_ARRAYS = 12  # named by the view
_MASKED = -1e30  # far below any score that a model computes


@dataclass(frozen=True, eq=False)
class Effect:
    """The effect of edits.

    Attributes:
        before: the unedited look.
        after: the edited look, over the same target.
        text_before: what the model writes by greedy search; None if it was not asked to.
    """

    before: Look
    after: Look
    text_before: str | None
    text_after: str | None

    def __getitem__(self, name: str) -> LabelledArray:
        """Compute after − before of a recorded array.

        Raises:
            UserError: if it was not recorded, or the two texts have different lengths.
        """
        before, after = self.before[name], self.after[name]
        if before.shape != after.shape:
            raise UserError(
                f"{name} is {list(before.shape)} before and {list(after.shape)} after: texts of different lengths",
                where=name,
                hint="Compare an array of the target, or edit to a text of the same number of tokens.",
            )
        return replace(after, values=after.values - before.values, meaning=f"after − before: {after.meaning}")

    @property
    def log_probs(self) -> LabelledArray:
        """Log-probability of each next token: before, after and difference, [figure next_tokens]; nats."""
        before, after = self.before.next_log_probs(), self.after.next_log_probs()
        axes = (Axis("figure", ("before", "after", "difference")), self.before.next_token_axis())
        values = numpy.stack([before, after, after - before])
        return LabelledArray("what_if.log_probs", values, axes, "nats", "log-probability of each next token")

    @property
    def change(self) -> float:
        """Change of the log-probability of the whole target, nats."""
        return float(self.log_probs.values[2].sum())

    def by_array(self) -> LabelledArray:
        """Compute the relative change of each array, |after − before| / |before|, [name]; largest first.

        Arrays whose shape changed and the scores of masked tokens are left out.
        """
        changes = {}
        for name, before in self.before.arrays.items():
            after = self.after.arrays[name]
            if before.values.size and after.shape == before.shape:
                unmasked = after.values > _MASKED
                change = numpy.linalg.norm((after.values - before.values)[unmasked].astype(numpy.float64))
                changes[name] = float(change / max(float(numpy.linalg.norm(before.values)), 1e-12))
        names = sorted(changes, key=lambda name: -changes[name])
        values = numpy.array([changes[name] for name in names])
        return LabelledArray("what_if.by_array", values, (Axis("name", tuple(names)),), "share", "relative change")

    def chart(self) -> Chart:
        """Draw the change of each next token's log-probability."""
        return bars(self.log_probs.at(figure="difference"))

    def as_dict(self) -> dict[str, Any]:
        """Convert the effect on the output to JSON types."""
        return {
            "edits": list(self.after.edits),
            "text_before": self.text_before,
            "text_after": self.text_after,
            "change": self.change,
            "log_probs": self.log_probs.as_dict(),
        }


def effect_view(effect: Effect) -> View:
    """Draw the change of each next token's log-probability, and name the arrays that changed most."""
    log_probs = effect.log_probs
    difference = log_probs.at(figure="difference")
    labels = log_probs.labels("next_tokens")
    # A token may occur twice: each gets its own bar.
    axis = Axis("next_tokens", tuple(f"{i} {label}" for i, label in enumerate(labels)))
    meaning = "change of each next token's log-probability"
    changes = LabelledArray("what_if.difference", difference.values, (axis,), "nats", meaning)
    by_array = effect.by_array()
    table = ViewTable(
        ["token", "before", "after", "difference"],
        [[label, *map(float, column)] for label, column in zip(labels, log_probs.values.T, strict=True)],
    )
    largest = by_array[:_MOST_ARRAYS]
    changed = zip(largest.labels("name"), largest.values.tolist(), strict=True)
    listed = ", ".join(f"{name} {change:.0%}" for name, change in changed if change > 0)
    reading = (
        f"{'; '.join(effect.after.edits)}: log-probability of the target {effect.change:+.3f} nats. "
        f"Largest relative changes |after − before| / |before|: {listed or 'none'}."
    )
    arrays = (log_probs, by_array)
    return View(reading, arrays, lambda: bars(changes), table, "what-if", "Effect of the edits on each token")
