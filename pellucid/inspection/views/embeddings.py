"""Views of the token embeddings of a text."""

from collections.abc import Sequence

import numpy

from pellucid.inspection.embeddings import embedding_map, embedding_neighbours
from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.tokens import Token, labels
from pellucid.inspection.views.charts import scatter, token_grid
from pellucid.inspection.views.view import View, ViewRequest, ViewTable

__all__ = ["map_view", "neighbours_view"]

NEAREST = 5


def neighbours_view(request: ViewRequest) -> View:
    """Draw the nearest tokens of each token of the text."""
    stack, tokens = _unique_tokens(request)
    found = [embedding_neighbours(request.look.inspected, token.id, NEAREST, stack) for token in tokens]
    names = [list(neighbours.labels("token")) for neighbours in found]
    values = numpy.stack([neighbours.values for neighbours in found])
    axes = (Axis("token", labels(tokens)), numbered_axis("rank", values.shape[1], start=1))
    meaning = "cosine of a token's embedding with the nearest ones"
    cosines = LabelledArray(f"{stack}.neighbours", values, axes, "cosine", meaning)
    table = ViewTable(
        ["token", "nearest", "cosine"],
        [
            [token.display, name, float(cosine)]
            for token, nearest, row in zip(tokens, names, values, strict=True)
            for name, cosine in zip(nearest, row, strict=True)
        ],
    )
    reading = f"For each token of the text, the tokens with the most similar embeddings in the {stack}, nearest first."
    return View(reading, (cosines,), lambda: token_grid(names, cosines, is_log=False), table)


def map_view(request: ViewRequest) -> View:
    """Draw the embeddings of the text's tokens in two dimensions."""
    stack, tokens = _unique_tokens(request)
    points, shares = embedding_map(request.look.inspected, [token.id for token in tokens], stack)
    reading = (
        f"The two directions in which the embeddings of these tokens differ most: {sum(shares):.0%} of their variance; "
        "the rest is not visible here."
    )
    return View(reading, (points,), lambda: scatter(points))


def _unique_tokens(request: ViewRequest) -> tuple[str, Sequence[Token]]:
    """Return the first stack, and every token that it read, once."""
    stack, tokens = ("encoder", request.look.source) if request.look.source else ("decoder", request.look.target)
    return stack, list({token.id: token for token in reversed(tokens)}.values())[::-1]
