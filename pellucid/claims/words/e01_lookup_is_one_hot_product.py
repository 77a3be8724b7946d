"""E1: looking a row up is one-hot times matrix."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.demo.micro_world import initial_matrices
from pellucid.layers.embeddings import TokenEmbedding

__all__ = ["CLAIM", "measure"]

LookUp = Callable[[TokenEmbedding, Tensor], Tensor]


def measure(seed: int, look_up: LookUp = lambda embedding, ids: embedding(ids)) -> Evidence:
    """Compare looking up with multiplying, for the micro world and for a thousand words."""
    micro = torch.from_numpy(initial_matrices(seed)[0])
    large = torch.randn(1000, 64, generator=torch_generator(seed, "E1"))
    records, largest = [], 0.0
    for name, matrix in (("猫 吃 鱼", micro), ("V = 1000", large)):
        vocab_size, d = matrix.shape
        embedding = TokenEmbedding(vocab_size, d, 1.0).to(matrix.dtype)
        with torch.no_grad():
            embedding.weight.copy_(matrix)
            looked_up = look_up(embedding, torch.arange(vocab_size)[None])[0]
        difference = float((looked_up - torch.eye(vocab_size, dtype=matrix.dtype) @ matrix).abs().max())
        records.append({"world": name, "words": vocab_size, "d": d, "largest_difference": difference})
        largest = max(largest, difference)
    titles = {
        "world": Text("vocabulary", "词表"),
        "largest_difference": Text("largest difference of a number", "各数的最大差"),
    }
    return Evidence(
        exact_values(largest_difference=largest), records, Figure("bar", "world", "largest_difference", None, titles)
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="E1",
    statement=Text("Looking a row up is the same as one-hot times W_in.", "查表取一行，等于独热向量乘 W_in。"),
    equation="onehot(i) · W = W[i]",
    measured=Text(
        "every word of the micro world (3 words, 2 numbers) and of a random matrix of 1000 words, both ways",
        "微型世界（3 词 2 维）和 1000 词随机矩阵中的每个词，两种算法都算一遍",
    ),
    rule=Rule((at_most("largest_difference", 0.0, EXACTLY_NONE),)),
    reading=Text(
        "A one-hot vector has one 1; the product adds the chosen row and zeros, and zeros change no bit. So nobody "
        "multiplies: the embedding layer is a linear layer without bias whose input happens to be one-hot, and it is "
        "trained as one. The matrix product costs V times as much for the same result.",
        "独热向量只有一个 1，乘积就是把那一行与若干个零相加，而加零不改变任何一位。所以实际上没有人去做乘法："
        "嵌入层就是输入恰为独热的无偏置线性层，训练方式也相同；矩阵乘法只是多花 V 倍的力气得到同样结果。",
    ),
    sources=(
        "Mikolov et al. 2013a, Efficient Estimation of Word Representations",
        "Rong 2014, word2vec Parameter Learning Explained, §1.1",
    ),
    run=_run,
)
