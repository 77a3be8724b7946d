"""Exact nearest-neighbour search by cosine, block by block.

Each block's cosines come from one float32 matrix product. Its rounding error is bounded, so every row that may belong
to the best is known; those few rows are scored again in float64, and only these scores count. The answer is therefore
that of float64 over all rows, and does not depend on the block size, the batch or the number of threads.

A zero row has no direction and no cosine: it is never a neighbour.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

__all__ = [
    "COSINE",
    "ROUNDING",
    "Floats",
    "NearestRows",
    "Neighbour",
    "ScoreFormula",
    "SearchIndex",
    "build_index",
    "exact_cosines",
    "search",
    "unit_rows",
]

ROUNDING = 1e-6  # a sum of unit vectors shorter than this is rounding error: they cancel out

BLOCK_ROWS = 1 << 14
_BATCH = 64  # queries that share a pass over the rows
_SAFE = (1e-15, 1e15)  # norms between which squares neither overflow nor underflow in float32
_HALF_ULP = 2.0**-24  # half a unit in the last place of float32

Floats = NDArray[numpy.float64]


class Neighbour(NamedTuple):
    """A word and its score: the cosine unless the method says otherwise."""

    word: str
    score: float


class NearestRows(NamedTuple):
    """The best rows for a query, best first; ties in row order."""

    rows: NDArray[numpy.int64]
    scores: Floats


class ScoreFormula(NamedTuple):
    """How a row's score is computed from its cosines with the directions of a query.

    Attributes:
        combine: maps [directions rows] to [rows].
        slopes: for each direction, 1 if the score increases with its cosine, −1 if it decreases.
    """

    combine: Callable[[NDArray[Any]], NDArray[Any]]
    slopes: tuple[int, ...]


COSINE = ScoreFormula(lambda cosines: cosines[0], (1,))


@dataclass(frozen=True, eq=False)
class SearchIndex:
    """The rows of a matrix with their norms; built once by `build_index`.

    Attributes:
        rows: float32 [vocab_size d], possibly memory-mapped.
        norms: float32 [vocab_size], approximate; 1 for `extreme` rows.
        zero: bool [vocab_size], rows that are all zeros.
        extreme: int64 [n], rows that are zero or whose squares leave the range of float32: scored in float64 only.
        not_finite: int64 [n], rows with NaN or infinity; a matrix with such rows must not be searched.
    """

    rows: NDArray[numpy.float32]
    norms: NDArray[numpy.float32]
    zero: NDArray[numpy.bool_]
    extreme: NDArray[numpy.int64]
    not_finite: NDArray[numpy.int64]


def build_index(rows: NDArray[numpy.float32]) -> SearchIndex:
    """Compute the norms of all rows in one pass."""
    norms = numpy.empty(len(rows), numpy.float32)
    with numpy.errstate(over="ignore", invalid="ignore", under="ignore"):
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            norms[start : start + BLOCK_ROWS] = numpy.sqrt(numpy.einsum("ij,ij->i", block, block))
    extreme = numpy.flatnonzero(~((norms > _SAFE[0]) & (norms < _SAFE[1])))
    zero = numpy.zeros(len(rows), numpy.bool_)
    zero[extreme] = ~rows[extreme].any(axis=1)
    not_finite = extreme[~numpy.isfinite(rows[extreme]).all(axis=1)]
    norms[extreme] = 1
    return SearchIndex(rows, norms, zero, extreme, not_finite)


def unit_rows(rows: NDArray[Any]) -> Floats:
    """Normalize the last axis of an array to length 1 in float64; none of the vectors may be zero."""
    wide = rows.astype(numpy.float64)  # squares of small numbers would vanish in float32
    units: Floats = wide / numpy.sqrt((wide * wide).sum(axis=-1, keepdims=True))
    return units


def exact_cosines(rows: NDArray[numpy.float32], directions: Floats) -> Floats:
    """Compute the cosine of each row with each direction in float64, [directions rows]; NaN for a zero row.

    Each cosine is a sum along one row and does not depend on the other rows.

    Args:
        rows: float32 [rows d].
        directions: float64 [directions d], unit vectors.
    """
    wide = rows.astype(numpy.float64)
    norms = numpy.sqrt((wide * wide).sum(axis=1))
    with numpy.errstate(invalid="ignore"):
        return numpy.stack([(wide * direction).sum(axis=1) / norms for direction in directions])


def search(
    among: SearchIndex,
    queries: Sequence[Floats],
    n: int,
    *,
    formula: ScoreFormula = COSINE,
    limit: int | None = None,
    allowed: NDArray[numpy.bool_] | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Iterator[NearestRows]:
    """Yield the `n` best rows for each query; fewer if there are fewer.

    Args:
        queries: float64 [directions d] each, unit vectors, as many as the formula takes.
        limit: search the first `limit` rows only.
        allowed: bool [vocab_size], which rows may be returned; all by default. Zero rows never are.
        block_rows: rows processed at a time; memory grows with it, the answer does not change.
    """
    assert not len(among.not_finite)
    limit = len(among.rows) if limit is None else min(limit, len(among.rows))
    barred = among.zero if allowed is None else among.zero | ~allowed
    terms, dim = len(formula.slopes), among.rows.shape[1]
    for first in range(0, len(queries), _BATCH):
        batch = [numpy.asarray(query, numpy.float64).reshape(terms, dim) for query in queries[first : first + _BATCH]]
        stacked = numpy.concatenate(batch)
        stacked32 = stacked.astype(numpy.float32)
        best = [NearestRows(numpy.empty(0, numpy.int64), numpy.empty(0)) for _ in batch]
        for start in range(0, limit, block_rows):
            here = slice(start, min(start + block_rows, limit))
            rows, out = among.rows[here], barred[here]
            extreme = among.extreme[(among.extreme >= here.start) & (among.extreme < here.stop)] - start
            with numpy.errstate(over="ignore", invalid="ignore", under="ignore"):
                cosines = stacked32 @ rows.T
                cosines /= among.norms[here]
            for number, found in enumerate(best):
                own = slice(number * terms, (number + 1) * terms)
                near = _candidates(cosines[own], formula, dim, n, found, out, extreme)
                scores = formula.combine(exact_cosines(rows[near], stacked[own]))
                best[number] = _merged(found, NearestRows(near + start, scores), n)
        yield from best


def _candidates(
    cosines: NDArray[numpy.float32],
    formula: ScoreFormula,
    dim: int,
    n: int,
    found: NearestRows,
    barred: NDArray[numpy.bool_],
    extreme: NDArray[numpy.int64],
) -> NDArray[numpy.int64]:
    """List every row of a block that may be among the `n` best of the block and of the rows found before."""
    # The error of a d-term dot product, in any order, is at most d half-ulps of the product of the two norms; the norms
    # themselves, the rounded query and the division add fewer than d/2 + 8.
    margin = numpy.float32((1.5 * dim + 8) * _HALF_ULP)
    slopes = numpy.array(formula.slopes, numpy.float32)[:, None]
    least = formula.combine(cosines - margin * slopes)
    most = formula.combine(cosines + margin * slopes)
    least[barred], most[barred] = -numpy.inf, -numpy.inf
    least[extreme], most[extreme] = -numpy.inf, numpy.where(barred[extreme], -numpy.inf, numpy.inf)
    floor = found.scores[-1] if len(found.rows) == n else -numpy.inf
    near = numpy.flatnonzero(most >= numpy.nextafter(numpy.float32(floor), numpy.float32(-numpy.inf)))
    near = near[most[near] > -numpy.inf]
    if len(near) > n:
        nth = numpy.partition(least[near], len(near) - n)[len(near) - n]
        near = near[most[near] >= nth]
    return near


def _merged(one: NearestRows, other: NearestRows, n: int) -> NearestRows:
    """Merge two results into the `n` best rows of both."""
    if not len(other.rows):
        return one
    rows, scores = numpy.concatenate([one.rows, other.rows]), numpy.concatenate([one.scores, other.scores])
    order = numpy.lexsort((rows, -scores))[:n]
    return NearestRows(rows[order], scores[order])
