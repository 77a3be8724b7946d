"""Two one-way alignments → one: each target word chose a source word, each source word a target word; who is right?

Links are pairs (source position, target position).
"""

from collections.abc import Callable, Collection

__all__ = ["SYMMETRISATIONS", "grow_diag_final_and", "intersection", "union"]

Link = tuple[int, int]

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def intersection(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Return the links that both directions chose, sorted: few and mostly right."""
    return sorted(set(forward) & set(backward))


def union(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Return the links that either direction chose, sorted: many, with most of the mistakes of both."""
    return sorted(set(forward) | set(backward))


def grow_diag_final_and(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Return the intersection, grown along its edges by links of the union, sorted.

    *Grow-diag*: beside a link already taken (also diagonally), take a link of the union if its source word or its
    target word has none yet; again until nothing is added. *Final-and*: take what is left of each direction if both of
    its words have none yet.

    Source:
        Koehn, Och & Marcu 2003; the order of the steps is that of Koehn et al. 2005 (IWSLT), with each round over the
        links in sorted order.
    """
    either = set(forward) | set(backward)
    taken = set(forward) & set(backward)
    sources, targets = {i for i, _ in taken}, {j for _, j in taken}

    def add(link: Link) -> None:
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
                    add(link)
        edge = sorted(taken - before)
    for direction in (forward, backward):
        for link in sorted(direction):
            if link[0] not in sources and link[1] not in targets:
                add(link)
    return sorted(taken)


SYMMETRISATIONS: dict[str, Callable[[Collection[Link], Collection[Link]], list[Link]]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "intersection": intersection,
    "union": union,
}
