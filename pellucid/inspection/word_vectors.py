"""A look at word vectors: the vectors of some words, and how similar every pair of them is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from pellucid.errors import UsageError, UserError, did_you_mean
from pellucid.inspection.checks import SanityCheck, raise_if_broken
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.tokens import Token
from pellucid.inspection.views.charts import Chart, heat_map, save_chart, scatter, token_grid
from pellucid.inspection.views.pages import render_page
from pellucid.inspection.views.view import View, ViewTable
from pellucid.storage.files import write_text

if TYPE_CHECKING:
    from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["VECTOR_VIEWS", "WordLook", "look_at_word_vectors"]

NEAREST = 5
ROUNDING = 1e-5  # of a cosine or, relative to its size, of a dot product of float32 rows


def look_at_word_vectors(vectors: "KeyedVectors", words: str | Sequence[str]) -> "WordLook":
    """Look at some words.

    They are a list, or a text in which they are separated by spaces.

    Raises:
        UserError: for no words, or one that the vectors do not have.
    """
    listed = words.split() if isinstance(words, str) else list(words)
    if not listed:
        raise UserError("there are no words to look at", where="look", hint="Pass one word at least.")
    rows = vectors.rows(listed)
    text = words if isinstance(words, str) else " ".join(listed)
    tokens, at = [], 0
    for position, (word, row) in enumerate(zip(listed, rows, strict=True)):
        at = text.index(word, at)
        tokens.append(Token(position, row, word.encode("utf-8", "surrogateescape"), word, (at, at + len(word)), False))
        at += len(word)
    return WordLook(vectors, text, tuple(tokens), _arrays(vectors, tuple(listed), rows))


@dataclass(frozen=True, eq=False)
class WordLook:
    """The numbers of some words: `look["cosines"]`, `look.names`, as in a look at a model that reads texts.

    Attributes:
        tokens: the words; their ids are their rows.
        arrays: by name. `input_vectors` [word d_model], their `lengths` [word] and `cosines` [word other]; if the
            vectors have output vectors, also `output_vectors` [word d_model], `scores` [centre context] (input ·
            output; nats) and `probabilities` [centre context], of being a true pair in negative sampling.
    """

    vectors: "KeyedVectors"
    text: str
    tokens: tuple[Token, ...]
    arrays: dict[str, LabelledArray]

    def __repr__(self) -> str:
        return f"WordLook({len(self.tokens)} words, {len(self.arrays)} arrays)"

    def __getitem__(self, name: str) -> LabelledArray:
        if name not in self.arrays:
            raise UserError(f"this look has no {name}", where="look", hint=did_you_mean(name, self.arrays))
        return self.arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all arrays."""
        return tuple(self.arrays)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.values.nbytes for array in self.arrays.values())

    def check(self) -> list[SanityCheck]:
        """Check that cosines are those by which neighbours are found, and that scores are products of vectors.

        Raises:
            InexactError: if one is not.
        """
        found = self.arrays
        nonzero = [token for token in self.tokens if found["lengths"].values[token.position] > 0]
        rows = [token.position for token in nonzero]
        cosines = found["cosines"].values[numpy.ix_(rows, rows)]
        expected = [[self.vectors.similarity(a.display, b.display) for b in nonzero] for a in nonzero]
        checks = [SanityCheck("cosines are those of similar()", _relative_error(cosines, expected), ROUNDING)]
        if "scores" in found:
            inputs, outputs = (found[name].values.astype(numpy.float64) for name in ("input_vectors", "output_vectors"))
            products = [[float((a * b).sum()) for b in outputs] for a in inputs]
            error = _relative_error(found["scores"].values, products)
            checks.append(SanityCheck("scores are input · output", error, ROUNDING))
        return raise_if_broken(checks)

    def view(self, name: str = "") -> View:
        """Build a view.

        Its name is in `VECTOR_VIEWS`; cosines unless given.

        Raises:
            UsageError: for a view that does not exist.
            UserError: for scores if the vectors have no output vectors.
        """
        name = name or "cosines"
        if name not in VECTOR_VIEWS:
            raise UsageError(f"word vectors have no view {name}", where="--view", hint=did_you_mean(name, VECTOR_VIEWS))
        view = VECTOR_VIEWS[name]
        return replace(view.build(self), name=name, title=view.title)

    def chart(self, view: str = "") -> Chart:
        """Draw a view as an Altair chart."""
        return self.view(view).chart()

    def show(self, view: str = "") -> Chart:
        """Draw a view in a notebook, which displays the value of a cell's last line."""
        return self.chart(view)

    def save(self, path: str | Path, view: str = "", *, dark: bool = False) -> None:
        """Write a picture (.png, .svg), Vega-Lite (.json) or a page (.html) of all views, unless one is named."""
        if Path(path).suffix.lower() != ".html":
            save_chart(self.chart(view), path, dark=dark)
            return
        names = [view] if view else [name for name in VECTOR_VIEWS if name != "scores" or "scores" in self.arrays]
        about = f"{self.vectors!r}; every number is the vectors' own."
        views = [self.view(name) for name in names]
        write_text(path, render_page(self.text, (("words", self.tokens),), about, views))

    def as_dict(self) -> dict[str, Any]:
        """Convert everything to JSON types."""
        return {
            "text": self.text,
            "tokens": [token.as_dict() for token in self.tokens],
            "arrays": {name: array.as_dict() for name, array in self.arrays.items()},
        }


