"""Views of the words that a text is made of, as the embedding matrix has them."""

from collections.abc import Sequence

import numpy

from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.tokens import Token
from pellucid.inspection.views.charts import scatter, token_grid
from pellucid.inspection.views.view import View, ViewRequest, ViewTable
from pellucid.inspection.words import embedding_map, embedding_neighbours

__all__ = ["map_view", "neighbours_view"]

NEAREST = 5


def neighbours_view(request: ViewRequest) -> View:
    """Make the view."""
    stack, tokens = _read(request)
    found = [embedding_neighbours(request.look.inspected, token.id, NEAREST, stack) for token in tokens]
    names = [list(one.labels("token")) for one in found]
    values = numpy.stack([one.values for one in found])
    axes = (Axis("token", tuple(token.display for token in tokens)), numbered_axis("rank", values.shape[1]))
    cosines = LabelledArray(
        f"{stack}.neighbours", values, axes, "cosine", "cosine of a token's embedding with those nearest to it"
    )
    table = ViewTable(
        ["token", "nearest", "cosine"],
        [
            [token.display, name, float(cosine)]
            for token, own, row in zip(tokens, names, values, strict=True)
            for name, cosine in zip(own, row, strict=True)
        ],
    )
    reading = f"For each token of the text those whose embeddings in the {stack} point the same way, the nearest first."
    return View("", "", reading, (cosines,), lambda: token_grid(names, cosines, is_log=False), table)


def map_view(request: ViewRequest) -> View:
    """Make the view."""
    stack, tokens = _read(request)
    places, shares = embedding_map(request.look.inspected, [token.id for token in tokens], stack)
    reading = (
        f"The plane in which the embeddings of these tokens differ most; it holds {sum(shares):.0%} of how they "
        "differ, the rest is not seen."
    )
    return View("", "", reading, (places,), lambda: scatter(places))


def _read(request: ViewRequest) -> tuple[str, Sequence[Token]]:
    """Return a stack, and every token that it read, once."""
    stack, tokens = ("encoder", request.look.source) if request.look.source else ("decoder", request.look.target)
    return stack, list({token.id: token for token in reversed(tokens)}.values())[::-1]
