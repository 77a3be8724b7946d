"""Does a look show what the model does? Every promise of the numbers, measured.

A look that fails is a mistake of Pellucid's own: `look.check()` then raises, and says which promise, by how much.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.inspection.attention import position_bias, rotated, softmax_of_scores
from pellucid.inspection.lens import layer_logits
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.recording import run_model, to_array
from pellucid.inspection.residual_decomposition import decompose_residual
from pellucid.inspection.score_decomposition import decompose_scores
from pellucid.inspection.stepwise import cached_logits
from pellucid.inspection.structure import attentions, stacks

__all__ = ["InexactError", "SanityCheck", "raise_if_broken", "verify"]

# Largest error relative to the largest number (at least 1): float32 rounds to 6e-8 of a number, bfloat16 to 4e-3, and
# both pile up over sums of a few hundred terms in another order.
BOUNDS = {"float64": 1e-9, "float32": 1e-4}
_NARROW = 0.1


class InexactError(ArithmeticError):
    """A number of a look is not what the model used, or parts do not add up to their whole."""


class SanityCheck(NamedTuple):
    """A promise and how exactly it is kept.

    Attributes:
        name: what was compared.
        error: the largest difference, relative to the largest number compared (at least 1); None if it could not be
            checked because a number was not recorded, or because the look was edited.
        bound: the most that rounding may make of it.
    """

    name: str
    error: float | None
    bound: float

    @property
    def kept(self) -> bool:
        """Whether it is kept, or could not be checked."""
        return self.error is None or self.error <= self.bound


def verify(look: RecordedRun) -> list[SanityCheck]:
    """Measure every promise of a look.

    Raises:
        InexactError: if one is broken.
        UserError: if the model's own weights are no numbers, so that nothing could be compared.
    """
    for name, weight in look.model.named_parameters():
        if not bool(weight.isfinite().all()):
            raise UserError(
                f"{name} of the model holds what is no finite number, so nothing it computes can be checked",
                where="look",
                hint="Its training diverged or its file is damaged: take an earlier checkpoint, or train again.",
            )
    bound = BOUNDS.get(look.inspected.precision, _NARROW)
    found: dict[str, list[float | None]] = {}
    for name, measure in _promises(look):
        try:
            error = measure()
        except UserError:  # a number that it needs was not recorded, or it is not defined here
            error = None
        found.setdefault(name, []).append(error)
    return raise_if_broken([SanityCheck(name, _largest(errors), bound) for name, errors in found.items()])


def raise_if_broken(checks: list[SanityCheck]) -> list[SanityCheck]:
    """Return checks that are kept.

    Raises:
        InexactError: if one is broken.
    """
    if broken := [check for check in checks if not check.kept]:
        said = "; ".join(
            f"{check.name}: off by {check.error:.2g}, at most {check.bound:.0e} is rounding" for check in broken
        )
        raise InexactError(f"this look is wrong, which is a mistake in Pellucid: {said}")
    return checks


def _promises(look: RecordedRun) -> Iterator[tuple[str, Callable[[], float]]]:
    for attention in attentions(look.model):
        yield "rows of weights sum to 1", partial(_rows_sum, look, attention.name)
        yield "scores are q · k / √d_head and the bias", partial(_scores, look, attention.name)
        yield "weights are the softmax of the scores that may look", partial(_softmax, look, attention.name)
        yield "mixes are weights · values", partial(_head_output, look, attention.name)
        yield "parts of a score add up to it", partial(_score_parts, look, attention.name)
    for stack in stacks(look.model):
        yield "parts of the stream add up to it", partial(_contributions, look, stack.name)
    yield "the lens of the last layer is the output", partial(_lens, look)
    if not look.edits:
        yield "explicit = fast path", partial(_untapped, look)
        yield "cached = uncached", partial(_cached, look)


def _largest(errors: list[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    # Not max(): it would pass over NaN, which is the worst error of all.
    return float(numpy.max(known)) if known else None


def _apart(a: Tensor, b: Tensor) -> float:
    if not a.numel():
        return 0.0
    return float((a - b).abs().max() / max(1.0, float(b.abs().max())))


def _rows_sum(look: RecordedRun, name: str) -> float:
    sums = look.tensor(f"{name}.weights").sum(-1)
    allowed = torch.from_numpy(look.mask(name)).any(-1)
    return _apart(sums, allowed.double().expand_as(sums)) if not look.edits else _apart(sums, sums.round())


def _scores(look: RecordedRun, name: str) -> float:
    q, k = rotated(look, name, "query"), rotated(look, name, "key")
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if (bias := position_bias(look, look.attention(name))) is not None:
        scores = scores + bias
    _not_edited(look)
    recorded = look.tensor(f"{name}.scores")
    # Step by step a query has no scores for keys to come: NaN there, and there only, is as it should be.
    absent = recorded.isnan() & ~torch.from_numpy(look.mask(name))
    return _apart(scores.masked_fill(absent, 0.0), recorded.masked_fill(absent, 0.0))


def _softmax(look: RecordedRun, name: str) -> float:
    _not_edited(look)
    return _apart(softmax_of_scores(look, name), look.tensor(f"{name}.weights"))


def _head_output(look: RecordedRun, name: str) -> float:
    _not_edited(look)
    weights, value = look.tensor(f"{name}.weights"), look.tensor(f"{name}.value")
    value = value.repeat_interleave(len(weights) // len(value), dim=0)
    return _apart(weights @ value, look.tensor(f"{name}.head_output"))


def _score_parts(look: RecordedRun, name: str) -> float:
    _not_edited(look)
    parts = decompose_scores(look, name)
    return parts.error / max(1.0, float(numpy.abs(parts.scores.values).max(initial=0)))


def _contributions(look: RecordedRun, stack: str) -> float:
    _not_edited(look)
    given = decompose_residual(look, stack)
    return given.error / max(1.0, float(numpy.abs(given.stream.values).max(initial=0)))


def _lens(look: RecordedRun) -> float:
    _not_edited(look)
    layers = len(look.stack("decoder").blocks)
    return _apart(layer_logits(look, layers).double(), look.tensor("logits"))


def _untapped(look: RecordedRun) -> float:
    logits = look.tensor("logits")
    plain = run_model(look.model, look.input)
    assert plain is not None
    return _apart(torch.from_numpy(to_array(plain))[0].double(), logits)


def _cached(look: RecordedRun) -> float:
    logits = look.tensor("logits")
    return _apart(torch.from_numpy(cached_logits(look.model, look.input)).double(), logits)


def _not_edited(look: RecordedRun) -> None:
    """Leave out what an edit is meant to break."""
    if look.edits:
        raise UserError(
            "the look was edited",
            where="look",
            hint="Check the look without edits.",
        )
