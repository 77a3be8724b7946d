"""Verify that a look shows what the model computes: every invariant of the numbers, measured.

A look that fails is a bug in Pellucid: `look.check()` raises an error that says which invariant fails, and by how much.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.generation.text_model import TextModel
from pellucid.inspection.attention import position_bias, rotated, softmax_of_scores
from pellucid.inspection.lens import layer_logits
from pellucid.inspection.recording import RecordedRun, padded_ids, to_array
from pellucid.inspection.residual_decomposition import decompose_residual
from pellucid.inspection.score_decomposition import decompose_scores
from pellucid.inspection.stepwise import cached_logits
from pellucid.inspection.structure import attentions, stacks

__all__ = ["DecoderDifference", "InexactError", "SanityCheck", "decoder_difference", "raise_if_broken", "verify"]

# Largest error relative to the largest number (at least 1): float32 rounds to 6e-8 of a number, bfloat16 to 4e-3, and
# both add up over sums of a few hundred terms in another order.
BOUNDS = {"float64": 1e-9, "float32": 1e-4}
_HALF_PRECISION_BOUND = 0.1
_ROWS_SUM = "rows of weights sum to 1"


class InexactError(ArithmeticError):
    """A number of a look is not what the model used, or the parts of a decomposition do not add up."""


class SanityCheck(NamedTuple):
    """An invariant and its measured error.

    Attributes:
        name: what was compared.
        error: the largest difference, relative to the largest number compared (at least 1); None if an array that it
            needs was not recorded, or the look was edited.
        bound: the largest error that rounding can explain.
    """

    name: str
    error: float | None
    bound: float

    @property
    def passed(self) -> bool:
        """Whether it holds, or could not be checked."""
        return self.error is None or self.error <= self.bound


class DecoderDifference(NamedTuple):
    """The difference between the decoder that generates and the network that a look shows.

    Attributes:
        largest: difference of a logit, nats.
        same_choice: share of positions where both find the same token most probable.
    """

    largest: float
    same_choice: float


def verify(look: RecordedRun) -> list[SanityCheck]:
    """Measure every invariant of a look.

    Raises:
        InexactError: if one does not hold.
        UserError: if the model's weights are not finite, so that nothing can be compared.
    """
    for name, weight in look.model.named_parameters():
        if not bool(weight.isfinite().all()):
            raise UserError(
                f"{name} of the model has values that are not finite, so nothing it computes can be checked",
                where="look",
                hint="Its training diverged or its file is damaged: take an earlier checkpoint, or train again.",
            )
    bound = BOUNDS.get(look.inspected.precision, _HALF_PRECISION_BOUND)
    errors: dict[str, list[float | None]] = {}
    for name, measure in _invariants(look):
        try:
            error = None if look.edits and name != _ROWS_SUM else measure()  # an edit is meant to break the others
        except UserError:  # an array that it needs was not recorded, or the invariant is not defined for this model
            error = None
        errors.setdefault(name, []).append(error)
    return raise_if_broken([SanityCheck(name, _largest(found), bound) for name, found in errors.items()])


def raise_if_broken(checks: list[SanityCheck]) -> list[SanityCheck]:
    """Return the checks if all of them passed.

    Raises:
        InexactError: if one did not.
    """
    if broken := [check for check in checks if not check.passed]:
        found = "; ".join(
            f"{check.name}: off by {check.error:.2g}, rounding explains at most {check.bound:.0e}" for check in broken
        )
        raise InexactError(f"this look is wrong, which is a bug in Pellucid: {found}")
    return checks


def decoder_difference(model: TextModel, look: RecordedRun) -> DecoderDifference:
    """Compare the logits of a look with those of the decoder that generates, token by token in its own precision."""
    decoder = model.new_decoder()
    first, *others = look.encoded.target
    rows = [decoder.prefill([[first]])[0].copy(), *(decoder.step([token])[0].copy() for token in others)]
    shown = look.require("logits")[0].values
    generated = numpy.stack(rows)[:, : shown.shape[1]]
    same = float((generated.argmax(-1) == shown.argmax(-1)).mean())
    return DecoderDifference(float(numpy.abs(generated - shown).max()), same)


def _invariants(look: RecordedRun) -> Iterator[tuple[str, Callable[[], float]]]:
    for site in attentions(look.model):
        yield _ROWS_SUM, partial(_rows_sum, look, site.name)
        yield "scores are q · k / √d_head plus the bias", partial(_scores, look, site.name)
        yield "weights are the softmax of the unmasked scores", partial(_softmax, look, site.name)
        yield "head outputs are weights · values", partial(_head_output, look, site.name)
        yield "parts of a score add up to it", partial(_score_parts, look, site.name)
    for stack in stacks(look.model):
        yield "parts of the residual stream add up to it", partial(_residual_parts, look, stack.name)
    yield "the lens of the last layer is the output", partial(_lens, look)
    if not look.edits:
        yield "explicit = fast path", partial(_untapped, look)
        yield "cached = uncached", partial(_cached, look)


def _largest(errors: list[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    # Not max(), which may pass over NaN, the worst error of all.
    return float(numpy.max(known)) if known else None


def _relative_error(a: Tensor, b: Tensor) -> float:
    if not a.numel():
        return 0.0
    return float((a - b).abs().max() / max(1.0, float(b.abs().max())))


def _rows_sum(look: RecordedRun, name: str) -> float:
    sums = look.tensor(f"{name}.weights").sum(-1)
    if look.edits:
        return _relative_error(sums, sums.round())
    return _relative_error(sums, torch.from_numpy(look.mask(name)).any(-1).double().expand_as(sums))


def _scores(look: RecordedRun, name: str) -> float:
    q, k = rotated(look, name, "query"), rotated(look, name, "key")
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if (bias := position_bias(look, look.attention(name))) is not None:
        scores = scores + bias
    recorded = look.tensor(f"{name}.scores")
    # Step by step, a query has no scores for later keys: NaN is correct there, and only there.
    absent = recorded.isnan() & ~torch.from_numpy(look.mask(name))
    return _relative_error(scores.masked_fill(absent, 0.0), recorded.masked_fill(absent, 0.0))


def _softmax(look: RecordedRun, name: str) -> float:
    return _relative_error(softmax_of_scores(look, name), look.tensor(f"{name}.weights"))


def _head_output(look: RecordedRun, name: str) -> float:
    weights, value = look.tensor(f"{name}.weights"), look.tensor(f"{name}.value")
    value = value.repeat_interleave(len(weights) // len(value), dim=0)
    return _relative_error(weights @ value, look.tensor(f"{name}.head_output"))


def _score_parts(look: RecordedRun, name: str) -> float:
    found = decompose_scores(look, name)
    return found.error / max(1.0, float(numpy.abs(found.scores.values).max(initial=0)))


def _residual_parts(look: RecordedRun, stack: str) -> float:
    found = decompose_residual(look, stack)
    return found.error / max(1.0, float(numpy.abs(found.stream.values).max(initial=0)))


def _lens(look: RecordedRun) -> float:
    last = layer_logits(look, len(look.stack("decoder").blocks))
    return _relative_error(last.double(), look.tensor("logits"))


def _untapped(look: RecordedRun) -> float:
    logits = look.tensor("logits")
    with torch.inference_mode():
        fast = look.model(*padded_ids(look.model, [look.encoded]))
    return _relative_error(torch.from_numpy(to_array(fast))[0].double(), logits)


def _cached(look: RecordedRun) -> float:
    logits = look.tensor("logits")
    return _relative_error(torch.from_numpy(cached_logits(look.model, look.encoded)).double(), logits)
