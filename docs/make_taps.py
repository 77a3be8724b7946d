"""Write docs/taps.md: every number of a translator or a language model that can be recorded or changed, by name.

Names and their order come from recorded runs of small models; meaning, axes and unit from the `Taps:` lines of the
docstrings. `python docs/make_taps.py` writes the file; a test fails when it is out of date.
"""

import re
from pathlib import Path

import torch
from torch import Tensor

from pellucid.inspection import tap_table
from pellucid.inspection.tap_table import TapLine
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["FILE", "TapLine", "documented_taps", "recorded_taps", "render"]

FILE = Path(__file__).with_name("taps.md")

HEAD = """# Taps: the numbers inside a model, by name

<!-- Written by docs/make_taps.py out of a recorded run and the docstrings. Change those, then run it again. -->

A tap is a function `tap(name, x)` that is handed every number below as it is computed, and returns what the model
goes on with: the same tensor to record it, another to change it. `model(source_ids, target_ids, tap)` of a translator
and `model(ids, tap)` of a language model hand it all;
`pellucid.layers.taps.SelectiveTap(names, tap)` the named ones, while every other part runs as if nobody looked.
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


def documented_taps() -> dict[str, TapLine]:
    """Return what the docstrings say of a translator, by name, with N for the number of a layer."""
    return tap_table.documented_taps(EncoderDecoder)


def documented_taps_of_language_model() -> dict[str, TapLine]:
    """Return what the docstrings say of a language model, by name, with N for the number of a layer."""
    return tap_table.documented_taps(DecoderOnly)


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


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
