"""Embeddings: rows looked up, scaled; the same matrix gives logits."""

import torch

from pellucid.layers.embeddings import TokenEmbedding


def test_a_row_is_one_hot_times_the_matrix_times_the_scale() -> None:
    embedding = TokenEmbedding(5, 4, scale=2.0)
    ids = torch.tensor([[3, 0, 3]])
    one_hot = torch.eye(5)[ids]
    assert torch.equal(embedding(ids), one_hot @ embedding.weight * 2)


def test_logits_are_products_with_the_unscaled_rows() -> None:
    embedding = TokenEmbedding(5, 4, scale=2.0)
    states = torch.randn(2, 3, 4)
    torch.testing.assert_close(embedding.logits(states)[1, 2, 4], (states[1, 2] * embedding.weight[4]).sum())


def test_rows_that_are_not_looked_up_get_no_gradient() -> None:
    embedding = TokenEmbedding(5, 4, scale=2.0)
    embedding(torch.tensor([[3, 1, 3]])).square().sum().backward()
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.any(dim=1).tolist() == [False, True, False, True, False]
