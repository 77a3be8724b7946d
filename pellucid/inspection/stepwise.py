"""Run a model token by token on a key–value cache, as generation does, and record every step."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy
import torch
from torch import Tensor, nn

from pellucid.inspection.labelled_array import Array
from pellucid.inspection.recording import TokenizedText, padded_ids, to_array
from pellucid.inspection.structure import attentions
from pellucid.inspection.taps import select_taps
from pellucid.layers.cache import BeamCache, SequenceCache
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CacheEntry", "cache_contents", "cached_logits", "join_steps", "record_steps"]

Step = Callable[[int, Tap], Tensor]
"""Reads token i of the target and returns its logits, [1 1 vocab_size]."""


def cached_logits(model: nn.Module, text: TokenizedText) -> Array:
    """Decode the target of a text token by token on a cache; returns the logits, [target vocab_size]."""
    step, _ = _start(model, text)
    with torch.inference_mode():
        return numpy.concatenate([to_array(step(i, keep))[0] for i in range(len(text.target))])


def record_steps(model: nn.Module, text: TokenizedText, what: Sequence[str] | None = None) -> list[dict[str, Array]]:
    """Run the target of a text token by token on a cache and record each step.

    Arrays have a single query; those of self-attention have the keys so far. The first recording also holds what is
    computed before the first step: everything of the encoder, and the source's keys and values.
    """
    names = select_taps(model, what)
    steps: list[dict[str, Array]] = [{}]

    def tap(name: str, x: Tensor) -> Tensor:
        steps[-1][name] = to_array(x)
        return x

    selective = SelectiveTap(names, tap)
    with torch.inference_mode():
        step, _ = _start(model, text, selective)
        for i in range(len(text.target)):
            if i:
                steps.append({})
            step(i, selective)
    return steps


def join_steps(steps: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Join the recordings of all steps along their queries.

    Where the key did not exist yet at a step, scores are NaN and weights 0.
    """
    joined: dict[str, Array] = {}
    for name in steps[-1]:
        arrays = [step[name] for step in steps]
        quantity = name.rsplit(".", 1)[-1]
        if name.startswith("decoder.") and quantity in ("scores", "weights"):
            keys, fill = arrays[-1].shape[-1], 0.0 if quantity == "weights" else numpy.nan
            no_padding = [(0, 0)] * (arrays[-1].ndim - 1)
            arrays = [numpy.pad(x, [*no_padding, (0, keys - x.shape[-1])], constant_values=fill) for x in arrays]
        axis = -2 if arrays[-1].ndim > 1 else 0
        joined[name] = arrays[-1] if not arrays[-1].ndim else numpy.concatenate(arrays, axis=axis)
    return {name: array for name, array in steps[0].items() if name not in joined} | joined


class CacheEntry(NamedTuple):
    """The cached keys and values of one attention.

    Attributes:
        key, value: [kv_heads tokens d_head].
        used: bytes of these keys and values.
        reserved: bytes allocated for them.
    """

    name: str
    tokens: int
    key: Array
    value: Array
    used: int
    reserved: int


def cache_contents(model: nn.Module, text: TokenizedText) -> list[CacheEntry]:
    """Decode the target of a text to its end and return what the cache then holds, an entry for each attention."""
    with torch.inference_mode():
        step, cache = _start(model, text)
        for i in range(len(text.target)):
            step(i, keep)
    entries = []
    for site in attentions(model):
        if site.stack == "encoder":
            continue
        if site.sublayer == "cross_attention":
            stored, reserved = cast(BeamCache, cache).source[site.layer], None
        else:
            stored, reserved = cache.stored(site.layer)
        used = sum(x.numel() * x.element_size() for x in (stored.key, stored.value))
        key, value = to_array(stored.key)[0], to_array(stored.value)[0]
        entries.append(CacheEntry(site.name, key.shape[1], key, value, used, used if reserved is None else reserved))
    return entries


def _start(model: nn.Module, text: TokenizedText, tap: Tap = keep) -> tuple[Step, BeamCache | SequenceCache]:
    """Read the source, if there is one; returns the function that takes a step, and the cache that it fills."""
    *source, target = padded_ids(model, [text])
    if isinstance(model, EncoderDecoder):
        memory = model.encode(source[0], tap)
        cache = BeamCache(model.project_memory(memory, tap), memory.may_attend, 1)
        return lambda i, tap: model.logits(model.decode_step(target[:, i : i + 1], cache, tap), tap), cache
    decoder = cast(DecoderOnly, model)
    sequence = decoder.start_cache(target.shape[1])
    return lambda i, tap: decoder.logits(decoder.extend(target[:, i : i + 1], sequence, tap), tap), sequence
