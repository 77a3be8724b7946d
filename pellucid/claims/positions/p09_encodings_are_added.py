"""P9: codes are simply added to embeddings."""

import torch

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import random_ids, small_translator
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]


def measure(seed: int, models: dict[str, EncoderDecoder] | None = None) -> Evidence:
    """Compare what enters the first block with the sum of embedding and code; and say how much of it is the code."""
    models = models or {
        "scaled by √d": small_translator(seed, d_model=256, d_ff=64, positions="sinusoidal", cross_positions="none"),
        "not scaled": small_translator(
            seed, d_model=256, d_ff=64, positions="sinusoidal", cross_positions="none", scale_embeddings=False
        ),
    }
    records, off, shares = [], 0.0, {}
    for name, model in models.items():
        activations = Activations()

        with torch.no_grad():
            model.encode(random_ids(seed, 1, 20), activations)
        rows, codes = activations["embedding.source"], activations["embedding.source_position"]
        off = max(off, float((activations["encoder.0.residual.input"] - (rows + codes)).abs().max()))
        shares[name] = float(codes.square().sum() / (codes.square().sum() + rows.square().sum()))
        for what, x in (("embedding", rows[0]), ("position code", codes)):
            records.append({"embedding": name, "what": what, "norm": float(x.norm(dim=-1).mean())})
    titles = {
        "embedding": Text("embeddings", "嵌入"),
        "norm": Text("mean norm", "平均范数"),
        "what": Text("summand", "加数"),
    }
    names = list(models)
    numbers = exact_values(
        difference_from_the_sum=off,
        share_of_position_scaled=shares[names[0]],
        share_of_position_not_scaled=shares[names[-1]],
    )
    return Evidence(numbers, records, Figure("bar", "embedding", "norm", "what", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="P9",
    statement=Text("Position codes are simply added to the embeddings.", "位置编码就是直接加到嵌入上。"),
    equation="x = √d · W[token] + PE(pos)",
    measured=Text(
        "what enters the first block of a fresh model of width 256 against the sum; the share of the squared norm "
        "that is "
        "position, with embeddings scaled by √d and not",
        "宽 256 的新模型第一块的输入与两者之和之差；位置占平方范数的份额，嵌入乘与不乘 √d 各算一次",
    ),
    rule=Rule(
        (
            at_most("difference_from_the_sum", 0.0, EXACTLY_NONE),
            at_least(
                "share_of_position_scaled",
                0.05,
                Text(
                    "were the codes lost beside the embeddings, adding them would be for show",
                    "若编码在嵌入旁边微不足道，加不加就没有意义",
                ),
            ),
        )
    ),
    reading=Text(
        "A code has norm √(d/2) by construction. Embeddings that start with norm about 1, as is usual where the "
        "matrix is "
        "shared with the output, would drown in it: of the unscaled sum nearly all is position. Hence the paper's "
        "factor "
        "√d, which it gives without a reason. In high dimensions the two need not collide: a model can keep them in "
        "nearly "
        "orthogonal directions; TUPE (Ke et al. 2021) and DeBERTa separate them outright.",
        "编码的范数按构造就是 √(d/2)。若嵌入初始范数约为 1（与输出共享矩阵时通常如此），就会被淹没：不缩放时和几乎全"
        "是位置。"
        "这就是论文未加解释的 √d 因子的由来。在高维中两者不必相撞：模型可以把它们放在近乎正交的方向上；TUPE（Ke 等 "
        "2021）和 DeBERTa 则干脆分开。",
    ),
    sources=("Vaswani et al. 2017, §3.4–3.5", "Ke et al. 2021"),
    run=_run,
)
