"""Draw docs/pictures/attention.svg: the cross-attention of every head while a translator translates a sentence.

    pellucid demo -o demo-model
    python docs/make_pictures.py demo-model [--text 那只猫昨天吃了三条鱼。]

Every square is a number of the model: the weight of cross-attention, from white (0) to full colour (1), of a target
token (row) on a source token (column). Nothing is rescaled.
"""

import argparse
from pathlib import Path
from xml.sax.saxutils import escape

import pellucid
from pellucid.inspection.labelled_array import Array
from pellucid.translator import Translator

CELL, GAP, LEFT, TOP = 15, 26, 92, 78
FONT = "'Noto Sans','Noto Sans CJK SC','PingFang SC','Microsoft YaHei','Helvetica Neue',Arial,sans-serif"


def cross_attention(model: Translator, text: str) -> tuple[list[str], list[str], dict[int, Array]]:
    """Return source tokens, target tokens, and the weights of each decoder layer, [heads target source]."""
    look = model.look(text, what=["decoder.*.cross_attention.weights"])
    weights = {int(name.split(".")[1]): array.values for name, array in look.arrays.items()}
    # Row j is where the model looked to predict token j; the last one is the end.
    return [token.display for token in look.source], [token.display for token in look.next_tokens], weights


def draw(sources: list[str], targets: list[str], weights: dict[int, Array]) -> str:
    """Draw a row of heads for each decoder layer."""
    heads = max(len(layer) for layer in weights.values())
    width, height = len(sources) * CELL, len(targets) * CELL
    total_width = LEFT + heads * (width + GAP)
    total_height = len(weights) * (height + TOP) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_width} {total_height}" '
        f'font-family="{FONT}" font-size="11">',
        f'<rect width="{total_width}" height="{total_height}" fill="#ffffff"/>',
    ]
    for row, (layer, by_head) in enumerate(sorted(weights.items())):
        top = row * (height + TOP) + TOP
        for y, token in enumerate(targets):
            parts.append(_text(LEFT - 6, top + y * CELL + 11, token, "end"))
        for head, matrix in enumerate(by_head):
            left = LEFT + head * (width + GAP)
            parts.append(_text(left, top - 58, f"decoder {layer} · head {head}", "start", "#666666"))
            for x, token in enumerate(sources):
                place = f"rotate(-60 {left + x * CELL + 10} {top - 5})"
                parts.append(_text(left + x * CELL + 10, top - 5, token, "start", "#000000", place))
            parts.append(
                f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#f6f6f6" stroke="#cccccc"/>'
            )
            for y in range(len(targets)):
                for x in range(len(sources)):
                    weight = float(matrix[y, x])
                    parts.append(
                        f'<rect x="{left + x * CELL}" y="{top + y * CELL}" width="{CELL}" height="{CELL}" '
                        f'fill="#08519c" fill-opacity="{weight:.3f}"><title>{escape(targets[y])} → '
                        f"{escape(sources[x])}: {weight:.3f}</title></rect>"
                    )
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#000000", transform: str = "") -> str:
    rotated = f' transform="{transform}"' if transform else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}"{rotated}>{escape(text)}</text>'


def main() -> None:
    """Draw the picture from a model folder."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", type=Path, help="folder of a translator")
    options.add_argument("--text", default="那只猫昨天吃了三条鱼。")
    options.add_argument("-o", "--output", type=Path, default=Path(__file__).parent / "pictures" / "attention.svg")
    chosen = options.parse_args()
    model = pellucid.load(chosen.model)
    chosen.output.write_text(draw(*cross_attention(model, chosen.text)), encoding="utf-8")
    print(chosen.output)


if __name__ == "__main__":
    main()
