"""A look at word vectors: the rows of some words, and what training made of every pair of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from pellucid.errors import UsageError, UserError
from pellucid.inspection.checks import SanityCheck, raise_if_broken
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.tokens import Token
from pellucid.inspection.views.charts import Chart, heat_map, save_chart, scatter, token_grid
from pellucid.inspection.views.pages import page
from pellucid.inspection.views.view import View, ViewTable
from pellucid.storage.files import write_text

if TYPE_CHECKING:
    from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["VECTOR_VIEWS", "WordLook", "look_at_word_vectors"]

NEAREST = 5
ROUNDING = 1e-5  # of a cosine or, relative to its size, of a dot product of float32 rows


def look_at_word_vectors(vectors: "KeyedVectors", words: str | Sequence[str]) -> "WordLook":
    """Return the numbers of some words.

    Args:
        vectors: any.
        words: a text, taken apart at its spaces, or a list of words.

    Raises:
        UserError: for no words, or one that the vectors do not have.
    """
    named = words.split() if isinstance(words, str) else list(words)
    if not named:
        raise UserError(
            "there are no words to look at",
            where="look",
            hint="Pass at least one word.",
        )
    rows = vectors.rows(named)
    text = words if isinstance(words, str) else " ".join(named)
    tokens, at = [], 0
    for place, (word, row) in enumerate(zip(named, rows, strict=True)):
        at = text.index(word, at)
        tokens.append(Token(place, row, word.encode("utf-8", "surrogateescape"), word, (at, at + len(word)), False))
        at += len(word)
    return WordLook(vectors, text, tuple(tokens), _numbers(vectors, tuple(named), rows))


@dataclass(frozen=True, eq=False)
class WordLook:
    """The numbers of some words; `look["cosines"]`, `look.names`, as in a look at a model that reads texts.

    Attributes:
        vectors: that were looked at.
        text: the words.
        tokens: each a word; its id is its row.
        arrays: by name. `input_vectors` [word d_model], their `lengths` [word] and `cosines` [word word]; where the
            vectors kept the other matrix also `output_vectors` [word d_model], `scores` [centre context] (input ·
            output, nats) and `probabilities` [centre context]: of a pair being a true one, as negative sampling has it.
    """

    vectors: "KeyedVectors"
    text: str
    tokens: tuple[Token, ...]
    arrays: dict[str, LabelledArray]

    def __repr__(self) -> str:
        return f"WordLook({len(self.tokens)} words, {len(self.arrays)} arrays)"

    def __getitem__(self, name: str) -> LabelledArray:
        if name not in self.arrays:
            raise UserError(
                f"{name} is not among the numbers", where="look", hint=f"There are {', '.join(self.arrays)}."
            )
        return self.arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    @property
    def names(self) -> tuple[str, ...]:
        """What there is."""
        return tuple(self.arrays)

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers."""
        return sum(array.values.nbytes for array in self.arrays.values())

    def check(self) -> list[SanityCheck]:
        """Measure that cosines are those by which neighbours are found, and that scores are products of rows.

        Raises:
            InexactError: if one is not.
        """
        found, cosines = self.arrays, self.arrays["cosines"].values
        words = [token.display for token in self.tokens if found["lengths"].values[token.position] > 0]
        places = [token.position for token in self.tokens if found["lengths"].values[token.position] > 0]
        asked = [[self.vectors.similarity(one, other) for other in words] for one in words]
        checks = [
            SanityCheck("cosines are those of similar()", _apart(cosines[numpy.ix_(places, places)], asked), ROUNDING)
        ]
        if "scores" in found:
            rows, others = (found[name].values.astype(numpy.float64) for name in ("input_vectors", "output_vectors"))
            products = numpy.array([[float((a * b).sum()) for b in others] for a in rows])
            checks.append(SanityCheck("scores are input · output", _apart(found["scores"].values, products), ROUNDING))
        return raise_if_broken(checks)

    def view(self, name: str = "") -> View:
        """Return a view; `VECTOR_VIEWS` has the names, cosines unless given.

        Raises:
            UsageError: for a view that does not exist.
            UserError: for scores where the other matrix was not kept.
        """
        name = name or "cosines"
        if name not in VECTOR_VIEWS:
            raise UsageError(
                f"word vectors have no view {name}", where="--view", hint=f"They have {', '.join(VECTOR_VIEWS)}."
            )
        title, make = VECTOR_VIEWS[name]
        reading, arrays, chart, table = make(self)
        return View(name, title, reading, arrays, chart, table)

    def chart(self, view: str = "") -> Chart:
        """Return a picture as a chart of Altair."""
        return self.view(view).chart()

    def show(self, view: str = "") -> Chart:
        """Show a picture in a notebook: what a cell ends in is shown."""
        return self.chart(view)

    def save(self, path: str | Path, view: str = "", *, dark: bool = False) -> None:
        """Write a picture: .png, .svg, .json (Vega-Lite) or .html; the page has all views unless one is named."""
        if Path(path).suffix.lower() != ".html":
            save_chart(self.chart(view), path, dark=dark)
            return
        names = [view] if view else [name for name in VECTOR_VIEWS if name != "scores" or "scores" in self.arrays]
        about = f"{self.vectors!r}; every number is the vectors' own."
        write_text(path, page(self.text, (("words", self.tokens),), about, [self.view(name) for name in names]))

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "text": self.text,
            "tokens": [token.as_dict() for token in self.tokens],
            "arrays": {name: array.as_dict() for name, array in self.arrays.items()},
        }


