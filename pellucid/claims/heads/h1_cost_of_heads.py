"""H1: eight heads of 64 cost what one of 512 costs."""

import torch

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import no_mask
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.layers.attention import Attention, HeadConfig
from pellucid.layers.positions import no_bias
from pellucid.layers.rotary import no_rotation

__all__ = ["CLAIM", "measure"]

_D, _LENGTH = 512, 10
_COUNTS = ("parameters", "multiplications", "scores")


def _counts(n_heads: int, d_head: int) -> dict[str, int]:
    """Count an attention's parameters, the multiplications of its matrix products, and the scores it writes down."""
    attention = Attention(_D, HeadConfig(n_heads, n_heads, d_head, bias=True), True, 0.0, no_rotation, no_bias)
    activations = Activations()
    states, positions = torch.zeros(1, _LENGTH, _D), torch.arange(_LENGTH)
    with torch.no_grad():
        attention(states, attention.key_value(states, positions, activations), no_mask(_LENGTH), positions, activations)
    projections = sum(
        _LENGTH * part.weight.numel() for part in (attention.query, attention.key, attention.value, attention.output)
    )
    scores = activations["scores"].numel()
    mixing = 2 * scores * activations["query"].shape[-1]  # each score is d_head products, and so is each mixed weight
    return {
        "parameters": sum(weight.numel() for weight in attention.parameters()),
        "multiplications": projections + mixing,
        "scores": scores,
    }


def measure(many: tuple[int, int] = (8, 64)) -> Evidence:
    """Compare eight heads of 64 with one of 512."""
    counts = {"1 × 512": _counts(1, _D), f"{many[0]} × {many[1]}": _counts(*many)}
    one, several = counts.values()
    records = [
        {"cost": cost, "heads": heads, "ratio": pluralize[cost] / one[cost], "count": pluralize[cost]}
        for heads, pluralize in counts.items()
        for cost in _COUNTS
    ]
    titles = {
        "cost": Text("cost", "代价"),
        "ratio": Text("relative to one head of 512", "与一个 512 维头之比"),
        "heads": Text("heads", "头"),
    }
    off = {cost: abs(several[cost] / one[cost] - 1) for cost in _COUNTS}
    numbers = exact_values(
        parameters_off=off["parameters"], multiplications_off=off["multiplications"], scores_off=off["scores"]
    )
    return Evidence(numbers, records, Figure("bar", "cost", "ratio", "heads", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure()


CLAIM = Claim(
    id="H1",
    statement=Text("Eight heads of 64 cost what one head of 512 costs.", "8 个 64 维的头与 1 个 512 维的头代价相同。"),
    equation="4 d² + 4 d  for every number of heads;  scores: h · n²",
    measured=Text(
        "parameters (W_O and biases counted on both sides), multiplications of all matrix products, and scores, on "
        "ten tokens",
        "十个词元时的参数量（两边都计入 W_O 与偏置）、全部矩阵乘法的乘法次数，以及分数个数",
    ),
    rule=Rule(
        holds=(at_most("parameters_off", 0.0, EXACTLY_NONE), at_most("multiplications_off", 0.0, EXACTLY_NONE)),
        beyond=(at_most("scores_off", 0.0, EXACTLY_NONE),),
        condition=Text(
            "parameters and matrix products are meant; of score matrices and softmaxes there are eight times as many",
            "指的是参数与矩阵乘法；分数矩阵与 softmax 是八倍",
        ),
    ),
    reading=Text(
        "The heads share d among them, so each product is eight times as narrow and eight times as many. What grows "
        "is what "
        "is written down: h n² scores, the reason why long texts run out of memory, and what fused kernels avoid. "
        "Grouped-query attention (Ainslie et al. 2023) lets several heads of queries share keys and values.",
        "各头平分 d，所以每个乘积窄了八倍、多了八倍。变多的是要写下的东西：h·n² 个分数，长文本耗尽内存的原因，也是融"
        "合核要避免的。"
        "分组查询注意力（Ainslie 等 2023）让几个查询头共用键与值。",
    ),
    sources=("Vaswani et al. 2017, §3.2.2", "Ainslie et al. 2023, GQA"),
    run=_run,
)
