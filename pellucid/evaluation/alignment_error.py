"""How far a word alignment is from the true one."""

from collections.abc import Collection, Sequence

__all__ = ["alignment_error_rate"]

Link = tuple[int, int]


def alignment_error_rate(
    predicted: Sequence[Collection[Link]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]] | None = None,
) -> float:
    """Return the alignment error rate over all sentences: 0 is perfect, 1 is nothing right.

    1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), counted over the whole corpus; A predicted, S sure, P possible, which
    includes S. With no possible links beyond the sure ones this is one minus the balanced F-score. Without any links,
    predicted or sure, it is 0.

    Args:
        predicted: for each sentence its links (source position, target position); one given twice counts once.
        sure: for each sentence the links that must be there.
        possible: for each sentence the links that may be there as well; none if not given.

    Raises:
        ValueError: if the numbers of sentences differ.

    Source:
        Och & Ney 2003, eq. 26.
    """
    possible = sure if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            f"alignments of {len(predicted)} predicted, {len(sure)} sure and {len(possible)} possible sentences"
        )
    right = asked = 0
    for a, s, p in zip(map(set, predicted), map(set, sure), map(set, possible), strict=True):
        right += len(a & s) + len(a & (s | p))
        asked += len(a) + len(s)
    return 1 - right / asked if asked else 0.0
