"""Taps: scopes compose names; nobody looking means `keep` itself."""

import torch
from torch import Tensor

from pellucid.layers.taps import SelectiveTap, keep, scoped


def test_keep_returns_its_argument() -> None:
    x = torch.ones(2)
    assert keep("anything", x) is x


def test_scopes_compose_names() -> None:
    names: list[str] = []

    def record(name: str, x: Tensor) -> Tensor:
        names.append(name)
        return x

    scoped(scoped(record, "encoder.2"), "self_attention")("scores", torch.ones(1))
    assert names == ["encoder.2.self_attention.scores"]


def test_a_scope_where_nobody_looks_is_keep_itself() -> None:
    assert scoped(keep, "encoder.0") is keep
    only = SelectiveTap(["decoder.0.cross_attention.weights", "decoder.11.residual.output"], lambda name, x: x)
    assert scoped(only, "encoder.0") is keep
    assert scoped(only, "decoder.1") is keep  # decoder.11 begins alike
    assert scoped(scoped(only, "decoder.0"), "self_attention") is keep
    assert scoped(scoped(only, "decoder.0"), "cross_attention") is not keep


def test_only_hands_over_the_asked_names_in_full_and_may_change_them() -> None:
    seen: list[str] = []

    def double(name: str, x: Tensor) -> Tensor:
        seen.append(name)
        return 2 * x

    inner = scoped(
        scoped(SelectiveTap(["decoder.0.cross_attention.weights", "logits"], double), "decoder.0"), "cross_attention"
    )
    assert inner("weights", torch.ones(1)).item() == 2
    assert inner("scores", torch.ones(1)).item() == 1
    assert inner("logits", torch.ones(1)).item() == 1
    assert seen == ["decoder.0.cross_attention.weights"]
