"""Hold out sentence pairs for validation: a pure function of the texts, the same on every machine.

The pairs with the smallest hashes are held out. They share no source and no target with the training pairs; sentences
that many pairs share ("Yes.") are therefore held out only if there are no others.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from pellucid.corpus.hashing import hash_text
from pellucid.corpus.pairs import SentencePair

__all__ = ["HeldOut", "hold_out", "smallest_hashes", "validation_size"]

T = TypeVar("T")

_CANDIDATES = 3  # times as many candidates as pairs held out
_SHARED_BY_FEW = 2  # training pairs that a held-out pair may cost


@dataclass(frozen=True)
class HeldOut:
    """Validation pairs, and the others.

    Args:
        valid: the held-out pairs, in file order.
        training: the number of training pairs.
        shared: the number of pairs left out of training because they share a side with a held-out pair.
        training_pairs: streams the training pairs in file order; every call starts again.
    """

    valid: tuple[SentencePair, ...]
    training: int
    shared: int
    training_pairs: Callable[[], Iterator[SentencePair]]


def validation_size(count: int) -> int:
    """The number of pairs to hold out of `count`: 1 %, at least 100, at most 2,000, never more than a fifth."""
    return min(max(round(count / 100), 100), 2000, count // 5)


def hold_out(pairs: Callable[[], Iterator[SentencePair]], count: int) -> HeldOut:
    """Hold out pairs for validation; pairs are read four times, and only held-out pairs are kept in memory.

    Args:
        pairs: streams all pairs, the same in every call.
    """
    wanted = validation_size(count)
    hashes = ((hash_text(f"{pair.source}\t{pair.target}"), pair) for pair in pairs())
    candidates = list(smallest_hashes(hashes, _CANDIDATES * wanted).values())
    sources = Counter({pair.source: 0 for pair in candidates})
    targets = Counter({pair.target: 0 for pair in candidates})
    for pair in pairs():
        if pair.source in sources:
            sources[pair.source] += 1
        if pair.target in targets:
            targets[pair.target] += 1
    cost = {pair: sources[pair.source] + targets[pair.target] - 2 for pair in candidates}
    # A stable sort keeps the order of the hashes among pairs that cost little.
    chosen = sorted(candidates, key=lambda pair: max(cost[pair] - _SHARED_BY_FEW, 0))[:wanted]
    held_sources, held_targets = {pair.source for pair in chosen}, {pair.target for pair in chosen}
    valid = set(chosen)

    def training_pairs() -> Iterator[SentencePair]:
        for pair in pairs():
            if pair.source not in held_sources and pair.target not in held_targets:
                yield pair

    in_order = tuple(pair for pair in pairs() if pair in valid)
    training = sum(1 for _ in training_pairs())
    return HeldOut(in_order, training, count - training - len(in_order), training_pairs)


def smallest_hashes(items: Iterable[tuple[int, T]], wanted: int) -> dict[int, T]:
    """The items with the smallest hashes, by hash in increasing order; of equal hashes the first."""
    heap: list[int] = []  # negated, so that the largest of the smallest is on top
    kept: dict[int, T] = {}
    for key, item in items:
        if wanted and key not in kept and (len(heap) < wanted or key < -heap[0]):
            if len(heap) == wanted:
                del kept[-heapq.heappushpop(heap, -key)]
            else:
                heapq.heappush(heap, -key)
            kept[key] = item
    return {key: kept[key] for key in sorted(kept)}
