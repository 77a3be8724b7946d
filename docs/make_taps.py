"""Write docs/taps.md: every number of a translator or a language model that can be recorded or changed, by name.

Names and their order come from recorded runs of small models; meaning, axes and unit from the `Taps:` lines of the
docstrings. `python docs/make_taps.py` writes the file; a test fails when it is out of date.
"""

import re
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.layers.attention import Attention, attend
from pellucid.layers.block import DecoderBlock, SelfAttentionBlock
from pellucid.layers.feed_forward import FeedForward
from pellucid.models.config import EncoderDecoderConfig
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["FILE", "TapLine", "documented_taps", "recorded_taps", "render"]

FILE = Path(__file__).with_name("taps.md")

HEAD = """# Taps: the numbers inside a model, by name

<!-- Written by docs/make_taps.py out of a recorded run and the docstrings. Change those, then run it again. -->

A tap is a function `tap(name, x)` that is handed every number below as it is computed, and returns what the model
goes on with: the same tensor to record it, another to change it. `model(source_ids, target_ids, tap)` of a translator
and `model(ids, tap)` of a language model hand it all;
`pellucid.layers.taps.Only(names, tap)` the named ones, while every other part runs as if nobody looked.
`N` is the number of a layer, from 0. `query` and `key` are positions: of the source in the encoder, of the target in
the decoder; in cross-attention queries are target positions, keys source positions.
In a pre-norm model `residual.after_self_attention` = `residual.input` + `self_attention.output`, and so on down the
block; in a post-norm model the sum is normalised before it is tapped.
While a cache decodes step by step, the source's keys and values are looked up once, before the first step, and not
tapped; keys are then those of all hypotheses and steps so far.
Scores and logits are in nats: a difference of one is a ratio of e after the softmax. A share lies between 0 and 1.
A dash stands for coordinates of the model's own space, which have no unit.
"""

TABLE = """
## {title}

| name | axes | unit | what it is |
|---|---|---|---|
"""


class TapLine(NamedTuple):
    """What a docstring says about a tap."""

    meaning: str
    axes: str
    unit: str


def documented_taps() -> dict[str, TapLine]:
    """Return what the docstrings say of a translator, by name, with N for the number of a layer."""
    attention, feed_forward = _lines(Attention) | _lines(attend), _lines(FeedForward)
    parts = {
        "encoder.N": _lines(SelfAttentionBlock),
        "encoder.N.self_attention": attention,
        "encoder.N.feed_forward": feed_forward,
        "decoder.N": _lines(DecoderBlock),
        "decoder.N.self_attention": attention,
        "decoder.N.cross_attention": attention,
        "decoder.N.feed_forward": feed_forward,
    }
    taps = _lines(EncoderDecoder)
    for scope, lines in parts.items():
        taps |= {f"{scope}.{name}": line for name, line in lines.items()}
    return taps


def documented_taps_of_language_model() -> dict[str, TapLine]:
    """Return what the docstrings say of a language model, by name, with N for the number of a layer."""
    parts = {
        "decoder.N": _lines(SelfAttentionBlock),
        "decoder.N.self_attention": _lines(Attention) | _lines(attend),
        "decoder.N.feed_forward": _lines(FeedForward),
    }
    taps = _lines(DecoderOnly)
    for scope, lines in parts.items():
        taps |= {f"{scope}.{name}": line for name, line in lines.items()}
    return taps


def recorded_taps() -> dict[str, Tensor]:
    """Return what a run of a small translator hands to a tap, by full name, in order; every axis has its own size."""
    config = EncoderDecoderConfig(
        d_model=24, n_heads=4, n_kv_heads=2, d_ff=40, encoder_layers=2, decoder_layers=2,
        positions="sinusoidal", cross_positions="none",
    )  # fmt: skip
    seen: dict[str, Tensor] = {}
    with torch.no_grad():
        model = EncoderDecoder(config, 17, 17, pad_id=0).eval()
        model(torch.ones(3, 7, dtype=torch.long), torch.ones(3, 5, dtype=torch.long), seen.setdefault)
    return seen


def recorded_taps_of_language_model() -> dict[str, Tensor]:
    """Return the same of a small language model."""
    config = DecoderOnlyConfig(d_model=24, n_heads=4, n_kv_heads=2, d_ff=40, n_layers=2, positions="sinusoidal")
    seen: dict[str, Tensor] = {}
    with torch.no_grad():
        DecoderOnly(config, 17, pad_id=0).eval()(torch.ones(3, 7, dtype=torch.long), seen.setdefault)
    return seen


def render() -> str:
    """Return the text of docs/taps.md."""
    translator = _table("A translator", recorded_taps(), documented_taps())
    language_model = recorded_taps_of_language_model(), documented_taps_of_language_model()
    return HEAD + translator + _table("A language model", *language_model)


def _table(title: str, recorded: dict[str, Tensor], documented: dict[str, TapLine]) -> str:
    names = dict.fromkeys(re.sub(r"^(encoder|decoder)\.\d+\.", r"\1.N.", name) for name in recorded)
    rows = [
        f"| `{name}` | {documented[name].axes} | {documented[name].unit} | {documented[name].meaning} |\n"
        for name in names
    ]
    return TABLE.format(title=title) + "".join(rows)


def _lines(owner: object) -> dict[str, TapLine]:
    """Return the lines `name: meaning, [axes]; unit.` of a docstring's Taps section."""
    section = (owner.__doc__ or "").partition("Taps:\n")[2].partition("\n\n")[0]
    pattern = re.compile(r"^ +([\w.]+): (.+), \[(.+)\](?:; (\w+))?\.$", re.MULTILINE)
    return {m[1]: TapLine(m[2], m[3], m[4] or "–") for m in pattern.finditer(section)}


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
