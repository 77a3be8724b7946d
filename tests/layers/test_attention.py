"""`attend` and `Attention`: the plain equation, the fused kernel, masks, gradients, groups of heads."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pellucid.errors import ShapeError
from pellucid.layers.attention import Attention, HeadConfig, _attend_fused, attend
from pellucid.layers.masks import causal, not_padding
from pellucid.layers.positions import AlibiBias, AttentionPositions, Rotary
from pellucid.layers.rotary import rotary_frequencies

BATCH, HEADS, QUERY, KEY, D_HEAD = 3, 4, 6, 6, 8

# Rounding of one product and one sum of six terms of size about 1: float32 has 24 bits, bfloat16 has 8.
TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 3e-2}


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float32).to(dtype)


def three() -> tuple[Tensor, Tensor, Tensor]:
    """Return a query, a key and a value that collect gradients."""
    return (
        drawn(BATCH, HEADS, QUERY, D_HEAD, seed=1).requires_grad_(),
        drawn(BATCH, HEADS, KEY, D_HEAD, seed=2).requires_grad_(),
        drawn(BATCH, HEADS, KEY, D_HEAD, seed=3).requires_grad_(),
    )


def gradient(x: Tensor) -> Tensor:
    assert x.grad is not None
    return x.grad


def padded() -> Tensor:
    """Keys of lengths 6, 4 and 1."""
    ids = torch.tensor([[5, 5, 5, 5, 5, 5], [5, 5, 5, 5, 0, 0], [5, 0, 0, 0, 0, 0]])
    return not_padding(ids, pad_id=0)


def scattered() -> Tensor:
    """Any pairs at all, different in every head, with some rows of which nothing is allowed."""
    allowed = drawn(BATCH, HEADS, QUERY, KEY, seed=9) > 0.3
    allowed[0, 1, 2] = False
    allowed[2, 3, 5] = False
    return allowed


MASKS: dict[str, Callable[[], Tensor]] = {
    "all": lambda: torch.ones(1, 1, QUERY, KEY, dtype=torch.bool),
    "causal": lambda: causal(QUERY),
    "padding": padded,
    "causal and padding": lambda: causal(QUERY) & padded(),
    "scattered, with empty rows": scattered,
    "nothing": lambda: torch.zeros(1, 1, QUERY, KEY, dtype=torch.bool),
}


def reference(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor, bias: Tensor | None) -> Tensor:
    """Return PyTorch's own attention, an additive mask of −inf, and zeros where a row is empty; in float64."""
    group = query.shape[1] // key.shape[1]
    query, key, value = query.double(), key.double(), value.double()
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    added = torch.zeros(BATCH, HEADS, QUERY, KEY, dtype=torch.float64).masked_fill(~allowed, -math.inf)
    added = added if bias is None else added + bias.double()
    return F.scaled_dot_product_attention(query, key, value, added).nan_to_num(0.0)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("biased", [False, True], ids=["", "alibi"])
