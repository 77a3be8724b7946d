"""A view of what an edit did."""

from pellucid.inspection.effect import Effect
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.views.charts import bars
from pellucid.inspection.views.view import View, ViewTable

__all__ = ["edit_view"]

_MOST_PARTS = 12


def edit_view(effect: Effect) -> View:
    """Return the change of each target token's log-probability, and which numbers of the run changed most."""
    log_probs = effect.log_probs
    difference = log_probs.at(figure="difference")
    places = log_probs.axes[1].labels
    # A token may stand twice: a bar each.
    numbered = Axis("next_tokens", tuple(f"{i} {label}" for i, label in enumerate(places)))
    bar = LabelledArray(
        "what_if.difference", difference.values, (numbered,), "nats", "change of each target token's log-probability"
    )
    parts = effect.by_part()
    most = parts[:_MOST_PARTS]
    table = ViewTable(
        ["token", "before", "after", "difference"],
        [[label, *map(float, column)] for label, column in zip(places, log_probs.values.T, strict=True)],
    )
    by_name = dict(zip(most.labels("name"), most.values.tolist(), strict=True))
    changed = ", ".join(f"{name} {value:.0%}" for name, value in by_name.items() if value > 0)
    reading = (
        f"{'; '.join(effect.after.edits)}: log-probability of the target {effect.change:+.3f} nats. "
        f"Changed most, |after − before| / |before|: {changed or 'nothing'}."
    )
    return View("what-if", "What the change does to each token", reading, (log_probs, parts), lambda: bars(bar), table)
