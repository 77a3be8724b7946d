"""M3: the map is one-to-one and loses nothing."""

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import torch_generator
from pellucid.layers.embeddings import TokenEmbedding

__all__ = ["CLAIM", "measure"]

_LOST = Text(
    "what is stretched by less than a millionth of the longest stretch is gone in float32",
    "若某方向的伸缩不到最大伸缩的百万分之一，在 float32 中就等于丢失",
)


def measure(seed: int, wide: Tensor | None = None) -> Evidence:
    """Find the direction that a map shortens most: of a map to as many numbers or more, and of an embedding.

    Args:
        wide: of as many columns as rows, or more; drawn at random if not given.
    """
    random = torch_generator(seed, "M3")
    full = torch.randn(32, 48, generator=random, dtype=torch.float64) if wide is None else wide
    embedding = TokenEmbedding(200, 16, 1.0).double()
    with torch.no_grad():
        embedding.weight.copy_(torch.randn(200, 16, generator=random, dtype=torch.float64))
        rows = embedding.weight.detach()
    records, least = [], {}
    for name, matrix in (("32 → 48", full), ("V = 200 → D = 16", rows)):
        stretches = _stretches(matrix)
        least[name] = stretches[-1] / stretches[0]
        records += [{"map": name, "direction": n + 1, "stretch": value} for n, value in enumerate(stretches)]
    # A vector that the embedding sends to nothing: a mixture of words, none of which it sends there.
    kernel = torch.linalg.svd(rows.T).Vh[-1]
    distances = torch.pdist(rows)
    titles = {
        "direction": Text("direction, longest first", "方向（由长到短）"),
        "stretch": Text("how far it is stretched", "伸缩倍数"),
        "map": Text("map", "映射"),
    }
    return Evidence(
        exact_values(
            least_stretch_of_full_rank=least["32 → 48"],
            least_stretch_of_embedding=least["V = 200 → D = 16"],
            image_of_kernel_vector=float((kernel @ rows).norm()),
            least_distance_of_two_words=float(distances.min()),
        ),
        records,
        Figure("line", "direction", "stretch", "map", titles),
    )


def _stretches(matrix: Tensor) -> list[float]:
    """Return by how much each of the input's directions is stretched, those that vanish included."""
    values: list[float] = torch.linalg.svdvals(matrix).tolist()
    return values + [0.0] * (matrix.shape[0] - len(values))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="M3",
    statement=Text("A matrix map is one-to-one and loses nothing.", "矩阵变换是一一对应的，不丢失任何信息。"),
    equation="x W = y W ⇒ x = y",
    measured=Text(
        "the shortest stretch of any direction, relative to the longest: of a random 32 → 48 map, and of an "
        "embedding of "
        "200 words in 16 numbers, of which a vector in the kernel is exhibited",
        "各方向中最小伸缩与最大伸缩之比：随机 32→48 映射，以及 200 词 16 维的嵌入，并给出一个落在核中的向量",
    ),
    rule=Rule(
        holds=(at_least("least_stretch_of_full_rank", 1e-6, _LOST),),
        beyond=(at_least("least_stretch_of_embedding", 1e-6, _LOST),),
        condition=Text(
            "the rank equals the number of inputs: from V to D < V a whole space of V − D dimensions is sent to "
            "nothing, "
            "though the V one-hot points stay distinct",
            "秩等于输入维数：由 V 维到 D < V 维时，有 V − D 维的整个子空间被送到零，尽管 V 个独热点仍互不相同",
        ),
    ),
    reading=Text(
        "An embedding is many-to-one on mixtures of words and one-to-one on words: that suffices, since only one-hot "
        "points are ever put in. How much sparse information survives fewer dimensions is the subject of compressed "
        "sensing (Johnson & Lindenstrauss 1984; Donoho 2006). The other way round, from D back to V, the softmax "
        "cannot express every distribution: the softmax bottleneck (Yang et al. 2018).",
        "嵌入对词的混合是多对一，对词本身是一对一：这已足够，因为输入永远只有独热点。较少维数能保住多少稀疏信息，是"
        "压缩感知的课题"
        "（Johnson 与 Lindenstrauss 1984；Donoho 2006）。反方向从 D 回到 V，softmax 并不能表达所有分布，这就是 "
        "softmax 瓶颈（Yang 等 2018）。",
    ),
    sources=("Strang 2016, §3.5", "Yang et al. 2018, Breaking the Softmax Bottleneck"),
    run=_run,
)