@pytest.mark.parametrize("mask", MASKS)
def test_explicit_and_fused_give_what_pytorch_gives(mask: str, biased: bool, kv_heads: int, dtype: torch.dtype) -> None:
    query = drawn(BATCH, HEADS, QUERY, D_HEAD, seed=1, dtype=dtype)
    key = drawn(BATCH, kv_heads, KEY, D_HEAD, seed=2, dtype=dtype)
    value = drawn(BATCH, kv_heads, KEY, D_HEAD, seed=3, dtype=dtype)
    allowed = MASKS[mask]()
    bias = AlibiBias(HEADS).score_bias(torch.arange(QUERY), torch.arange(KEY)) if biased else None
    explicit = attend(query, key, value, allowed, bias=bias)
    group = HEADS // kv_heads
    fused = _attend_fused(query, key.repeat_interleave(group, 1), value.repeat_interleave(group, 1), allowed, bias, 0.0)
    expected = reference(query, key, value, allowed, bias)
    assert explicit.dtype == fused.dtype == dtype
    torch.testing.assert_close(explicit.double(), expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    torch.testing.assert_close(fused.double(), expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("mask", MASKS)
def test_explicit_and_fused_have_the_same_gradients(mask: str) -> None:
    explicit, fused = three(), three()
    attend(*explicit, MASKS[mask]()).square().sum().backward()
    _attend_fused(*fused, MASKS[mask](), None, 0.0).square().sum().backward()
    for one, other in zip(explicit, fused, strict=True):
        # Up to 18 products of numbers up to 10 are summed, and the gradient of a row of one key cancels to 0.
        torch.testing.assert_close(gradient(one), gradient(other), atol=1e-4, rtol=1e-5)


def test_a_score_difference_of_ln_4_mixes_eight_tenths_and_two_tenths() -> None:
    """With d_head 1 the scores are q·k: ln 4 and 0, so the weights are 4/5 and 1/5 and the mix is 0.8·10 + 0.2·20."""
    query = torch.tensor([[[[1.0]]]])
    key = torch.tensor([[[[math.log(4)], [0.0]]]])
    value = torch.tensor([[[[10.0], [20.0]]]])
    head_output = attend(query, key, value, torch.ones(1, 1, 1, 2, dtype=torch.bool))
    torch.testing.assert_close(head_output, torch.tensor([[[[12.0]]]]))


def test_scores_are_divided_by_the_root_of_d_head() -> None:
    seen: dict[str, Tensor] = {}
    ones = torch.ones(1, 1, 1, 16)
    attend(ones, ones, ones, torch.ones(1, 1, 1, 1, dtype=torch.bool), tap=lambda name, x: seen.setdefault(name, x))
    assert seen["scores"].item() == 4.0  # 16 / √16


@pytest.mark.parametrize("mask", MASKS)
def test_weights_are_zero_where_forbidden_and_rows_sum_to_one_or_are_empty(mask: str) -> None:
    seen: dict[str, Tensor] = {}
    query, key, value = three()
    allowed = MASKS[mask]().expand(BATCH, HEADS, QUERY, KEY)
    attend(query * 5, key, value, allowed, tap=lambda name, x: seen.setdefault(name, x))
    weights = seen["weights"]
    assert (weights >= 0).all()
    assert (weights[~allowed] == 0).all()
    torch.testing.assert_close(weights.sum(-1), allowed.any(-1).float(), atol=1e-6, rtol=0)
    assert list(seen) == ["scores", "weights", "head_output"]


def test_a_row_with_nothing_allowed_gives_zeros_and_finite_gradients() -> None:
    for run in (attend, lambda q, k, v, allowed: _attend_fused(q, k, v, allowed, None, 0.0)):
        parts, allowed = three(), scattered()
        empty = ~allowed.any(-1)
        head_output = run(*parts, allowed)
        head_output.sum().backward()
        assert empty.sum() >= 2
        assert (head_output[empty] == 0).all()
        assert all(gradient(part).isfinite().all() for part in parts)
        assert (gradient(parts[0])[empty] == 0).all()


def test_the_future_has_no_part_in_any_gradient() -> None:
    """∂out_t/∂key_s and ∂out_t/∂value_s are 0, exactly, for s > t; without the mask they are not."""
    for allowed, blind in ((causal(QUERY), True), (torch.ones(1, 1, QUERY, KEY, dtype=torch.bool), False)):
        for t in range(QUERY - 1):
            query, key, value = three()
            attend(query, key, value, allowed)[:, :, t].square().sum().backward()
            for part in (key, value):
                assert bool((gradient(part)[:, :, t + 1 :] == 0).all()) is blind


@given(st.permutations(range(KEY)))
def test_the_order_of_keys_does_not_matter(order: list[int]) -> None:
    query, key, value = three()
    head_output = attend(query, key, value, scattered())
    shuffled = attend(query, key[:, :, order], value[:, :, order], scattered()[..., order])
    torch.testing.assert_close(head_output, shuffled, atol=1e-5, rtol=1e-5)


def test_what_stands_at_forbidden_places_does_not_matter() -> None:
    query, key, value = three()
    hidden = ~padded().transpose(-1, -2)
    loud_key, loud_value = key.masked_fill(hidden, 1e4), value.masked_fill(hidden, -1e4)
    assert torch.equal(attend(query, key, value, padded()), attend(query, loud_key, loud_value, padded()))


def test_extreme_scores_neither_overflow_nor_lose_the_row() -> None:
    query = torch.full((1, 1, 2, 4), 1e15)
    key = torch.stack((torch.full((4,), 1e15), torch.full((4,), -1e15)))[None, None]
    value = torch.tensor([[1.0] * 4, [2.0] * 4])[None, None]
    head_output = attend(query, key, value, torch.ones(1, 1, 2, 2, dtype=torch.bool))
    assert torch.equal(head_output, torch.ones(1, 1, 2, 4))


@pytest.mark.parametrize(
    ("key", "value"),
    [((1, 4, 5, 8), (1, 4, 6, 8)), ((1, 3, 5, 8), (1, 3, 5, 8)), ((1, 4, 5, 8), (1, 2, 5, 8))],
    ids=["lengths differ", "heads do not divide", "heads of key and value differ"],
)
def test_shapes_that_do_not_fit_are_refused(key: tuple[int, ...], value: tuple[int, ...]) -> None:
    attend_unchecked = getattr(attend, "__wrapped__", attend)  # below the tests' own check of shapes
    with pytest.raises(ShapeError, match="do not match"):
        attend_unchecked(drawn(1, 4, 5, 8), drawn(*key), drawn(*value), torch.ones(1, 1, 5, 5, dtype=torch.bool))


def test_dropout_leaves_the_expected_weight_and_is_off_in_eval() -> None:
    torch.manual_seed(1)
    one = torch.ones(1, 1, 500, 1)
    allowed = torch.ones(1, 1, 1, 500, dtype=torch.bool)
    kept = attend(one, one, one, allowed, dropout=0.25)
    assert not torch.equal(kept, one)
    assert abs(kept.mean().item() - 1) < 0.01  # of 250,000 weights, scaled by 1/0.75: 8 standard deviations
    for dropout in (0.0, 0.5):
        module = attention(dropout=dropout).eval()
        x = drawn(2, 5, 16)
        assert torch.equal(looked(module, x), looked(attention(dropout=0.0).eval(), x))
    busy = attention(dropout=0.5).train()
    assert not torch.equal(looked(busy, x), looked(busy, x))


def attention(kv_heads: int = 4, dropout: float = 0.0, rotary: bool = False) -> Attention:
    torch.manual_seed(3)
    return Attention(
        16,
        HeadConfig(4, kv_heads, 4),
        True,
        dropout,
        Rotary(rotary_frequencies(4, 10_000.0)) if rotary else AttentionPositions(),
    )


def looked(module: Attention, x: Tensor) -> Tensor:
    positions = torch.arange(x.shape[1])
    out: Tensor = module(x, module.key_value(x, positions), causal(x.shape[1]), positions)
    return out


def test_many_heads_are_the_papers_equation() -> None:
    """Head h projects with its own rows of W, attends alone, and its mix goes through its own columns of W_O."""
    module, x = attention(kv_heads=2), drawn(2, 5, 16, seed=5)
    expected = module.output.bias.expand(2, 5, 16).clone()
    for head in range(4):
        rows, shared = slice(4 * head, 4 * head + 4), slice(4 * (head // 2), 4 * (head // 2) + 4)
        query = x @ module.query.weight[rows].T + module.query.bias[rows]
        key = x @ module.key.weight[shared].T + module.key.bias[shared]
        value = x @ module.value.weight[shared].T + module.value.bias[shared]
        scores = (query @ key.transpose(1, 2) / 2).masked_fill(~causal(5)[0], -math.inf)
        expected = expected + scores.softmax(-1) @ value @ module.output.weight[:, rows].T
    torch.testing.assert_close(looked(module, x), expected, atol=1e-6, rtol=1e-5)


def test_rotary_attention_does_not_change_when_all_positions_move_alike() -> None:
    module, x = attention(rotary=True), drawn(2, 5, 16, seed=6)
    here, there = torch.arange(5), torch.arange(5) + 300
    moved = module(x, module.key_value(x, there), causal(5), there)
    torch.testing.assert_close(module(x, module.key_value(x, here), causal(5), here), moved, atol=1e-5, rtol=1e-5)
    stretched = module(x, module.key_value(x, here * 2), causal(5), here * 2)
    assert not torch.allclose(moved, stretched, atol=1e-3)
