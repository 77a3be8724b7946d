"""M5: order matters."""

from collections.abc import Callable

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import small_decoder

__all__ = ["CLAIM", "measure"]

_DIFFERENT = Text(
    "‖AB − BA‖ relative to ‖AB‖ + ‖BA‖: a hundredth is far above rounding (1e-15)",
    "‖AB − BA‖ 与 ‖AB‖ + ‖BA‖ 之比：百分之一远高于舍入（1e-15）",
)


def _turn(angle: float) -> numpy.ndarray:
    return numpy.array([[numpy.cos(angle), -numpy.sin(angle)], [numpy.sin(angle), numpy.cos(angle)]])


def measure(seed: int, multiply: Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray] = numpy.matmul) -> Evidence:
    """Multiply matrices both ways: those of a model's attention, and pairs known as exceptions."""
    general = []
    for block in small_decoder(seed, n_layers=4).double().blocks():
        a, b = (part.weight.detach().numpy() for part in (block.self_attention.query, block.self_attention.value))
        general.append(("matrices of a model", a, b))
    first = general[0][1]
    special = [
        ("two rotations of the plane", _turn(0.4), _turn(1.1)),
        ("two diagonal matrices", numpy.diag([1.0, 2.0, 3.0]), numpy.diag([5.0, 0.5, 2.0])),
        ("a matrix and its square", first, first @ first),
        ("a matrix and the identity", first, numpy.eye(len(first))),
    ]
    records = [
        {"pair": name, "difference": _difference(multiply(a, b), multiply(b, a))} for name, a, b in general + special
    ]
    sizes = [record["difference"] for record in records]
    titles = {
        "pair": Text("pair", "矩阵对"),
        "difference": Text("relative difference of AB and BA", "AB 与 BA 的相对差"),
    }
    return Evidence(
        exact_values(
            least_difference_of_a_models_matrices=min(sizes[: len(general)]),
            least_difference_of_exceptions=min(sizes[len(general) :]),
            largest_difference_of_exceptions=max(sizes[len(general) :]),
        ),
        records,
        Figure("bar", "pair", "difference", None, titles),
    )


def _difference(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(numpy.linalg.norm(one - other) / (numpy.linalg.norm(one) + numpy.linalg.norm(other)))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="M5",
    statement=Text("Order matters: AB ≠ BA.", "次序有影响：AB ≠ BA。"),
    equation="AB ≠ BA",
    measured=Text(
        "W_Q W_V and W_V W_Q of four blocks, and four kinds of pairs that are exceptions",
        "四个块的 W_Q W_V 与 W_V W_Q，以及四类例外",
    ),
    rule=Rule(
        holds=(at_least("least_difference_of_a_models_matrices", 0.01, _DIFFERENT),),
        beyond=(at_least("least_difference_of_exceptions", 0.01, _DIFFERENT),),
        condition=Text(
            "the two do not share their eigenvectors: rotations of one plane, diagonal matrices, powers of one "
            "matrix do",
            "两者不共有同一组特征向量；同一平面的旋转、对角矩阵、同一矩阵的幂则共有，因而可交换",
        ),
    ),
    reading=Text(
        "Two matrices drawn at random practically never commute. The exception that matters in a Transformer is "
        "rotations "
        "of the same plane: their angles add up in any order, so that R(m)ᵀ R(n) = R(n − m), and this is what makes "
        "rotary positions relative (P8).",
        "随机取的两个矩阵几乎不会可交换。Transformer 里要紧的例外是同一平面内的旋转：不论次序，角度只是相加，所以 "
        "R(m)ᵀR(n) = R(n − m)，旋转位置编码由此只依赖相对位置（P8）。",
    ),
    sources=("Strang 2016, §2.4",),
    run=_run,
)
