"""Write docs/taps.md: every number of a model that can be recorded or changed, by name.

The tables come from the taps that the modules declare (`pellucid.layers.taps.TapInfo`). `python docs/make_taps.py`
writes the file; a test fails when it is out of date.
"""

from collections.abc import Iterable
from pathlib import Path

from pellucid.layers.taps import TapInfo
from pellucid.models.decoder_only import DECODER_ONLY_TAPS
from pellucid.models.encoder_decoder import ENCODER_DECODER_TAPS

__all__ = ["FILE", "render"]

FILE = Path(__file__).with_name("taps.md")

HEAD = """# Taps: the numbers inside a model, by name

<!-- Written by docs/make_taps.py from the tables beside the modules. Change those, then run it again. -->

A tap is a function `tap(name, x)` that receives each tensor below when it is computed. The model continues with what
it returns: the same tensor to record it, another to change it. `model(source_ids, target_ids, tap)` of a translator and
`model(ids, tap)` of a language model pass all of them; `pellucid.layers.taps.SelectiveTap(names, tap)` restricts a tap
to some names, so that all other modules take their fast path.

- `N` is the number of a layer, from 0.
- `query` and `key` are positions: of the source in the encoder, of the target in the decoder. In cross-attention
  queries are target positions and keys are source positions.
- In a pre-norm model `residual.after_self_attention` = `residual.input` + `self_attention.output`, and so on through
  the block. In a post-norm model the sum is normalised before it is tapped.
- During step-by-step decoding the source's keys and values are projected once, before the first step, and not tapped;
  the keys of self-attention are those of all hypotheses and steps so far.
- Scores and logits are in nats: a difference of 1 is a factor of e after the softmax. A share is between 0 and 1. A
  dash stands for coordinates of the model's own space, which have no unit.
"""

TABLE = """
## {title}

| name | axes | unit | meaning |
|---|---|---|---|
"""


def render() -> str:
    """Render the text of docs/taps.md."""
    return HEAD + _table("Translators", ENCODER_DECODER_TAPS) + _table("Language models", DECODER_ONLY_TAPS)


def _table(title: str, taps: Iterable[TapInfo]) -> str:
    rows = [f"| `{tap.name}` | {tap.axes} | {tap.unit} | {tap.meaning} |\n" for tap in taps]
    return TABLE.format(title=title) + "".join(rows)


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
