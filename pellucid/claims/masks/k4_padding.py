"""K4: padding does not leak."""

import torch
import torch.nn.functional as F

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import PAD, random_ids, small_translator
from pellucid.claims.texts import ROUNDING_32

__all__ = ["CLAIM", "measure"]

_POSITIONS = ("sinusoidal", "learned", "rope", "alibi", "none")


def measure(seed: int, pad_id: int = PAD) -> Evidence:
    """Translate-as-given a sentence alone and beside longer ones, and compare all logits.

    Args:
        pad_id: what the model takes for padding; the batch is padded with 0.
    """
    records, worst, unmasked = [], 0.0, []
    for positions in _POSITIONS:
        model = small_translator(seed, positions=positions, cross_positions="rope" if positions == "rope" else "none")
        model.pad_id = pad_id
        source, target = random_ids(seed, 1, 6), random_ids(seed, 1, 5)
        longer, longer_target = random_ids(seed, 3, 15), random_ids(seed, 3, 11)
        sources = torch.cat((F.pad(source, (0, 9), value=PAD), longer))
        targets = torch.cat((F.pad(target, (0, 6), value=PAD), longer_target))
        with torch.no_grad():
            alone, beside = model(source, target), model(sources, targets)[:1, :5]
            model.pad_id = -1
            leaking = model(sources, targets)[:1, :5]
        difference = float((alone - beside).abs().max())
        worst = max(worst, difference)
        unmasked.append(float((alone - leaking).abs().max()))
        records += [
            {"positions": positions, "padding": "masked", "difference": difference},
            {"positions": positions, "padding": "not masked", "difference": unmasked[-1]},
        ]
    titles = {
        "positions": Text("positions", "位置方案"),
        "difference": Text("largest difference of a logit", "logit 的最大差"),
        "padding": Text("padding", "填充"),
    }
    numbers = exact_values(largest_difference=worst, least_difference_unmasked=min(unmasked))
    return Evidence(numbers, records, Figure("bar", "positions", "difference", "padding", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="K4",
    statement=Text("Padding does not leak into a sentence.", "填充不会影响句子。"),
    equation="f(x) = f([x, pad, pad, …])",
    measured=Text(
        "all logits of a sentence alone and in a batch with longer ones, five position schemes; and with the "
        "padding not masked",
        "一句话单独计算与和更长的句子同批计算的全部 logit，五种位置方案；以及不屏蔽填充时的同样比较",
    ),
    rule=Rule(
        (
            at_most("largest_difference", 1e-4, ROUNDING_32, fails_at=1e-3),
            at_least(
                "least_difference_unmasked",
                1e-3,
                Text(
                    "without the mask the padding must be seen, or the test would not",
                    "不屏蔽时必须看得见填充，否则检验无效",
                ),
            ),
        )
    ),
    reading=Text(
        "Equal to rounding, not to the bit: sums over longer rows are taken in another order. That is why a "
        "translation may "
        "now and then differ by what stood beside it in the batch, in any program that computes in low precision; "
        "in float32 "
        "only where two continuations lie within rounding of each other.",
        "相等是指只差舍入，并非一位不差：更长的行求和次序不同。所以在任何低精度程序里，译文偶尔会因同批邻居而异；"
        "float32 下只有两个续写差别小于舍入时才会如此。",
    ),
    sources=("Vaswani et al. 2017, §3.2.3",),
    run=_run,
)
