"""M6: rank and eigenvalues tell what a map does."""

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_text import demo_vectors
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.texts import EXACTLY_NONE, ROUNDING_64
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure", "normal_matrices"]

_SHEAR = numpy.array([[1.0, 1.0], [0.0, 1.0]])


def normal_matrices(seed: int) -> list[numpy.ndarray]:
    """Return matrices that commute with their transposes: symmetric ones and rotations, some of low rank."""
    draw, found = generator(seed, "M6"), []
    for rank in (2, 5, 12):
        columns = numpy.linalg.qr(draw.standard_normal((12, 12)))[0]
        found.append((columns[:, :rank] * draw.uniform(-3, 3, rank)) @ columns[:, :rank].T)
        found.append(columns)
    return found


def measure(matrices: list[numpy.ndarray], w_in: numpy.ndarray) -> Evidence:
    """Compare eigenvalues with stretches, rank with the image's dimension; and look at an embedding's stretches."""
    apart, off = 0.0, 0
    for matrix in matrices:
        eigenvalues = numpy.sort(numpy.abs(numpy.linalg.eigvals(matrix)))
        apart = max(apart, float(numpy.abs(eigenvalues - numpy.sort(numpy.linalg.svd(matrix)[1])).max()))
        # The image: as many of its vectors are independent as elimination finds pivots among images of a basis.
        off += int(abs(_pivots(matrix) - numpy.linalg.matrix_rank(matrix, tol=1e-9)))
    shear = numpy.abs(
        numpy.sort(numpy.abs(numpy.linalg.eigvals(_SHEAR))) - numpy.sort(numpy.linalg.svd(_SHEAR)[1])
    ).max()
    stretches = numpy.linalg.svd(w_in.astype(float), compute_uv=False)
    shares = stretches / stretches.sum()
    effective = float(numpy.exp(-(shares * numpy.log(shares)).sum()))
    records = [{"direction": n + 1, "stretch": float(value)} for n, value in enumerate(stretches)]
    titles = {
        "direction": Text("direction of a trained W_in, longest first", "训练所得 W_in 的方向（由长到短）"),
        "stretch": Text("singular value", "奇异值"),
    }
    numbers = exact_values(
        eigenvalues_off_stretches_of_normal_maps=apart,
        eigenvalues_off_stretches_of_a_shear=float(shear),
        rank_off_dimension_of_image=off,
        dimensions_of_w_in=len(stretches),
        effective_rank_of_w_in=effective,
    )
    return Evidence(numbers, records, Figure("line", "direction", "stretch", None, titles))


def _pivots(matrix: numpy.ndarray) -> int:
    rows, found = matrix.astype(float).copy(), 0
    for column in range(rows.shape[1]):
        pivot = found + int(numpy.abs(rows[found:, column]).argmax()) if found < len(rows) else 0
        if found == len(rows) or abs(rows[pivot, column]) < 1e-9:
            continue
        rows[[found, pivot]] = rows[[pivot, found]]
        rows[found + 1 :] -= numpy.outer(rows[found + 1 :, column] / rows[found, column], rows[found])
        found += 1
    return found


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(normal_matrices(seed), demo_vectors("zh", budget.size, seed).input_vectors)


CLAIM = Claim(
    id="M6",
    statement=Text("Rank and eigenvalues tell what a map does.", "秩和特征值说明一个变换做了什么。"),
    equation="A v = λ v;  rank A = dim image A",
    measured=Text(
        "eigenvalues against stretches (singular values) of six normal matrices and of a shear; rank against the "
        "dimension "
        "of the image; the singular values of a W_in trained on the demo language (size: sentences)",
        "六个正规矩阵与一个剪切的特征值对照伸缩（奇异值）；秩对照像的维数；以及在演示语言上训练的 W_in 的奇异值"
        "（size 为句数）",
    ),
    rule=Rule(
        holds=(
            at_most("eigenvalues_off_stretches_of_normal_maps", 1e-9, ROUNDING_64),
            at_most("rank_off_dimension_of_image", 0, EXACTLY_NONE),
        ),
        beyond=(at_most("eigenvalues_off_stretches_of_a_shear", 1e-9, ROUNDING_64),),
        condition=Text(
            "rank always; eigenvalues only for square maps that commute with their transpose: a shear has both "
            "eigenvalues 1 and stretches by 1.618; singular values tell it of every map",
            "秩总是成立；特征值只限于与自身转置可交换的方阵：剪切的两个特征值都是 1，却伸缩 1.618 倍；对任何映射都管"
            "用的是奇异值",
        ),
    ),
    reading=Text(
        "W_in is not square and has no eigenvalues at all; its singular values fall off gradually, so its rank is "
        "full and "
        "its effective rank (Roy & Vetterli 2007), the exponential of the spectrum's entropy, is what tells how many "
        "directions are in use. Removing the few longest even helps similarity (Mu & Viswanath 2018).",
        "W_in 不是方阵，根本没有特征值；它的奇异值缓缓下降，所以满秩，真正说明用了多少方向的是有效秩（Roy 与 "
        "Vetterli 2007），即谱熵的指数。"
        "去掉最长的几个方向甚至有助于相似度（Mu 与 Viswanath 2018）。",
    ),
    sources=(
        "Strang 2016, §6.1, §7.2",
        "Roy & Vetterli 2007, The Effective Rank",
        "Mu & Viswanath 2018, All-but-the-Top",
    ),
    run=_run,
    effort=Effort(Budget(size=1_500), Budget(size=8_000)),
)
