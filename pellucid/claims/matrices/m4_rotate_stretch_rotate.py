"""M4: only rotation and stretching happen."""

from collections.abc import Callable
from typing import NamedTuple

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import small_decoder
from pellucid.claims.texts import EXACTLY_NONE, ROUNDING_64

__all__ = ["CLAIM", "Parts", "measure"]


class Parts(NamedTuple):
    """A matrix taken apart: left · diag(stretches) · right."""

    left: numpy.ndarray
    stretches: numpy.ndarray
    right: numpy.ndarray


def measure(
    seed: int, take_apart: Callable[[numpy.ndarray], Parts] = lambda matrix: Parts(*numpy.linalg.svd(matrix))
) -> Evidence:
    """Take a shear and the square matrices of a model apart, put them together again, and ask for mirrors."""
    matrices = {"shear": numpy.array([[1.0, 1.0], [0.0, 1.0]])}
    for number, block in enumerate(small_decoder(seed, n_layers=6).double().blocks()):
        attention = block.self_attention
        for name, part in (
            ("W_Q", attention.query),
            ("W_K", attention.key),
            ("W_V", attention.value),
            ("W_O", attention.output),
        ):
            matrices[f"{name} {number}"] = part.weight.detach().numpy().T
    records, error, crooked, mirrors = [], 0.0, 0.0, 0
    for name, matrix in matrices.items():
        left, stretches, right = take_apart(matrix)
        error = max(error, float(numpy.abs(left @ numpy.diag(stretches) @ right - matrix).max()))
        for turn in (left, right):
            crooked = max(crooked, float(numpy.abs(turn @ turn.T - numpy.eye(len(turn))).max()))
        # Of the two orthogonal matrices one may always be chosen a rotation; then the sign of the determinant decides.
        mirror = bool(numpy.linalg.det(matrix) < 0)
        mirrors += mirror
        records.append(
            {
                "matrix": name,
                "longest": float(stretches[0]),
                "shortest": float(stretches[-1]),
                "kind": "with a mirror" if mirror else "rotations only",
            }
        )
    titles = {
        "longest": Text("longest stretch", "最大伸缩"),
        "shortest": Text("shortest stretch", "最小伸缩"),
        "kind": Text("what it takes", "需要什么"),
    }
    numbers = exact_values(
        error_of_product=error, distance_from_orthogonal=crooked, share_needing_a_mirror=mirrors / len(matrices)
    )
    return Evidence(numbers, records, Figure("point", "longest", "shortest", "kind", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="M4",
    statement=Text("Only rotation and stretching happen.", "矩阵所做的只有旋转与伸缩。"),
    equation="W = U Σ Vᵀ",
    measured=Text(
        "a shear and the 24 square matrices of a model's attention: the product of rotation, stretch, rotation "
        "against "
        "the matrix, and how many need a reflection",
        "一个剪切和模型注意力中的 24 个方阵：旋转·伸缩·旋转之积与原矩阵之差，以及多少个需要反射",
    ),
    rule=Rule(
        holds=(
            at_most("error_of_product", 1e-10, ROUNDING_64),
            at_most("distance_from_orthogonal", 1e-10, ROUNDING_64),
        ),
        beyond=(at_most("share_needing_a_mirror", 0.0, EXACTLY_NONE),),
        condition=Text(
            "reflections are allowed, and it is read as rotate, stretch along axes, rotate again (the singular value "
            "decomposition); about half of all matrices have a negative determinant and need a mirror",
            "允许反射，并理解为“旋转、沿轴伸缩、再旋转”（奇异值分解）；约一半矩阵行列式为负，离不开镜像",
        ),
    ),
    reading=Text(
        "Even a shear, which looks like neither, is two rotations with a stretch by 1.618 and 0.618 between them. "
        "The two "
        "rotations differ, so one rotation and a stretch along the axes will not do; it does if the stretch may lie "
        "along other perpendicular directions (the polar decomposition). For maps between spaces of different size "
        "the stretch also drops or adds dimensions.",
        "剪切看上去两者都不是，却也等于两个旋转中间夹一个 1.618 与 0.618 倍的伸缩。两个旋转并不相同，所以一次旋转加"
        "一次沿坐标轴的伸缩不够；若伸缩可沿别的互相垂直的方向，则够了（极分解）。"
        "若两边维数不同，伸缩那一步还会去掉或补上若干维。",
    ),
    sources=("Strang 2016, §7.4", "Eckart & Young 1936, The Approximation of One Matrix by Another of Lower Rank"),
    run=_run,
)
