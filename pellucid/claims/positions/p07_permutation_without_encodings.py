"""P7: without position codes shuffled words give the same result."""

import torch
from torch import Tensor, nn

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, random_ids, small_decoder, torch_generator
from pellucid.claims.texts import ROUNDING_32
from pellucid.claims.toy_training import fit
from pellucid.layers.masks import causal
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.initialise import init_weights

__all__ = ["CLAIM", "measure"]

_LENGTH = 8
_ANIMALS = range(1, 9)  # ids; 9 stands for 追


def _shift(model: DecoderOnly, ids: Tensor, order: Tensor, may_attend: Tensor) -> float:
    """Return how far shuffling the words is from shuffling the outputs, relative to the outputs."""
    with torch.no_grad():
        outputs, shuffled = model.states(ids, may_attend=may_attend), model.states(ids[:, order], may_attend=may_attend)
    return float((shuffled - outputs[:, order]).norm() / outputs.norm())


def measure(seed: int, steps: int, positions: str = "none") -> Evidence:
    """Shuffle words without codes, under no mask and under a causal one, and with codes; and ask who chases whom.

    Args:
        steps: of training to tell who chases.
        positions: of the model that is to know no positions.
    """
    ids, order = random_ids(seed, 4, _LENGTH), torch.randperm(_LENGTH, generator=torch_generator(seed, "P7"))
    if torch.equal(order, torch.arange(_LENGTH)):
        order = order.flip(0)
    blind, coded = small_decoder(seed, positions=positions), small_decoder(seed, positions="sinusoidal")
    shifts = {
        "no codes, no mask": _shift(blind, ids, order, no_mask(_LENGTH)),
        "no codes, causal mask": _shift(blind, ids, order, causal(_LENGTH)),
        "codes, no mask": _shift(coded, ids, order, no_mask(_LENGTH)),
    }
    there, back = torch.tensor([[1, 9, 2]]), torch.tensor([[2, 9, 1]])
    with torch.no_grad():
        pooled = [blind.states(text, may_attend=no_mask(3)).mean(1) for text in (there, back)]
    accuracies = {kind: _who_chases(seed, kind, steps) for kind in (positions, "sinusoidal")}
    records = [{"model": name, "difference": value} for name, value in shifts.items()]
    titles = {
        "model": Text("model", "模型"),
        "difference": Text("shuffled words against shuffled outputs", "打乱输入与打乱输出之差"),
    }
    return Evidence(
        exact_values(
            difference_without_codes=shifts["no codes, no mask"],
            difference_of_pooled_outputs=float((pooled[0] - pooled[1]).norm() / pooled[0].norm()),
            difference_under_a_causal_mask=shifts["no codes, causal mask"],
            difference_with_codes=shifts["codes, no mask"],
            who_chases_without_codes=accuracies[positions],
            who_chases_with_codes=accuracies["sinusoidal"],
        ),
        records,
        Figure("bar", "model", "difference", None, titles),
    )


def _who_chases(seed: int, positions: str, steps: int) -> float:
    """Train a reader to name the one who chases, from the mean of its states; return its accuracy on all sentences."""
    model = small_decoder(seed, positions=positions, vocab_size=10)
    namer = nn.Linear(32, 10)
    init_weights(namer, seed, residual_scale=1.0)
    pairs = torch.tensor([(a, b) for a in _ANIMALS for b in _ANIMALS if a != b])
    text = torch.stack((pairs[:, 0], torch.full((len(pairs),), 9), pairs[:, 1]), 1)

    def logits() -> Tensor:
        named: Tensor = namer(model.states(text, may_attend=no_mask(3)).mean(1))
        return named

    fit(nn.ModuleList([model, namer]), lambda step: nn.functional.cross_entropy(logits(), pairs[:, 0]), steps)
    with torch.no_grad():
        return float((logits().argmax(1) == pairs[:, 0]).float().mean())


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed, budget.steps)


_SAME = Text(
    "shuffling words must shuffle outputs and nothing else; float32 rounding is below 1e-5 of them",
    "打乱词序只应打乱输出的次序，别无其他；float32 舍入低于其 1e-5",
)

CLAIM = Claim(
    id="P7",
    statement=Text("Without position codes, shuffled words give the same result.", "没有位置编码，打乱词序结果不变。"),
    equation="f(P X) = P f(X)  for every permutation P",
    measured=Text(
        "a two-layer model: how far shuffling eight words is from shuffling the outputs; and who is named as the "
        "one who "
        "chases, over all sentences “a 追 b” of eight animals, after a short training",
        "两层模型：打乱八个词与打乱输出之间差多少；以及短训练后，在八种动物的全部“甲追乙”句中能否指出谁在追",
    ),
    rule=Rule(
        holds=(
            at_most("difference_without_codes", 1e-4, ROUNDING_32),
            at_most("difference_of_pooled_outputs", 1e-4, ROUNDING_32),
            at_most(
                "who_chases_without_codes",
                0.6,
                Text(
                    "half is the best that a reader blind to order can do; rounding may break ties",
                    "看不见次序者最多对一半；舍入可能打破平局",
                ),
            ),
            at_least(
                "who_chases_with_codes",
                0.95,
                Text(
                    "with codes the same reader must learn it, or the test would show nothing",
                    "加上编码后同一模型必须学得会，否则检验没有意义",
                ),
            ),
        ),
        beyond=(at_most("difference_under_a_causal_mask", 1e-4, _SAME, fails_at=1e-2),),
        condition=Text(
            "nothing else tells words apart by place, and “the same” means outputs shuffled alike (pooled: equal); a "
            "causal mask alone breaks the symmetry",
            "没有别的东西按位置区别对待词，且“不变”指输出同样被打乱（汇总后相等）；仅因果掩码就足以打破对称",
        ),
    ),
    reading=Text(
        "Attention is a function of a set. An encoder without codes is equivariant: 猫追狗 and 狗追猫 get the same "
        "states "
        "in another order. A decoder is not: how many words a position can see is a clock of sorts, and language "
        "models "
        "without any codes learn where they are from it (Haviv et al. 2022; Kazemnejad et al. 2023).",
        "注意力是集合的函数。没有编码的编码器是置换等变的：“猫追狗”与“狗追猫”得到同样的状态，只是次序不同。解码器则"
        "不然："
        "一个位置能看见多少词，就是一种时钟；没有任何位置编码的语言模型正是由此学会自己身在何处（Haviv 等 2022；"
        "Kazemnejad 等 2023）。",
    ),
    sources=(
        "Vaswani et al. 2017, §3.5",
        "Haviv et al. 2022, Transformer Language Models without Positional Encodings Still Learn Positional "
        "Information",
    ),
    run=_run,
    effort=Effort(Budget(steps=150), Budget(steps=400)),
)
