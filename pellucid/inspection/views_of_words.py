"""Views of the words that a text is made of, as the embedding matrix has them."""

from collections.abc import Sequence

import numpy

from pellucid.inspection.charts import scatter, token_grid
from pellucid.inspection.labelled import Axis, LabelledArray, numbered
from pellucid.inspection.tokens import Token
from pellucid.inspection.view import Asked, Table, View
from pellucid.inspection.words import embedding_map, embedding_neighbours

__all__ = ["map_view", "neighbours_view"]

NEAREST = 5


def neighbours_view(asked: Asked) -> View:
    """Make the view."""
    stack, tokens = _read(asked)
    found = [embedding_neighbours(asked.look.subject, token.id, NEAREST, stack) for token in tokens]
    names = [list(one.labels("token")) for one in found]
    values = numpy.stack([one.values for one in found])
    axes = (Axis("token", tuple(token.display for token in tokens)), numbered("rank", values.shape[1]))
    cosines = LabelledArray(
        f"{stack}.neighbours", values, axes, "cosine", "cosine of a token's embedding with those nearest to it"
    )
    table = Table(
        ["token", "nearest", "cosine"],
        [
            [token.display, name, float(cosine)]
            for token, own, row in zip(tokens, names, values, strict=True)
            for name, cosine in zip(own, row, strict=True)
        ],
    )
    reading = f"For each token of the text those whose embeddings in the {stack} point the same way, the nearest first."
    return View("", "", reading, (cosines,), lambda: token_grid(names, cosines, is_log=False), table)


def map_view(asked: Asked) -> View:
    """Make the view."""
    stack, tokens = _read(asked)
    places, shares = embedding_map(asked.look.subject, [token.id for token in tokens], stack)
    reading = (
        f"The plane in which the embeddings of these tokens differ most; it holds {sum(shares):.0%} of how they "
        "differ, the rest is not seen."
    )
    return View("", "", reading, (places,), lambda: scatter(places))


def _read(asked: Asked) -> tuple[str, Sequence[Token]]:
    """Return a stack, and every token that it read, once."""
    stack, tokens = ("encoder", asked.look.source) if asked.look.source else ("decoder", asked.look.target)
    return stack, list({token.id: token for token in reversed(tokens)}.values())[::-1]
