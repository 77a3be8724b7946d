"""E11: each dimension has a meaning of its own."""

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_text import classes, demo_vectors
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure"]

_TURNS = 20


def measure(
    w_in: numpy.ndarray, w_out: numpy.ndarray, labels: numpy.ndarray, seed: int, orthogonal: bool = True
) -> Evidence:
    """Turn the space at random and see what changes: the scores, and how well one axis tells two classes apart.

    Args:
        w_in, w_out: [words d].
        labels: 0 or 1 for each word, or −1 for words of no class.
        orthogonal: whether the turn is one; any other matrix changes the scores.
    """
    draw, d = generator(seed, "E11"), w_in.shape[1]
    scores = w_in @ w_out.T
    known = labels >= 0
    records, best, change = [], [], 0.0
    for number in range(_TURNS + 1):
        turn = numpy.eye(d) if number == 0 else draw.standard_normal((d, d))
        if orthogonal and number:
            turn = numpy.linalg.qr(turn)[0]
        turned = w_in @ turn
        change = max(change, float(numpy.abs(turned @ (w_out @ turn).T - scores).max()))
        axes = numpy.sort([_accuracy(turned[known, i], labels[known]) for i in range(d)])[::-1]
        space = "as trained" if number == 0 else "turned"
        best.append(float(axes[0]))
        records += [
            {"space": space, "turn": number, "axis": place + 1, "accuracy": float(a)}
            for place, a in enumerate(axes[:8])
        ]
    middle = w_in[known & (labels == 1)].mean(0) - w_in[known & (labels == 0)].mean(0)
    titles = {
        "axis": Text("axis, best first", "坐标轴（由好到差）"),
        "accuracy": Text("accuracy of one axis for noun or adjective", "单轴区分名词与形容词的准确率"),
        "space": Text("space", "空间"),
    }
    numbers = exact_values(
        change_of_scores_by_turning=change / float(numpy.abs(scores).max()),
        best_axis_as_trained=best[0],
        best_axis_turned_mean=float(numpy.mean(best[1:])),
        best_axis_turned_deviation=float(numpy.std(best[1:])),
        best_direction=_accuracy(w_in[known] @ middle, labels[known]),
    )
    return Evidence(numbers, records, Figure("point", "axis", "accuracy", "space", titles))


def _accuracy(numbers: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Return the balanced accuracy of the best threshold on one number, of either sign."""
    order = labels[numpy.argsort(numbers, kind="stable")]
    ones, zeros = (order == 1).sum(), (order == 0).sum()
    right = numpy.cumsum(order == 0) / zeros + 1 - numpy.cumsum(order == 1) / ones
    return float(max(right.max(), 2 - right.min()) / 2)


def _run(budget: Budget, seed: int) -> Evidence:
    vectors = demo_vectors("zh", budget.size, seed)
    assert vectors.output_vectors is not None
    known = classes()
    labels = numpy.array([{"noun": 0, "adjective": 1}.get(known.get(word, ""), -1) for word in vectors.words])
    return measure(vectors.input_vectors.astype(float), vectors.output_vectors.astype(float), labels, seed)


CLAIM = Claim(
    id="E11",
    statement=Text("Each dimension of a word vector has a meaning of its own.", "词向量的每一维都有自己的含义。"),
    equation="(W_in R)(W_out R)ᵀ = W_in W_outᵀ  for every orthogonal R",
    measured=Text(
        "vectors trained on sentences of the demo language (size: sentences), turned at random: the largest change "
        "of a "
        "score, relative to the largest score; how well the best single axis, and the best direction, tell nouns "
        "from adjectives",
        "在演示语言句子上训练的向量（size 为句数）随机旋转后：分数的最大变化（相对最大分数）；最好的单轴与最好的方向"
        "区分名词和形容词的准确率",
    ),
    rule=Rule(
        (
            at_least(
                "change_of_scores_by_turning",
                1e-3,
                Text(
                    "if the axes meant something, giving them up would change what the model says; rounding changes "
                    "1e-12",
                    "若坐标轴真有含义，换掉它们就会改变模型的输出；而舍入只改变 1e-12",
                ),
                fails_at=1e-9,
            ),
        ),
        instead=Text(
            "directions can have a meaning, axes have none of their own: training fixes the space only up to a "
            "rotation",
            "方向可以有含义，坐标轴本身没有：训练只在差一个旋转的意义下确定空间",
        ),
    ),
    reading=Text(
        "The objective sees products of rows only, and these are the same in every turned space; which axes come "
        "out is "
        "an accident of the start. Meaning is found along directions, by a probe. Where axes do seem to mean "
        "something "
        "it has a reason outside the objective: coordinates that are treated one by one, as by Adam, a ReLU or "
        "dropout, prefer the axes (Elhage et al. 2023), and sparse or non-negative variants are made for it (Murphy "
        "et al. 2012).",
        "目标函数只看行与行的乘积，而它们在任何旋转后的空间里都一样；最终落在哪些坐标轴上只是起点的偶然。含义要沿方"
        "向用探针去找。"
        "若坐标轴看似有含义，原因在目标之外：逐坐标处理的东西（Adam、ReLU、dropout）偏爱坐标轴（Elhage 等 2023），稀"
        "疏或非负变体则专为此而设（Murphy 等 2012）。",
    ),
    sources=(
        "Levy & Goldberg 2014",
        "Murphy et al. 2012, Learning Effective and Interpretable Semantic Models using Non-Negative Sparse Embedding",
        "Elhage et al. 2023, Privileged Bases in the Transformer Residual Stream",
    ),
    run=_run,
    effort=Effort(Budget(size=1_500), Budget(size=8_000)),
)
