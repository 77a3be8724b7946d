"""A map of word vectors: a self-contained HTML page.

Two dimensions cannot show what a hundred do. PCA, implemented here, keeps the two directions of largest variance, and
the page says how much of the variance that is; UMAP, an extra, preserves neighbourhoods but not distances. The
neighbours that the page lists for a word are exact: by cosine in all dimensions.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy
from jinja2 import Environment
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["MAX_POINTS", "VectorMap", "build_map", "project_to_plane", "render_map"]

MAX_POINTS = 50_000
_BLOCK = 512

Method = Literal["pca", "umap"]


@dataclass(frozen=True, eq=False)
class VectorMap:
    """The coordinates of words on a map.

    Attributes:
        words: the most frequent words, most frequent first.
        coordinates: float32 [words 2].
        neighbours: int32 [words n], indices into `words` of each word's nearest by cosine in all dimensions, best
            first.
        explained: share of the variance on each of the two axes; None for umap.
    """

    words: tuple[str, ...]
    coordinates: NDArray[numpy.float32]
    neighbours: NDArray[numpy.int32]
    method: Method
    explained: tuple[float, float] | None


def build_map(
    vectors: KeyedVectors,
    *,
    points: int = 10_000,
    method: Method = "pca",
    neighbours: int = 8,
    seed: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> VectorMap:
    """Project the unit vectors of the most frequent words to two dimensions; zero vectors are left out.

    Args:
        points: number of words, at most 50,000.
        neighbours: number of neighbours per word, among the words of the map.
        seed: seed of umap; pca is deterministic.
        on_progress: called with the number of words whose neighbours have been found since the last call.

    Raises:
        UserError: for more points than a page can show, fewer than two words, or umap if it is not installed.
    """
    if not 2 <= points <= MAX_POINTS:
        raise UserError(
            f"expected 2 to {MAX_POINTS:,} points, got {points:,}",
            where="points",
            hint="Pass a number in this range; the default is 10,000.",
        )
    rows = vectors.most_frequent_rows(points)
    if len(rows) < 2:
        raise UserError("a map needs two words with nonzero vectors", where="vectors", hint="Train on more text.")
    units = vectors.unit_rows(rows).astype(numpy.float32)
    explained = None
    if method not in ("pca", "umap"):
        raise UserError(f"unknown map method {method!r}", where="method", hint="Use pca or umap.")
    if method == "umap":
        coordinates = _umap(units, seed)
    else:
        coordinates, explained = project_to_plane(units)
    near = _nearest(units, min(neighbours, len(rows) - 1), on_progress)
    words = tuple(vectors.words[row] for row in rows.tolist())
    return VectorMap(words, coordinates.astype(numpy.float32), near, method, explained)


def project_to_plane(rows: NDArray[Any]) -> tuple[NDArray[numpy.float64], tuple[float, float]]:
    """Project rows onto their two principal axes [rows 2], and compute the share of the variance on each.

    The axes are the eigenvectors of the covariance with the largest eigenvalues, with the sign that makes their largest
    entry positive.

    Source:
        Pearson 1901.
    """
    centred = rows.astype(numpy.float64) - rows.mean(axis=0, dtype=numpy.float64)
    values, axes = numpy.linalg.eigh(centred.T @ centred / len(rows))
    order = numpy.argsort(values)[::-1][:2]
    plane = axes[:, order]
    plane *= numpy.sign(plane[numpy.abs(plane).argmax(axis=0), numpy.arange(plane.shape[1])])
    coordinates = centred @ plane
    if coordinates.shape[1] < 2:  # one-dimensional vectors lie on a line
        coordinates = numpy.hstack([coordinates, numpy.zeros((len(rows), 1))])
    total = max(float(values.sum()), 1e-300)
    shares = [float(max(0.0, values[i])) / total for i in order] + [0.0]
    return coordinates, (shares[0], shares[1])


def render_map(vector_map: VectorMap, title: str) -> str:
    """Render the map as an HTML page in English and Chinese that loads no external resources."""
    points = vector_map.coordinates.astype(numpy.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = numpy.round((points - low) / max(float((high - low).max()), 1e-300) * 65535).astype("<u2")
    data = {
        "title": title.encode("utf-8", errors="replace").decode("utf-8"),
        "words": list(vector_map.words),
        "coordinates": base64.b64encode(scaled.tobytes()).decode("ascii"),
        "neighbours": base64.b64encode(vector_map.neighbours.astype("<i4").tobytes()).decode("ascii"),
        "perWord": int(vector_map.neighbours.shape[1]),
        "method": vector_map.method,
        "explained": vector_map.explained,
    }
    template = resources.files("pellucid.word_vectors").joinpath("vector_map.html").read_text(encoding="utf-8")
    return Environment(autoescape=True).from_string(template).render(data=data)


def _nearest(units: NDArray[numpy.float32], n: int, on_progress: Callable[[int], None] | None) -> NDArray[numpy.int32]:
    near = numpy.empty((len(units), n), numpy.int32)
    for start in range(0, len(units), _BLOCK):
        cosines = units[start : start + _BLOCK] @ units.T
        here = numpy.arange(len(cosines))
        cosines[here, start + here] = -2
        best = numpy.argpartition(-cosines, n - 1, axis=1)[:, :n]
        order = numpy.argsort(-numpy.take_along_axis(cosines, best, axis=1), axis=1, kind="stable")
        near[start : start + _BLOCK] = numpy.take_along_axis(best, order, axis=1)
        if on_progress is not None:
            on_progress(len(cosines))
    return near


def _umap(units: NDArray[numpy.float32], seed: int) -> NDArray[Any]:
    try:
        from umap import UMAP
    except ImportError as error:
        raise UserError(
            "the package umap-learn is not installed",
            where="--method umap",
            hint="Install it, `pip install -c constraints.txt '.[umap]'` in the clone, or use `--method pca`.",
        ) from error
    drawn: NDArray[Any] = UMAP(metric="cosine", random_state=seed, n_jobs=1).fit_transform(units)
    return drawn
