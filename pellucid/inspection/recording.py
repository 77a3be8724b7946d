"""A run of a model in which every number that was asked for is written down, and any may be changed."""

import inspect
import linecache
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple, cast

import numpy
import torch
from torch import Tensor, nn

import pellucid
from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Array
from pellucid.inspection.tap_table import chosen_names
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.memory import free_bytes

__all__ = ["Edit", "ModelInput", "Recording", "editing_tap", "filled", "record", "run_model", "to_array"]

Edit = Callable[[str, Tensor], Tensor]
"""Given a tap's full name and what is there, returns what shall be there: the tap itself, used to change."""

SHARE = 0.7  # of the free memory that a recording may take
_PACKAGE = Path(inspect.getfile(pellucid)).parent
_BELOW = (str(_PACKAGE / "layers" / "taps.py"), __file__)


class ModelInput(NamedTuple):
    """What a model is given.

    Attributes:
        source: ids of each text, end token last; none for a language model.
        target: ids of each text as the decoder reads them, start first; as many rows.
    """

    source: Sequence[Sequence[int]]
    target: Sequence[Sequence[int]]


class Recording(NamedTuple):
    """What was written down.

    Attributes:
        arrays: the numbers by full name, batch first where they have one; float32 unless the model's are wider.
        lines: for each name the line of code that made it.
    """

    arrays: dict[str, Array]
    lines: dict[str, str]


def record(
    model: nn.Module, given: ModelInput, what: Sequence[str] | None = None, edits: Mapping[str, Edit] | None = None
) -> Recording:
    """Run a model once, all positions at a time, and return the numbers that were asked for.

    Args:
        model: in evaluation mode.
        given: ids; unequal lengths are filled up at their end.
        what: names or patterns of taps; all of them if None.
        edits: what to change on the way, by full name; what is written down is what the model went on with.

    Raises:
        UserError: for a name that no tap has, or if the numbers do not fit into the memory that is free.
    """
    names = chosen_names(model, what)
    edits = edits or {}
    recording = Recording({}, {})
    room = SHARE * free_bytes(torch.device("cpu"))
    used = 0

    def tap(name: str, x: Tensor) -> Tensor:
        nonlocal used
        if name in edits:
            x = edits[name](name, x)
        if name in names:
            used += x.numel() * 4
            if used > room:
                raise UserError(
                    f"the numbers of this look do not fit into memory: {used / 1e9:.1f} GB and more to come, "
                    f"{room / 1e9:.1f} GB may be used",
                    where=name,
                    hint='Ask for fewer: what=["*.cross_attention.weights"]; docs/taps.md has the names.',
                )
            recording.arrays[name] = to_array(x)
            recording.lines[name] = _line(sys._getframe(1))
        return x

    run_model(
        model, given, SelectiveTap(names | edits.keys(), tap), wants_logits="logits" in names or "logits" in edits
    )
    return recording


@torch.inference_mode()
def run_model(model: nn.Module, given: ModelInput, tap: Tap = keep, *, wants_logits: bool = True) -> Tensor | None:
    """Run a model on ids, all positions at a time; return its logits if wanted, [batch target vocab_size]."""
    target = filled(model, given.target)
    if isinstance(model, EncoderDecoder):
        states = model.decode(target, model.encode(filled(model, given.source), tap), tap)
    else:
        states = cast(DecoderOnly, model).states(target, tap)
    return cast(EncoderDecoder | DecoderOnly, model).logits(states, tap) if wants_logits else None


def editing_tap(edits: Mapping[str, Edit]) -> Tap:
    """Return a tap that makes these changes and leaves all else alone; `keep` if there are none."""
    return SelectiveTap(edits, lambda name, x: edits[name](name, x)) if edits else keep


def to_array(x: Tensor) -> Array:
    """Return a tensor's numbers; those of a narrow format widened to float32, which changes none."""
    x = x.detach()
    numbers: Array = (x if x.dtype == torch.float64 else x.float()).cpu().numpy()
    return numbers


def filled(model: nn.Module, rows: Sequence[Sequence[int]]) -> Tensor:
    """Stack rows of ids, the short ones filled up at their end, where no token before looks."""
    pad_id = max(0, cast(int, model.pad_id))
    filled = numpy.full((len(rows), max(map(len, rows))), pad_id, dtype=numpy.int64)
    for place, row in zip(filled, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(filled).to(next(model.parameters()).device)


def _line(frame: FrameType | None) -> str:
    """Return the line of the model's code that handed a number to the tap: `layers/attention.py:87  scores = …`."""
    # Frames of the taps, and of whatever checks shapes around functions, are not the one that is meant.
    while frame is not None and not _is_model_code(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    place = Path(frame.f_code.co_filename).relative_to(_PACKAGE.parent)
    code = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{place.as_posix()}:{frame.f_lineno}  {code}".rstrip()


def _is_model_code(file: str) -> bool:
    return file not in _BELOW and file.startswith(str(_PACKAGE))
