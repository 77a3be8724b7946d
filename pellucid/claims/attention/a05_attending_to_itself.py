"""A5: with Q = K = X each word attends to itself most."""

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import no_mask, torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

_LENGTH = 16
_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def _weights(x: Tensor, y: Tensor | None = None) -> Tensor:
    activations = Activations()
    attend(
        x[None, None],
        (x if y is None else y)[None, None],
        x[None, None],
        no_mask(_LENGTH),
        activations,
    )
    return activations["weights"][0, 0]


def measure(seed: int, trials: int = 20, keys_of: Tensor | None = None) -> Evidence:
    """Count the words that attend to themselves most: vectors of one length, and some of which one is long.

    Args:
        keys_of: what keys are made by from vectors of 8 numbers, [8 8]; the identity if not given.
    """
    random, records = torch_generator(seed, "A5"), []
    shares: dict[str, list[float]] = {"equal": [], "one long": []}
    for _ in range(trials):
        x = torch.nn.functional.normalize(torch.randn(_LENGTH, 8, generator=random), dim=1)
        longer = x.clone()
        longer[0] *= 20
        for name, vectors in (("equal", x), ("one long", longer)):
            weights = _weights(vectors, None if keys_of is None else vectors @ keys_of)
            shares[name].append(float((weights.argmax(1) == torch.arange(_LENGTH)).float().mean()))
    distances = {}
    for d in _WIDTHS:
        x = torch.randn(_LENGTH, d, generator=random)
        for name, factor in (("with 1/√d", 1.0), ("without", d**0.25)):
            weights = _weights(x * factor)
            distances[name, d] = float((weights - torch.eye(_LENGTH)).norm(dim=1).mean())
            records.append({"d": d, "scaling": name, "distance": distances[name, d]})
    titles = {
        "d": Text("numbers of a vector, d", "向量维数 d"),
        "distance": Text("distance of the weights from the identity", "权重与恒等矩阵之距"),
        "scaling": Text("scaling", "缩放"),
    }
    numbers = exact_values(
        share_looking_at_themselves=sum(shares["equal"]) / trials,
        share_looking_at_themselves_beside_a_long_vector=sum(shares["one long"]) / trials,
        distance_from_identity_d_512=distances["with 1/√d", 512],
        distance_from_identity_d_512_unscaled=distances["without", 512],
    )
    return Evidence(numbers, records, Figure("line", "d", "distance", "scaling", titles, log_x=True))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_ALL = Text("each word, so the share is 1; 0.999 leaves room for ties", "说的是每个词，所以份额为 1；0.999 留给并列")

CLAIM = Claim(
    id="A5",
    statement=Text(
        "With Q = K = X each word attends to itself most (“narcissism”).", "若 Q = K = X，每个词最关注自己（“自恋”）。"
    ),
    equation="x_i · x_i ≥ x_i · x_j  if ‖x_i‖ = ‖x_j‖",
    measured=Text(
        "twenty times sixteen random vectors: the share whose largest weight is their own, with equal norms and "
        "with one "
        "vector twenty times as long; distance of the weights from the identity by width, with and without 1/√d",
        "二十组、每组十六个随机向量：最大权重落在自己身上的比例，分等长与其中一个长二十倍两种；权重离恒等矩阵的距离"
        "随维数的变化，分除与不除 √d",
    ),
    rule=Rule(
        holds=(at_least("share_looking_at_themselves", 0.999, _ALL),),
        beyond=(at_least("share_looking_at_themselves_beside_a_long_vector", 0.999, _ALL, fails_at=0.9),),
        condition=Text(
            "the vectors have equal norms (Cauchy–Schwarz), or nearly so, as independent entries in many dimensions "
            "have; "
            "beside a long vector the others look at it",
            "各向量等长（柯西–施瓦茨），或像高维独立分量那样近乎等长；旁边若有一个长向量，别的词就去看它",
        ),
    ),
    reading=Text(
        "For independent entries the own product is d and the others have deviation √d: divided by √d, the lead "
        "grows as "
        "√d, so attention without projections becomes the identity map as vectors grow wider, and unscaled it is "
        "that from "
        "few dimensions on. Projections end it, and the norm before attention makes lengths equal in the first place.",
        "分量独立时，与自己的点积约为 d，与他人的标准差为 √d；除以 √d 之后领先幅度按 √d 增长，所以不投影的注意力随维"
        "数变宽趋于恒等映射，"
        "不缩放时很低的维数就已如此。投影终结了它，而注意力之前的归一化使长度先变得相等。",
    ),
    sources=("Vaswani et al. 2017, §3.2.1",),
    run=_run,
)