_Made = tuple[str, tuple[LabelledArray, ...], Callable[[], Chart], ViewTable | None]


def _numbers(vectors: "KeyedVectors", words: tuple[str, ...], rows: list[int]) -> dict[str, LabelledArray]:
    axis, width = Axis("word", words), numbered_axis("d_model", vectors.dim)
    mine = vectors.input_vectors[rows]
    wide = mine.astype(numpy.float64)
    lengths = numpy.linalg.norm(wide, axis=1)
    unit = wide / numpy.where(lengths > 0, lengths, 1.0)[:, None]
    found = [
        LabelledArray("input_vectors", mine, (axis, width), "–", "the vectors of the words"),
        LabelledArray("lengths", lengths, (axis,), "length", "lengths of the vectors"),
        LabelledArray("cosines", unit @ unit.T, (axis, Axis("other", words)), "cosine", "cosine of two words' vectors"),
    ]
    if vectors.output_vectors is not None:
        others = vectors.output_vectors[rows]
        scores = wide @ others.astype(numpy.float64).T
        pair = (Axis("centre", words), Axis("context", words))
        share = 1 / (1 + numpy.exp(-scores))
        found += [
            LabelledArray("output_vectors", others, (axis, width), "–", "the other matrix of the training"),
            LabelledArray("scores", scores, pair, "nats", "input · output: how well a context fits a centre"),
            LabelledArray("probabilities", share, pair, "share", "σ(score): of the pair being a true one, not noise"),
        ]
    return {array.name: array for array in found}


def _cosines(look: WordLook) -> _Made:
    cosines = look["cosines"]
    return "1: the same direction, 0: nothing in common, below: opposed.", (cosines,), lambda: heat_map(cosines), None


def _scores(look: WordLook) -> _Made:
    if "scores" not in look:
        raise UserError(
            "the other matrix of the training was not kept: there are no scores",
            where="--view",
            hint="Train again and keep the output vectors, or choose another view.",
        )
    scores = look["scores"]
    reading = "A row is a word in the middle of a window, a column one beside it; above 0: more often than noise."
    return reading, (scores, look["probabilities"]), lambda: heat_map(scores), None


def _neighbours(look: WordLook) -> _Made:
    words = list(dict.fromkeys(token.display for token in look.tokens))
    words = [word for word in words if numpy.any(look.vectors[word])]
    found = [look.vectors.similar(word, NEAREST) for word in words]
    count = max(map(len, found), default=0)
    names = [[one.word for one in row] + [""] * (count - len(row)) for row in found]
    values = numpy.full((len(words), count), numpy.nan)
    for i, row in enumerate(found):
        values[i, : len(row)] = [one.score for one in row]
    cosines = LabelledArray(
        "neighbours",
        values,
        (Axis("word", tuple(words)), numbered_axis("rank", count)),
        "cosine",
        "cosine with a neighbour",
    )
    table = ViewTable(
        ["word", "nearest", "cosine"],
        [[word, one.word, one.score] for word, row in zip(words, found, strict=True) for one in row],
    )
    chart = lambda: token_grid(names, cosines, is_log=False)  # noqa: E731
    return "The words of highest cosine, the best first.", (cosines,), chart, table


def _map(look: WordLook) -> _Made:
    rows = look["input_vectors"].values.astype(numpy.float64)
    u, s, _ = numpy.linalg.svd(rows - rows.mean(0), full_matrices=False)
    places = numpy.zeros((len(rows), 2))
    places[:, : min(2, len(s))] = (u * s)[:, :2]
    held = float((s[:2] ** 2).sum() / max(float((s**2).sum()), 1e-300))
    array = LabelledArray(
        "map", places, (look["lengths"].axes[0], numbered_axis("axis", 2)), "–", "principal components"
    )
    return (
        f"The plane in which these words differ most; it holds {held:.0%} of that.",
        (array,),
        lambda: scatter(array),
        None,
    )


def _apart(a: Array, b: Any) -> float:
    other = numpy.asarray(b, dtype=numpy.float64)
    return float(numpy.abs(a - other).max(initial=0) / max(1.0, float(numpy.abs(other).max(initial=0))))


VECTOR_VIEWS: dict[str, tuple[str, Callable[[WordLook], _Made]]] = {
    "cosines": ("How alike the words are", _cosines),
    "scores": ("Who is expected beside whom", _scores),
    "neighbours": ("The words nearest to each", _neighbours),
    "map": ("Where the words lie", _map),
}
