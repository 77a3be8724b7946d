"""Draw word alignments in a terminal: target tokens down, source tokens across, shades for weights.

A Chinese character takes two columns, as in a terminal.
"""

from collections.abc import Mapping, Sequence

from pellucid.cli.console import display_width

__all__ = ["LEGEND", "divide", "draw_alignment"]

# (least weight, shade)
_SHADES = ((0.75, "█"), (0.5, "▓"), (0.25, "▒"), (0.0, "░"))
_NO_LINK = "·"
LEGEND = "█ ▓ ▒ ░: at least 75, 50, 25 and 0 % of the attention"


def draw_alignment(
    source: Sequence[str], target: Sequence[str], weights: Mapping[tuple[int, int], float], columns: int = 80
) -> list[str]:
    """Draw an alignment as lines of text.

    Args:
        source: source tokens or words, across.
        target: target tokens or words, down.
        weights: weights of (source, target) index pairs, 0 to 1; other pairs stay empty.
        columns: width of the terminal; a longer source is drawn in several blocks below each other.
    """
    label = max((display_width(token) for token in target), default=0)
    lines: list[str] = []
    for first, last in divide([display_width(token) + 1 for token in source], columns - label):
        across = range(first, last)
        lines.append(" " * (label + 1) + " ".join(source[i] for i in across))
        for j, token in enumerate(target):
            cells = (_cell(weights.get((i, j)), display_width(source[i])) for i in across)
            lines.append(" " * (label - display_width(token)) + token + " " + " ".join(cells))
    return [line.rstrip() for line in lines]


def _cell(weight: float | None, columns: int) -> str:
    """Fill a cell that is as wide as the token above it."""
    if weight is None:
        return _NO_LINK + " " * (columns - 1)
    return next(shade for least, shade in _SHADES if weight >= least) * columns


def divide(widths: Sequence[int], columns: int) -> list[tuple[int, int]]:
    """Divide what has these widths into runs that fit into the columns; what is wider gets a run to itself."""
    blocks: list[tuple[int, int]] = []
    first, used = 0, 0
    for i, needed in enumerate(widths):
        if used and used + needed > columns:
            blocks.append((first, i))
            first, used = i, 0
        used += needed
    return [*blocks, (first, len(widths))] if widths else blocks
