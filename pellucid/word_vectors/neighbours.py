"""Which rows point most nearly where a query points: exact search, block by block, without an index.

A block's cosines come out of one matrix product in float32. Its error has a bound, so that all rows which may belong to
the best are known; these few are scored again in float64, and only those scores count. The answer is therefore the one
that float64 gives over all rows, and does not depend on the size of the blocks, the batch or the number of threads.

A row of zeros has no direction and no cosine: it is never a neighbour.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

__all__ = [
    "COSINE",
    "ROUNDING",
    "Neighbour",
    "ScoreFormula",
    "SearchIndex",
    "SearchResult",
    "build_index",
    "exact_cosines",
    "search",
]

ROUNDING = 1e-6  # a sum of directions this short is what float32 has left of vectors that cancel out

BLOCK_ROWS = 1 << 14
_BATCH = 64  # queries that share a pass over the rows
_SAFE = (1e-15, 1e15)  # lengths between which squares neither overflow nor vanish in float32
_UNIT = 2.0**-24  # half a unit in the last place of float32

Floats = NDArray[numpy.float64]


class Neighbour(NamedTuple):
    """A word and its score: the cosine unless the method says otherwise."""

    word: str
    score: float


class SearchResult(NamedTuple):
    """The best rows of a query, best first; of equal ones the earlier row first."""

    rows: NDArray[numpy.int64]
    scores: Floats


class ScoreFormula(NamedTuple):
    """How a row's cosines with the directions of a query become its score.

    Attributes:
        combine: from [directions rows] to [rows].
        slopes: for each direction 1 if the score rises with its cosine, −1 if it falls.
    """

    combine: Callable[[NDArray[Any]], NDArray[Any]]
    slopes: tuple[int, ...]


COSINE = ScoreFormula(lambda cosines: cosines[0], (1,))


@dataclass(frozen=True, eq=False)
class SearchIndex:
    """The rows of a matrix with what a search needs to know of them; made once, by `build_index`.

    Attributes:
        rows: float32 [vocab_size d], perhaps mapped from a disk.
        lengths: float32 [vocab_size], to rounding; 1 where `odd`.
        zero: bool [vocab_size], rows that have no direction.
        odd: int64 [n], rows that are zero, or whose squares leave float32: scored in float64 only.
        infinite: int64 [n], rows with a number that is not finite; a search must not begin.
    """

    rows: NDArray[numpy.float32]
    lengths: NDArray[numpy.float32]
    zero: NDArray[numpy.bool_]
    odd: NDArray[numpy.int64]
    infinite: NDArray[numpy.int64]


def build_index(rows: NDArray[numpy.float32]) -> SearchIndex:
    """Measure all rows in one pass."""
    lengths = numpy.empty(len(rows), numpy.float32)
    with numpy.errstate(over="ignore", invalid="ignore", under="ignore"):
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            lengths[start : start + BLOCK_ROWS] = numpy.sqrt(numpy.einsum("ij,ij->i", block, block))
    odd = numpy.flatnonzero(~((lengths > _SAFE[0]) & (lengths < _SAFE[1])))
    zero = numpy.zeros(len(rows), numpy.bool_)
    zero[odd] = ~rows[odd].any(axis=1)
    infinite = odd[~numpy.isfinite(rows[odd]).all(axis=1)]
    lengths[odd] = 1
    return SearchIndex(rows, lengths, zero, odd, infinite)


def exact_cosines(rows: NDArray[numpy.float32], directions: Floats) -> Floats:
    """Return the cosine of each row with each direction, [directions rows], in float64; NaN for a row of zeros.

    Each number is a sum along one row, which no other row changes.

    Args:
        rows: float32 [rows d].
        directions: float64 [directions d], of length 1.
    """
    wide = rows.astype(numpy.float64)
    lengths = numpy.sqrt((wide * wide).sum(axis=1))
    with numpy.errstate(invalid="ignore"):
        return numpy.stack([(wide * direction).sum(axis=1) / lengths for direction in directions])


def search(
    among: SearchIndex,
    queries: Sequence[Floats],
    n: int,
    *,
    formula: ScoreFormula = COSINE,
    limit: int | None = None,
    allowed: NDArray[numpy.bool_] | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Iterator[SearchResult]:
    """Yield the `n` best rows for each query, fewer if there are not as many.

    Args:
        queries: float64 [directions d] each, directions of length 1, as many as the formula takes.
        limit: search the first `limit` rows only.
        allowed: bool [vocab_size], which rows may be found; all unless given. Rows of zeros never are.
        block_rows: rows looked at in one go; memory grows with it, the answer does not change.
    """
    assert not len(among.infinite)
    limit = len(among.rows) if limit is None else min(limit, len(among.rows))
    barred = among.zero if allowed is None else among.zero | ~allowed
    for first in range(0, len(queries), _BATCH):
        yield from _search_batch(among, queries[first : first + _BATCH], n, formula, limit, barred, block_rows)


def _search_batch(
    among: SearchIndex,
    queries: Sequence[Floats],
    n: int,
    formula: ScoreFormula,
    limit: int,
    barred: NDArray[numpy.bool_],
    block_rows: int,
) -> list[SearchResult]:
    terms, dim = len(formula.slopes), among.rows.shape[1]
    stacked = numpy.concatenate([numpy.asarray(query, numpy.float64).reshape(terms, dim) for query in queries])
    narrow = stacked.astype(numpy.float32)
    best = [SearchResult(numpy.empty(0, numpy.int64), numpy.empty(0)) for _ in queries]
    for start in range(0, limit, block_rows):
        here = slice(start, min(start + block_rows, limit))
        rows, out = among.rows[here], barred[here]
        odd = among.odd[(among.odd >= here.start) & (among.odd < here.stop)] - start
        with numpy.errstate(over="ignore", invalid="ignore", under="ignore"):
            cosines = narrow @ rows.T
            cosines /= among.lengths[here]
        for number, found in enumerate(best):
            own = slice(number * terms, (number + 1) * terms)
            near = _candidates(cosines[own], formula, dim, n, found, out, odd)
            scores = formula.combine(exact_cosines(rows[near], stacked[own]))
            best[number] = _merged(found, SearchResult(near + start, scores), n)
    return best


def _candidates(
    cosines: NDArray[numpy.float32],
    formula: ScoreFormula,
    dim: int,
    n: int,
    found: SearchResult,
    barred: NDArray[numpy.bool_],
    odd: NDArray[numpy.int64],
) -> NDArray[numpy.int64]:
    """Return every row of a block that may be among the `n` best of it and of what was found before."""
    # A dot product of d terms in any order errs by at most d units of what the two vectors' lengths allow; the lengths
    # themselves, the query's rounding and the division err by fewer than d/2 + 8 more.
    margin = numpy.float32((1.5 * dim + 8) * _UNIT)
    slopes = numpy.array(formula.slopes, numpy.float32)[:, None]
    least = formula.combine(cosines - margin * slopes)
    most = formula.combine(cosines + margin * slopes)
    least[barred], most[barred] = -numpy.inf, -numpy.inf
    least[odd], most[odd] = -numpy.inf, numpy.where(barred[odd], -numpy.inf, numpy.inf)
    floor = found.scores[-1] if len(found.rows) == n else -numpy.inf
    near = numpy.flatnonzero(most >= numpy.nextafter(numpy.float32(floor), numpy.float32(-numpy.inf)))
    near = near[most[near] > -numpy.inf]
    if len(near) > n:
        nth = numpy.partition(least[near], len(near) - n)[len(near) - n]
        near = near[most[near] >= nth]
    return near


def _merged(one: SearchResult, other: SearchResult, n: int) -> SearchResult:
    """Return the `n` best of two."""
    if not len(other.rows):
        return one
    rows, scores = numpy.concatenate([one.rows, other.rows]), numpy.concatenate([one.scores, other.scores])
    order = numpy.lexsort((rows, -scores))[:n]
    return SearchResult(rows[order], scores[order])
