"""The view of what edits do."""

from pellucid.inspection.effect import Effect
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.views.charts import bars
from pellucid.inspection.views.view import View, ViewTable

__all__ = ["effect_view"]

_MOST_ARRAYS = 12


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
