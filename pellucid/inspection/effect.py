"""What an edit did: the difference to the plain run, in outputs and in any number."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy
import torch

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.look import Look

if TYPE_CHECKING:
    from pellucid.inspection.views.charts import Chart

__all__ = ["Effect"]

_MASKED = -1e30  # no score of a model is as low


@dataclass(frozen=True, eq=False)
class Effect:
    """What an edit did.

    Attributes:
        before: the plain look.
        after: the edited one, over the same target.
        text_before: what the model writes by itself, the most probable token each time; None if it was not asked.
        text_after: the same under the edit.
    """

    before: Look
    after: Look
    text_before: str | None
    text_after: str | None

    def __getitem__(self, name: str) -> LabelledArray:
        """Return after − before of any recorded number.

        Raises:
            UserError: if it was not recorded, or the two runs have different lengths.
        """
        ours, theirs = self.before[name], self.after[name]
        if ours.shape != theirs.shape:
            raise UserError(
                f"{name} is {list(ours.shape)} before and {list(theirs.shape)} after: the texts have different lengths",
                where=name,
                hint="Compare texts with equal numbers of tokens.",
            )
        return replace(theirs, values=theirs.values - ours.values, meaning=f"after − before: {theirs.meaning}")

    @property
    def log_probs(self) -> LabelledArray:
        """Log-probability of each token of the target: before, after, difference, [figure following]; nats."""
        before, after = (_log_probs(look) for look in (self.before, self.after))
        axes = (Axis("figure", ("before", "after", "difference")), self._following())
        values = numpy.stack([before, after, after - before])
        return LabelledArray("what_if.log_probs", values, axes, "nats", "log-probability of the target's tokens")

    @property
    def change(self) -> float:
        """What the edit did to the log-probability of the whole target, nats."""
        return float(self.log_probs.values[2].sum())

    def by_part(self) -> LabelledArray:
        """Return how much each number of equal shape changed, |after − before| / |before|, [name]; most first.

        Scores of a masked token, which are the lowest number there is, are left out.
        """
        found = {}
        for name, array in self.before.arrays.items():
            after = self.after.arrays[name]
            if array.values.size and after.shape == array.shape:
                is_score = after.values > _MASKED
                changed = numpy.linalg.norm((after.values - array.values)[is_score].astype(numpy.float64))
                found[name] = float(changed / max(float(numpy.linalg.norm(array.values)), 1e-12))
        names = sorted(found, key=lambda name: -found[name])
        values = numpy.array([found[name] for name in names])
        return LabelledArray("what_if.by_part", values, (Axis("name", tuple(names)),), "share", "relative change")

    def chart(self) -> "Chart":
        """Draw what the edit did to the log-probability of each token of the target."""
        from pellucid.inspection.views.charts import bars

        return bars(self.log_probs.at(figure="difference"))

    def as_dict(self) -> dict[str, Any]:
        """Return the effect on the outputs as JSON has it."""
        return {
            "edits": list(self.after.edits),
            "text_before": self.text_before,
            "text_after": self.text_after,
            "change": self.change,
            "log_probs": self.log_probs.as_dict(),
        }

    def _following(self) -> Axis:
        return Axis("next_tokens", tuple(token.display for token in self.before.next_tokens))


def _log_probs(look: Look) -> Array:
    log_probs = torch.from_numpy(look.logits.values).double().log_softmax(-1)
    ids = torch.tensor(look.encoded.next_tokens, dtype=torch.int64)
    found: Array = log_probs[: len(ids)].gather(-1, ids[:, None])[:, 0].numpy()
    return found
