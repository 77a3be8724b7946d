"""E6: after training W_out can be thrown away."""

from itertools import combinations
from pathlib import Path

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_text import demo_vectors, noun_uses
from pellucid.claims.evidence import Evidence, Figure, MissingData, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.evaluation.word_vectors import analogy_accuracy, similarity_correlation, spearman
from pellucid.word_vectors import WordVectors

__all__ = ["CLAIM", "measure", "spaces"]

_SHORT = {"W_in": "in", "W_out": "out", "W_in + W_out": "sum"}


def spaces(vectors: WordVectors) -> dict[str, WordVectors]:
    """Return the words in three spaces: input rows, output rows, and the sums of both."""
    assert vectors.output_vectors is not None
    rows = {
        "W_in": vectors.input_vectors,
        "W_out": vectors.output_vectors,
        "W_in + W_out": vectors.input_vectors + vectors.output_vectors,
    }
    return {name: WordVectors(list(vectors.words), matrix, counts=vectors.counts) for name, matrix in rows.items()}


def _of_nouns(vectors: WordVectors) -> float:
    """Return the rank correlation of cosines with the share of verbs and adjectives that two nouns have in common."""
    uses = {noun: words for noun, words in noun_uses().items() if noun in vectors}
    pairs = list(combinations(uses, 2))
    rows = numpy.stack([vectors.unit_vector(noun) for noun in uses])
    place = {noun: n for n, noun in enumerate(uses)}
    cosines = rows @ rows.T
    alike = [len(uses[a] & uses[b]) / len(uses[a] | uses[b]) for a, b in pairs]
    return spearman([cosines[place[a], place[b]] for a, b in pairs], alike) or 0.0


def _judged(space: WordVectors, similarity: Path) -> float:
    found = similarity_correlation(space, similarity).spearman
    if found is None:
        raise MissingData(
            Text(
                f"judgements in {similarity} of words that stand in text.txt at least five times, not all alike",
                f"{similarity} 中关于在 text.txt 里出现至少五次的词、且不全相同的判断",
            )
        )
    return found


def _own(folder: Path | None, *names: str) -> Path | None:
    """Return the user's folder if it has all these files."""
    return folder if folder is not None and all((folder / name).is_file() for name in names) else None


def measure(budget: Budget, seed: int) -> Evidence:
    """Score the three spaces by similarity: the user's, of vectors of the user's text, or that of the demo language."""
    found: dict[str, list[float]] = {}
    analogies: dict[str, list[float]] = {}
    records = []
    own = _own(budget.data, "text.txt", "similarity.tsv")
    for number in budget.every_seed(seed):
        if own is not None:
            vectors = WordVectors.train(own / "text.txt", dim=100, epochs=budget.steps, seed=number)
        else:
            vectors = demo_vectors("zh", budget.size, number, epochs=budget.steps)
        for name, space in spaces(vectors).items():
            value = _of_nouns(space) if own is None else _judged(space, own / "similarity.tsv")
            found.setdefault(name, []).append(value)
            records.append({"space": name, "seed": str(number), "correlation": value})
            if own is not None and (own / "analogies.txt").is_file():
                right = analogy_accuracy(space, own / "analogies.txt", restrict=30_000).total.accuracy
                if right is not None:
                    analogies.setdefault(name, []).append(right)
    titles = {
        "space": Text("space", "空间"),
        "correlation": Text("rank correlation with similarity", "与相似度的秩相关"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        "correlation_in": mean_over_seeds(found["W_in"]),
        "correlation_out": mean_over_seeds(found["W_out"]),
        "correlation_sum": mean_over_seeds(found["W_in + W_out"]),
        "in_less_sum": difference(found["W_in"], found["W_in + W_out"]),
        **{f"analogies_{_SHORT[name]}": mean_over_seeds(values) for name, values in analogies.items()},
    }
    note = Text(
        "Similarity is that of the demo language's nouns: the share of verbs and adjectives that both can stand with; "
        "text.txt and similarity.tsv in --data replace it, and analogies.txt adds questions of analogy.",
        "相似度取自演示语言的名词：两者可共用的动词与形容词的比例；--data 中的 text.txt 与 similarity.tsv 可替代之，"
        "analogies.txt 则加上类比题。",
    )
    return Evidence(numbers, records, Figure("bar", "space", "correlation", "seed", titles), () if own else (note,))


CLAIM = Claim(
    id="E6",
    statement=Text("After training, W_out can be thrown away.", "训练完成后可以丢掉 W_out。"),
    equation="W_in  against  W_out  and  W_in + W_out",
    measured=Text(
        "rank correlation of cosines with similarity, of W_in, W_out and their sum (size: sentences, steps: passes)",
        "W_in、W_out 与两者之和的余弦与相似度的秩相关（size 为句数，steps 为遍数）",
    ),
    rule=Rule(
        (
            at_least(
                "in_less_sum",
                -0.05,
                Text(
                    "no more than 0.05 of correlation may be lost by keeping W_in alone",
                    "只留 W_in 至多损失 0.05 的相关",
                ),
                fails_at=-0.1,
            ),
            at_least("correlation_in", 0.2, SEEDS, fails_at=0.1),
        )
    ),
    reading=Text(
        "For neighbours W_in does nearly as well as both together; but the objective only ever fits products of an "
        "input and an output row (Levy & Goldberg 2014), and what W_out holds is not the same: a product in–out tells "
        "what stands beside a word, in–in what can stand in its place (Mitra et al. 2016). Who goes on training, "
        "scores sentences or ranks documents needs both; GloVe adds them up.",
        "找近邻时 W_in 与两者之和相差无几；但目标函数拟合的始终是输入行与输出行之积（Levy 与 Goldberg 2014），而 "
        "W_out 里的东西并不相同：“入–出”之积说明什么站在旁边，“入–入”说明什么可以替换（Mitra 等 2016）。要继续训练、给"
        "句子打分或给文档排序，两者都要留；GloVe 则把两者相加。",
    ),
    sources=(
        "Levy & Goldberg 2014",
        "Mitra et al. 2016, A Dual Embedding Space Model for Document Ranking",
        "Pennington et al. 2014, GloVe",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=5, size=2_000), Budget(seeds=5, steps=10, size=10_000)),
)
