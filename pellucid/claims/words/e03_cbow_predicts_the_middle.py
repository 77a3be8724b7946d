"""E3: CBOW learns 吃 from 猫 and 鱼."""

from collections.abc import Sequence

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.demo.micro_world import SENTENCE, micro_training

__all__ = ["CLAIM", "measure"]

_STEPS = 6_000
_SHOWN = (1, 3, 10, 30, 100, 300, 1_000, 3_000, _STEPS)


def measure(seed: int, sentences: Sequence[Sequence[int]] = (SENTENCE,), seeds: int = 3) -> Evidence:
    """Train the micro world by full softmax and keep what it says of 吃 between 猫 and 鱼, and its matrices."""
    records, lowest, ratio = [], 1.0, 0.0
    for number in range(seed, seed + seeds):
        probability, half = 0.0, 0.0
        due = list(_SHOWN)
        for step in micro_training("cbow", _STEPS, seed=number, sentences=sentences):
            if step.context == ("猫", "鱼"):
                probability = float(step.probabilities[1])
                if step.step >= due[0]:
                    records.append(
                        {
                            "step": step.step, "seed": str(number), "probability": probability, "loss": step.loss,
                            "w_in": step.w_in.tolist(), "w_out": step.w_out.tolist(),
                        }
                    )  # fmt: skip
                    due = [shown for shown in due if shown > step.step] or [_STEPS + 1]
                if step.step <= _STEPS // 2:
                    half = probability
        lowest, ratio = min(lowest, probability), max(ratio, (1 - probability) / max(1 - half, 1e-300))
    titles = {
        "step": Text("updates", "更新次数"),
        "probability": Text("P(吃 | 猫, 鱼)", "P(吃 | 猫, 鱼)"),
        "seed": Text("seed", "随机种子"),
    }
    return Evidence(
        exact_values(lowest_probability=lowest, what_is_left_after_doubling=ratio),
        records,
        Figure("line", "step", "probability", "seed", titles, log_x=True),
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="E3",
    statement=Text(
        "Training CBOW makes the probability of 吃 between 猫 and 鱼 approach 1.",
        "训练 CBOW 会使给定“猫、鱼”时“吃”的概率趋近 1。",
    ),
    equation="P(吃 | 猫, 鱼) = softmax(h W_out)[吃] → 1",
    measured=Text(
        "6,000 updates of the micro world (3 words, 2 numbers, full softmax) from three starts; the matrices of the "
        "steps shown are in the table",
        "微型世界（3 词 2 维、完整 softmax）从三个起点各更新 6000 次；所示各步的矩阵都在表中",
    ),
    rule=Rule(
        (
            at_least(
                "lowest_probability",
                0.99,
                Text("within a hundredth of 1, from every start", "从每个起点出发都离 1 不到百分之一"),
            ),
            at_most(
                "what_is_left_after_doubling",
                0.75,
                Text(
                    "1 − P must still be falling: twice the updates leave at most three quarters of it",
                    "1 − P 必须仍在下降：更新次数加倍后至多剩四分之三",
                ),
            ),
        )
    ),
    reading=Text(
        "With one answer for each context the loss has no minimum, only an infimum at infinitely large scores: 1 − P "
        "falls about as 1/t, never to 0. On separable data gradient descent runs off along the direction of largest "
        "margin (Soudry et al. 2018). As soon as the same context has two answers, P goes to their shares instead "
        "(E4).",
        "每个上下文只有一个答案时，损失没有最小值，只有在分数无穷大处的下确界：1 − P 大约按 1/t 下降，永不为零。"
        "在可分数据上，梯度下降沿最大间隔方向跑向无穷（Soudry 等 2018）。一旦同一上下文有两个答案，P 就趋向它们各自"
        "的份额（见 E4）。",
    ),
    sources=("Rong 2014, §1", "Soudry et al. 2018, The Implicit Bias of Gradient Descent on Separable Data"),
    run=_run,
)
