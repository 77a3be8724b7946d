"""Run a model once, record the tensors that were asked for, and replace those that are edited."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.free_memory import free_bytes
from pellucid.inspection.labelled_array import Array
from pellucid.inspection.taps import select_taps
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["Edit", "ModelInput", "editing_tap", "pad_batch", "record", "run_model", "to_array"]

Edit = Callable[[str, Tensor], Tensor]
"""A tap that changes a tensor: given its full name and the tensor, returns what replaces it."""

MEMORY_SHARE = 0.7  # of the free memory, for one recording


class ModelInput(NamedTuple):
    """Ids that a model reads.

    Attributes:
        source: of each text, the end token last; empty for a language model.
        target: of each text as the decoder reads it, the start token first.
    """

    source: Sequence[Sequence[int]]
    target: Sequence[Sequence[int]]


def record(
    model: nn.Module, given: ModelInput, what: Sequence[str] | None = None, edits: Mapping[str, Edit] | None = None
) -> dict[str, Array]:
    """Run a model once, all positions at a time, and return the selected tensors by full name.

    Args:
        model: in evaluation mode.
        given: ids; shorter rows are padded at their end.
        what: names or patterns of taps; None records all of them.
        edits: tensors to replace, by full name; the recording holds the replacement.

    Returns:
        Arrays with a batch axis where the model has one; float32 unless the model's precision is higher.

    Raises:
        UserError: for a name that no tap has, or if the arrays do not fit into free memory.
    """
    names = select_taps(model, what)
    edits = edits or {}
    arrays: dict[str, Array] = {}
    available = MEMORY_SHARE * free_bytes(torch.device("cpu"))
    used = 0

    def tap(name: str, x: Tensor) -> Tensor:
        nonlocal used
        if name in edits:
            x = edits[name](name, x)
        if name in names:
            used += x.numel() * 4
            if used > available:
                raise UserError(
                    f"the recording does not fit into memory: it needs more than {used / 1e9:.1f} GB of the "
                    f"{available / 1e9:.1f} GB available",
                    where=name,
                    hint='Record fewer taps: what=["*.cross_attention.weights"]; docs/taps.md lists the names.',
                )
            arrays[name] = to_array(x)
        return x

    run_model(model, given, SelectiveTap(names | edits.keys(), tap), with_logits="logits" in names or "logits" in edits)
    return arrays


@torch.inference_mode()
def run_model(model: nn.Module, given: ModelInput, tap: Tap = keep, *, with_logits: bool = True) -> Tensor | None:
    """Run a model on ids, all positions at a time; returns its logits if wanted, [batch target vocab_size]."""
    target = pad_batch(model, given.target)
    if isinstance(model, EncoderDecoder):
        states = model.decode(target, model.encode(pad_batch(model, given.source), tap), tap)
    else:
        states = cast(DecoderOnly, model).states(target, tap)
    return cast(EncoderDecoder | DecoderOnly, model).logits(states, tap) if with_logits else None


def editing_tap(edits: Mapping[str, Edit]) -> Tap:
    """Build a tap that applies edits and leaves everything else unchanged; `keep` if there are none."""
    return SelectiveTap(edits, lambda name, x: edits[name](name, x)) if edits else keep


def to_array(x: Tensor) -> Array:
    """Copy a tensor to NumPy; float16 and bfloat16 are widened to float32, which changes no value."""
    x = x.detach()
    array: Array = (x if x.dtype == torch.float64 else x.float()).cpu().numpy()
    return array


def pad_batch(model: nn.Module, rows: Sequence[Sequence[int]]) -> Tensor:
    """Stack rows of ids on the model's device, the shorter ones padded at their end."""
    pad_id = max(0, cast(int, model.pad_id))
    batch = numpy.full((len(rows), max(map(len, rows))), pad_id, dtype=numpy.int64)
    for padded, row in zip(batch, rows, strict=True):
        padded[: len(row)] = row
    return torch.from_numpy(batch).to(next(model.parameters()).device)
