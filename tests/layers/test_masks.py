"""Masks: who may look at whom."""

import torch

from pellucid.layers.masks import causal, not_padding


def test_causal_lets_each_look_at_itself_and_before() -> None:
    assert causal(3)[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_padding_is_looked_at_by_nobody() -> None:
    mask = not_padding(torch.tensor([[4, 9, 9], [4, 4, 2]]), pad_id=9)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, False, False], [True, True, True]]
