"""A map of word vectors: a page that holds all it needs, to be opened in a browser, kept and sent.

Two dimensions cannot hold what a hundred do. PCA, made here, keeps the two directions in which the vectors differ most,
and the page says how much of their variance that is; UMAP, an extra, keeps neighbourhoods and gives up distances. The
neighbours that the page shows for a word are its real ones, by cosine in all dimensions.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.vectors import WordVectors

__all__ = ["MAX_POINTS", "VectorMap", "build_map", "project_to_plane", "render_map"]

MAX_POINTS = 50_000
_BLOCK = 512

Method = Literal["pca", "umap"]


@dataclass(frozen=True, eq=False)
class VectorMap:
    """Where words lie on a map.

    Attributes:
        words: the most frequent ones, most frequent first.
        places: float32 [words 2].
        neighbours: int32 [words n], where in `words` each word's nearest are, by cosine in all dimensions, best first.
        method: pca or umap.
        explained: share of the variance that the map's two axes hold; None for umap.
    """

    words: tuple[str, ...]
    places: NDArray[numpy.float32]
    neighbours: NDArray[numpy.int32]
    method: Method
    explained: tuple[float, float] | None


def build_map(
    vectors: WordVectors,
    *,
    points: int = 10_000,
    method: Method = "pca",
    neighbours: int = 8,
    seed: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> VectorMap:
    """Return the map of the most frequent words; vectors are taken at length 1, words without a direction left out.

    Args:
        points: how many words, at most 50,000.
        method: pca or umap.
        neighbours: how many neighbours each word gets, among the words of the map.
        seed: of umap; pca has nothing random.
        on_progress: called with numbers of words whose neighbours were found since the last call.

    Raises:
        UserError: for more points than a page can show, fewer than two words, or umap where it is not installed.
    """
    if not 2 <= points <= MAX_POINTS:
        raise UserError(f"expected 2 to {MAX_POINTS:,} points, got {points:,}")
    limit, allowed = vectors.most_frequent(min(points, len(vectors)))
    rows = numpy.arange(len(vectors))[:limit] if allowed is None else numpy.flatnonzero(allowed)
    rows = rows[~vectors.search_index.zero[rows]]
    if vectors.counts is not None:
        rows = rows[numpy.argsort(-vectors.counts[rows], kind="stable")]
    if len(rows) < 2:
        raise UserError("a map needs two words that point somewhere")
    wide = vectors.input_vectors[rows].astype(numpy.float64)  # squares of small numbers vanish in float32
    units = (wide / numpy.sqrt((wide * wide).sum(axis=1, keepdims=True))).astype(numpy.float32)
    explained = None
    if method not in ("pca", "umap"):
        raise UserError(f"unknown method {method!r} for a map", hint="Use pca or umap.")
    if method == "umap":
        places = _umap(units, seed)
    else:
        places, explained = project_to_plane(units)
    near = _nearest(units, min(neighbours, len(rows) - 1), on_progress)
    words = tuple(vectors.words[row] for row in rows.tolist())
    return VectorMap(words, places.astype(numpy.float32), near, method, explained)


def project_to_plane(rows: NDArray[Any]) -> tuple[NDArray[numpy.float64], tuple[float, float]]:
    """Return the rows' places on their two principal axes [rows 2], and the share of the variance on each.

    The axes are the eigenvectors of the covariance with the largest eigenvalues; of the two directions of an axis that
    is taken in which its largest entry is positive.

    Source:
        Pearson 1901.
    """
    centred = rows.astype(numpy.float64) - rows.mean(axis=0, dtype=numpy.float64)
    values, axes = numpy.linalg.eigh(centred.T @ centred / len(rows))
    order = numpy.argsort(values)[::-1][:2]
    plane = axes[:, order]
    plane *= numpy.sign(plane[numpy.abs(plane).argmax(axis=0), numpy.arange(plane.shape[1])])
    places = centred @ plane
    if places.shape[1] < 2:  # vectors of one number lie on a line
        places = numpy.hstack([places, numpy.zeros((len(rows), 1))])
    total = max(float(values.sum()), 1e-300)
    shares = [float(max(0.0, values[i])) / total for i in order] + [0.0]
    return places, (shares[0], shares[1])


def render_map(drawn: VectorMap, title: str) -> str:
    """Return the map as an HTML page, in English and Chinese, that loads nothing from elsewhere."""
    places = drawn.places.astype(numpy.float64)
    low, high = places.min(axis=0), places.max(axis=0)
    scaled = numpy.round((places - low) / max(float((high - low).max()), 1e-300) * 65535).astype("<u2")
    data = {
        "title": title.encode("utf-8", errors="replace").decode("utf-8"),
        "words": list(drawn.words),
        "places": base64.b64encode(scaled.tobytes()).decode("ascii"),
        "neighbours": base64.b64encode(drawn.neighbours.astype("<i4").tobytes()).decode("ascii"),
        "perWord": int(drawn.neighbours.shape[1]),
        "method": drawn.method,
        "explained": drawn.explained,
    }
    # Nothing in a word may end the script; half a character cannot be in one, but in a file's name.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
    page = resources.files("pellucid.word_vectors").joinpath("vector_map.html").read_text(encoding="utf-8")
    return page.replace("/*DATA*/null", text.replace("\u2029", "\\u2029"))


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
            "umap is not installed",
            where="--method umap",
            hint="Install it, `pip install -c constraints.txt '.[umap]'` in the clone, or take `--method pca`.",
        ) from error
    drawn: NDArray[Any] = UMAP(metric="cosine", random_state=seed, n_jobs=1).fit_transform(units)
    return drawn
