"""R4: the factor is at least 1, so the gradient never vanishes."""

import torch
from torch import Tensor, nn

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import random_ids, small_decoder, torch_generator
from pellucid.layers.block import PreNorm

__all__ = ["CLAIM", "measure"]

_D = 32


def jacobians(seed: int) -> dict[str, Tensor]:
    """Return I + J_F of each block of a fresh network, for one token among ten, [32 32]."""
    model, ids, found = small_decoder(seed, n_layers=4), random_ids(seed, 1, 10), {}
    activations = Activations()
    with torch.no_grad():
        model.states(ids, activations)
    positions, mask = torch.arange(10), torch.ones(1, 1, 10, 10, dtype=torch.bool).tril()
    for number, block in enumerate(model.blocks()):
        entered = activations[f"decoder.{number}.residual.input"]

        def last(x: Tensor, block: nn.Module = block, entered: Tensor = entered) -> Tensor:
            out: Tensor = block(torch.cat((entered[:, :-1], x[None, None]), 1), mask, positions)[0, -1]
            return out

        found[f"block {number + 1}"] = torch.autograd.functional.jacobian(last, entered[0, -1])
    return found


def _taken_back() -> float:
    """Return the factor of a block whose part is x ↦ −x: what comes in is taken away again."""
    block, x = PreNorm(nn.Identity(), 0.0), torch.ones(1, 1, 1)
    return float(torch.autograd.functional.jacobian(lambda z: block(z, torch.neg), x))


def measure(seed: int, factors: dict[str, Tensor] | None = None) -> Evidence:
    """Find the singular values of I + J_F of real blocks, and a block that takes everything away."""
    matrices = factors if factors is not None else jacobians(seed)
    records = [
        {"block": name, "direction": n + 1, "factor": float(value)}
        for name, matrix in matrices.items()
        for n, value in enumerate(torch.linalg.svdvals(matrix))
    ]
    values = [float(value) for matrix in matrices.values() for value in torch.linalg.svdvals(matrix)]
    random = torch_generator(seed, "R4")
    vectors = torch.randn(500, _D, generator=random)
    lengths = [float(((vectors @ matrix).norm(dim=1) / vectors.norm(dim=1)).mean()) for matrix in matrices.values()]
    titles = {
        "direction": Text("direction, longest first", "方向（由大到小）"),
        "factor": Text("factor", "因子"),
        "block": Text("block", "块"),
    }
    numbers = exact_values(
        least_factor=min(values),
        share_of_factors_below_one=sum(value < 1 for value in values) / len(values),
        mean_factor_of_a_random_gradient=sum(lengths) / len(lengths),
        factor_where_the_part_is_minus_x=_taken_back(),
    )
    return Evidence(numbers, records, Figure("line", "direction", "factor", "block", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="R4",
    statement=Text("The factor is at least 1, so the gradient never vanishes.", "因子至少为 1，所以梯度永不消失。"),
    equation="|F′ + 1| ≥ 1 ?",
    measured=Text(
        "all singular values of I + J_F of four blocks of a fresh network; the mean factor of random gradients; and "
        "a block "
        "whose part is −x",
        "新网络四个块的 I + J_F 的全部奇异值；随机梯度的平均因子；以及所加部分为 −x 的块",
    ),
    rule=Rule(
        (
            at_least(
                "least_factor",
                1.0,
                Text(
                    "the statement says at least 1, of every direction; 0.99 would already break it",
                    "命题说每个方向都至少为 1；0.99 就已违反",
                ),
                fails_at=0.99,
            ),
        ),
        instead=Text(
            "F′ may be negative, down to taking x away altogether; what holds is that on average over random "
            "directions the "
            "sum does not shrink gradients, and that a block that adds little is near the identity",
            "F′ 可以为负，乃至把 x 整个减掉；成立的是：对随机方向取平均，相加不会缩小梯度，而所加甚少的块接近恒等",
        ),
    ),
    reading=Text(
        "In one dimension F′ + 1 ≥ 1 asks for F′ ≥ 0, which nobody promises; networks do use negative parts, to "
        "erase what "
        "is no longer needed from the stream (Elhage et al. 2021). What protects is that the identity and J_F are "
        "nearly "
        "independent at the start, so that squared lengths grow by 1 + ‖J_F‖²/d on average, and that products of "
        "many such matrices "
        "have a spread which depth widens (Hanin & Nica 2020).",
        "一维时 F′ + 1 ≥ 1 要求 F′ ≥ 0，没有人保证这一点；网络也确实用负的部分从流中擦去不再需要的东西（Elhage 等 "
        "2021）。"
        "真正的保护在于：起初单位矩阵与 J_F 近乎独立，长度的平方平均变为 1 + ‖J_F‖²/d 倍；"
        "而许多这样的矩阵相乘，其离散度随深"
        "度变宽（Hanin 与 Nica 2020）。",
    ),
    sources=("He et al. 2016b", "Elhage et al. 2021", "Hanin & Nica 2020, Products of Many Large Random Matrices"),
    run=_run,
)
