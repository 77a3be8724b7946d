"""The same run as generation makes it: token by token, on a cache of keys and values.

Each step can be looked into; stitched together the steps give the numbers of the whole, as far as a step computes them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy
import torch
from torch import Tensor, nn

from pellucid.inspection.labelled_array import Array
from pellucid.inspection.recording import ModelInput, Recording, to_array
from pellucid.inspection.structure import attentions
from pellucid.inspection.tap_table import chosen_names
from pellucid.layers.cache import DecoderCache
from pellucid.layers.sequence_cache import SequenceCache
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CacheEntry", "cache_contents", "cached_logits", "join_steps", "record_steps"]

EachStep = Callable[[int, Tap], Tensor]


def cached_logits(model: nn.Module, given: ModelInput) -> Array:
    """Return the logits of one text's target, decoded token by token on a cache, [target vocab_size]."""
    step, _ = _stepper(model, given)
    with torch.inference_mode():
        return numpy.concatenate([to_array(step(i, keep))[0] for i in range(len(given.target[0]))])


def record_steps(model: nn.Module, given: ModelInput, what: Sequence[str] | None = None) -> list[Recording]:
    """Run one text's target token by token on a cache, and write down each step's numbers.

    The axes are those of the whole run with a single query; self-attention has the keys there are so far. The encoder's
    numbers, and the source's keys and values in cross-attention, are made once, before the first step: they stand in
    the first recording.
    """
    names = chosen_names(model, what)
    recordings: list[Recording] = []

    def tap(name: str, x: Tensor) -> Tensor:
        recordings[-1].arrays[name] = to_array(x)
        recordings[-1].lines.setdefault(name, "")
        return x

    recordings.append(Recording({}, {}))
    with torch.inference_mode():
        step, _ = _stepper(model, given, SelectiveTap(names, tap))
        for i in range(len(given.target[0])):
            if i:
                recordings.append(Recording({}, {}))
            step(i, SelectiveTap(names, tap))
    return recordings


def join_steps(steps: Sequence[Recording]) -> dict[str, Array]:
    """Join the steps' numbers along their queries, by full name.

    Where a step computed nothing, because the key did not exist yet, scores are NaN and weights 0.
    """
    joined: dict[str, Array] = {}
    for name in steps[-1].arrays:
        parts = [step.arrays[name] for step in steps]
        kind = name.rsplit(".", 1)[-1]
        if name.startswith("decoder.") and kind in ("scores", "weights"):
            keys = parts[-1].shape[-1]
            filler = 0.0 if kind == "weights" else numpy.nan
            spread = [(0, 0)] * (parts[-1].ndim - 1)
            parts = [numpy.pad(p, [*spread, (0, keys - p.shape[-1])], constant_values=filler) for p in parts]
        axis = -2 if parts[-1].ndim > 1 else 0
        joined[name] = parts[-1] if not parts[-1].ndim else numpy.concatenate(parts, axis=axis)
    return {name: array for name, array in steps[0].arrays.items() if name not in joined} | joined


class CacheEntry(NamedTuple):
    """What a cache holds for one attention.

    Attributes:
        name: of the attention.
        tokens: whose keys and values it holds.
        key, value: [kv_heads tokens d_head].
        used: bytes of these keys and values.
        reserved: bytes that the cache has set aside for them.
    """

    name: str
    tokens: int
    key: Array
    value: Array
    used: int
    reserved: int


def cache_contents(model: nn.Module, given: ModelInput) -> list[CacheEntry]:
    """Return what the cache holds when the last token of one text's target has been read, an entry an attention."""
    with torch.inference_mode():
        step, cache = _stepper(model, given)
        for i in range(len(given.target[0])):
            step(i, keep)
    held = []
    for one in attentions(model):
        if one.stack == "encoder":
            continue
        if one.part == "cross_attention":
            stored, reserved = cast(DecoderCache, cache).source[one.layer], None
        else:
            stored, reserved = cache.stored(one.layer)
        used = sum(x.numel() * x.element_size() for x in (stored.key, stored.value))
        key, value = to_array(stored.key)[0], to_array(stored.value)[0]
        held.append(CacheEntry(one.name, key.shape[1], key, value, used, used if reserved is None else reserved))
    return held


def _stepper(model: nn.Module, given: ModelInput, tap: Tap = keep) -> tuple[EachStep, DecoderCache | SequenceCache]:
    """Return a function that reads token i and gives its logits, [1 1 vocab_size], and the cache it fills."""
    device = next(model.parameters()).device
    target = torch.tensor(given.target, dtype=torch.int64, device=device)
    if isinstance(model, EncoderDecoder):
        source = torch.tensor(given.source, dtype=torch.int64, device=device)
        memory = model.encode(source, tap)
        cache = DecoderCache(model.project_memory(memory, tap), memory.may_attend, 1)

        def translate(i: int, tap: Tap) -> Tensor:
            return model.logits(model.decode_step(target[:, i : i + 1], cache, tap), tap)

        return translate, cache
    whole = cast(DecoderOnly, model)
    sequence = whole.start_cache(target.shape[1])
    return lambda i, tap: whole.logits(whole.extend(target[:, i : i + 1], sequence, tap), tap), sequence