class _VectorView(NamedTuple):
    title: str
    build: Callable[[WordLook], View]


def _arrays(vectors: "KeyedVectors", words: tuple[str, ...], rows: list[int]) -> dict[str, LabelledArray]:
    axis, other, width = Axis("word", words), Axis("other", words), numbered_axis("d_model", vectors.dim)
    inputs = vectors.input_vectors[rows]
    exact = inputs.astype(numpy.float64)
    lengths = numpy.linalg.norm(exact, axis=1)
    unit = exact / numpy.where(lengths > 0, lengths, 1.0)[:, None]
    arrays = [
        LabelledArray("input_vectors", inputs, (axis, width), "–", "vectors of the words"),
        LabelledArray("lengths", lengths, (axis,), "length", "lengths of the vectors"),
        LabelledArray("cosines", unit @ unit.T, (axis, other), "cosine", "cosine of two words' vectors"),
    ]
    if vectors.output_vectors is not None:
        outputs = vectors.output_vectors[rows]
        scores = exact @ outputs.astype(numpy.float64).T
        probabilities = 1 / (1 + numpy.exp(-scores))
        pair = (Axis("centre", words), Axis("context", words))
        arrays += [
            LabelledArray("output_vectors", outputs, (axis, width), "–", "vectors of the words as contexts"),
            LabelledArray("scores", scores, pair, "nats", "input · output: how well a context fits a centre"),
            LabelledArray("probabilities", probabilities, pair, "share", "σ(score): probability of a true pair"),
        ]
    return {array.name: array for array in arrays}


def _cosines_view(look: WordLook) -> View:
    cosines = look["cosines"]
    return View("1: same direction, 0: unrelated, below 0: opposed.", (cosines,), lambda: heat_map(cosines))


def _scores_view(look: WordLook) -> View:
    if "scores" not in look:
        raise UserError(
            "these vectors have no output vectors, so there are no scores",
            where="--view",
            hint="Train with output vectors kept, or choose another view.",
        )
    scores = look["scores"]
    reading = "A row is the word in the middle of a window, a column one beside it; above 0: more often than noise."
    return View(reading, (scores, look["probabilities"]), lambda: heat_map(scores))


def _neighbours_view(look: WordLook) -> View:
    words = list(dict.fromkeys(token.display for token in look.tokens))
    words = [word for word in words if numpy.any(look.vectors[word])]
    found = [look.vectors.similar(word, NEAREST) for word in words]
    count = max(map(len, found), default=0)
    names = [[one.word for one in row] + [""] * (count - len(row)) for row in found]
    values = numpy.full((len(words), count), numpy.nan)
    for i, row in enumerate(found):
        values[i, : len(row)] = [one.score for one in row]
    axes = (Axis("word", tuple(words)), numbered_axis("rank", count, start=1))
    cosines = LabelledArray("neighbours", values, axes, "cosine", "cosine with a neighbour")
    table = ViewTable(
        ["word", "nearest", "cosine"],
        [[word, one.word, one.score] for word, row in zip(words, found, strict=True) for one in row],
    )
    reading = "The words with the highest cosine, best first."
    return View(reading, (cosines,), lambda: token_grid(names, cosines, is_log=False), table)


def _map_view(look: WordLook) -> View:
    rows = look["input_vectors"].values.astype(numpy.float64)
    u, s, _ = numpy.linalg.svd(rows - rows.mean(0), full_matrices=False)
    points = numpy.zeros((len(rows), 2))
    points[:, : min(2, len(s))] = (u * s)[:, :2]
    share = float((s[:2] ** 2).sum() / max(float((s**2).sum()), 1e-300))
    axes = (look["lengths"].axes[0], numbered_axis("axis", 2))
    array = LabelledArray("map", points, axes, "–", "principal components")
    reading = f"The two directions in which these words differ most: {share:.0%} of their variance."
    return View(reading, (array,), lambda: scatter(array))


def _relative_error(a: Array, b: Any) -> float:
    expected = numpy.asarray(b, dtype=numpy.float64)
    return float(numpy.abs(a - expected).max(initial=0) / max(1.0, float(numpy.abs(expected).max(initial=0))))


VECTOR_VIEWS = {
    "cosines": _VectorView("Similarity of the words", _cosines_view),
    "scores": _VectorView("Which word is expected beside which", _scores_view),
    "neighbours": _VectorView("Nearest words", _neighbours_view),
    "map": _VectorView("Map of the words", _map_view),
}
