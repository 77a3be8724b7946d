"""Combine two one-way alignments: in one each target word chose a source word, in the other each source word a target.

Links are pairs (source position, target position).
"""

from collections.abc import Callable, Collection
from typing import Literal

__all__ = ["SYMMETRISATIONS", "Symmetrisation", "grow_diag_final_and", "intersection", "union"]

Link = tuple[int, int]
Symmetrisation = Literal["grow-diag-final-and", "intersection", "union", "forward", "backward"]

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def intersection(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Keep the links that both directions chose, sorted: few and mostly right."""
    return sorted(set(forward) & set(backward))


def union(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Keep the links that either direction chose, sorted: many, with most of the mistakes of both."""
    return sorted(set(forward) | set(backward))


def grow_diag_final_and(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Grow the intersection by neighbouring links of the union, sorted.

    *Grow-diag*: next to a link already taken (also diagonally), take a link of the union if its source word or its
    target word has none yet; repeat until nothing is added. *Final-and*: take the remaining links of each direction
    whose two words have none yet.

    Source:
        Koehn, Och & Marcu 2003; the order of the steps is that of Koehn et al. 2005 (IWSLT), with each round over the
        links in sorted order.
    """
    either = set(forward) | set(backward)
    taken = set(forward) & set(backward)
    sources, targets = {i for i, _ in taken}, {j for _, j in taken}

    def take(link: Link) -> None:
        taken.add(link)
        sources.add(link[0])
        targets.add(link[1])

    edge = sorted(taken)
    while edge:
        before = set(taken)
        for i, j in edge:
            for step_i, step_j in _NEIGHBOURS:
                link = (i + step_i, j + step_j)
                if link in either and link not in taken and (link[0] not in sources or link[1] not in targets):
                    take(link)
        edge = sorted(taken - before)
    for direction in (forward, backward):
        for link in sorted(direction):
            if link[0] not in sources and link[1] not in targets:
                take(link)
    return sorted(taken)


SYMMETRISATIONS: dict[Symmetrisation, Callable[[Collection[Link], Collection[Link]], list[Link]]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "intersection": intersection,
    "union": union,
    "forward": lambda forward, backward: sorted(forward),
    "backward": lambda forward, backward: sorted(backward),
}
