"""The embedding matrix of a model: nearest neighbours, and a map in two dimensions."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.recording import InspectedModel
from pellucid.inspection.structure import find_stack

__all__ = ["embedding_map", "embedding_neighbours"]


def embedding_neighbours(
    inspected: InspectedModel, token: int, count: int = 10, stack: str = "encoder"
) -> LabelledArray:
    """Find the tokens whose embeddings have the highest cosine with a token's, best first, [token].

    Raises:
        UserError: for an id that is not in the vocabulary.
    """
    rows = _embeddings(inspected, stack)
    if not 0 <= token < len(rows):
        raise UserError(
            f"id {token} is not in the vocabulary", where="token", hint=f"Ids are from 0 to {len(rows) - 1}."
        )
    rows = torch.nn.functional.normalize(rows, dim=-1)
    cosines = rows @ rows[token]
    cosines[token] = -torch.inf
    best = cosines.topk(min(count, len(rows) - 1))
    (own,) = _displays(inspected, [token], stack)
    axis = Axis("token", _displays(inspected, best.indices.tolist(), stack))
    meaning = f"cosine with the embedding of {own}"
    return LabelledArray(f"{stack}.embedding_neighbours", best.values.numpy(), (axis,), "cosine", meaning)


def embedding_map(
    inspected: InspectedModel, ids: Sequence[int], stack: str = "encoder"
) -> tuple[LabelledArray, tuple[float, float]]:
    """Project embeddings onto their two principal components.

    Returns:
        Coordinates, [token axis], and the share of the variance on each axis: two dimensions cannot show what hundreds
        hold.
    """
    rows = _embeddings(inspected, stack)[list(ids)]
    rows = rows - rows.mean(0)
    u, s, _ = torch.linalg.svd(rows, full_matrices=False)
    points = (u[:, :2] * s[:2]).numpy()
    total = float((s**2).sum()) or 1.0
    shares = [*(float(x**2) / total for x in s[:2]), 0.0]
    axes = (Axis("token", _displays(inspected, ids, stack)), numbered_axis("axis", points.shape[1]))
    meaning = "principal components of the embeddings"
    return LabelledArray(f"{stack}.embedding_map", points, axes, "–", meaning), (shares[0], shares[1])


def _embeddings(inspected: InspectedModel, stack: str) -> Tensor:
    return find_stack(inspected.model, stack).embedding.weight.detach().double().cpu()


def _displays(inspected: InspectedModel, ids: Sequence[int], stack: str) -> tuple[str, ...]:
    tokenizer = inspected.tokenizer(find_stack(inspected.model, stack).side)
    return tuple(tokenizer.pieces_from_ids([i])[0].display for i in ids)
