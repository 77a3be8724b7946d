"""E5: words used alike get alike rows."""

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.randomness import generator
from pellucid.word_vectors import WordVectors

__all__ = ["CLAIM", "interchangeable_text", "measure"]

_CLASSES, _WORDS = 8, 6
_OBJECTIVES = ("negative-sampling", "full-softmax")
_GRAMMAR = ((0, 1, 2), (3, 1, 4), (0, 5, 6), (3, 5, 7), (2, 6, 4))


def interchangeable_text(seed: int, sentences: int, classes_matter: bool = True) -> list[list[str]]:
    """Return sentences in which the words of a class stand for each other; without classes any word stands anywhere."""
    draw, text = generator(seed, "E5"), []
    for _ in range(sentences):
        pattern = _GRAMMAR[int(draw.integers(len(_GRAMMAR)))]
        places = pattern if classes_matter else draw.integers(_CLASSES, size=len(pattern)).tolist()
        text.append([f"{place}-{int(draw.integers(_WORDS))}" for place in places])
    return text


def measure(budget: Budget, seed: int, classes_matter: bool = True) -> Evidence:
    """Train on interchangeable words and compare cosines within classes and between them."""
    records: list[dict[str, object]] = []
    gaps: dict[str, list[float]] = {objective: [] for objective in _OBJECTIVES}
    for number in budget.every_seed(seed):
        text = interchangeable_text(number, budget.size, classes_matter)
        for objective in _OBJECTIVES:
            vectors = WordVectors.train(
                text, dim=16, window=2, epochs=budget.steps, objective=objective, min_count=1, sample=0.0, seed=number,
                threads=1, learning_rate=0.1,
            )  # fmt: skip
            rows = vectors.input_vectors / numpy.linalg.norm(vectors.input_vectors, axis=1, keepdims=True)
            kind = numpy.array([word.split("-")[0] for word in vectors.words])
            cosines, same = rows @ rows.T, kind[:, None] == kind[None]
            others = ~numpy.eye(len(rows), dtype=bool)
            within, between = float(cosines[same & others].mean()), float(cosines[~same].mean())
            gaps[objective].append(within - between)
            records += [
                {"objective": objective, "pairs": name, "seed": number, "cosine": value}
                for name, value in (("within a class", within), ("between classes", between))
            ]
    titles = {
        "objective": Text("objective", "目标"),
        "cosine": Text("mean cosine", "平均余弦"),
        "pairs": Text("pairs", "词对"),
    }
    numbers = {f"gap_{objective.replace('-', '_')}": mean_over_seeds(values) for objective, values in gaps.items()}
    return Evidence(numbers, records, Figure("point", "objective", "cosine", "pairs", titles))


CLAIM = Claim(
    id="E5",
    statement=Text("Words used alike get alike rows of W_in.", "用法相近的词得到相近的 W_in 行。"),
    equation="cos(W_in[i], W_in[j]) is larger within a class",
    measured=Text(
        "a generated text of 48 words in 8 classes whose words are interchangeable (size: sentences): mean cosine "
        "within "
        "classes less that between, negative sampling and full softmax",
        "生成文本：48 个词分 8 类，同类可互换（size 为句数）：类内平均余弦减类间平均余弦，负采样与完整 softmax 各一",
    ),
    rule=Rule(
        (
            at_least("gap_negative_sampling", 0.2, SEEDS, fails_at=0.05),
            at_least("gap_full_softmax", 0.2, SEEDS, fails_at=0.05),
        )
    ),
    reading=Text(
        "Two words with the same contexts have the same optimum, so their rows drift together: Harris's distributional "
        "hypothesis (1954) as a property of the loss. Alike means substitutable: antonyms, which stand in the same "
        "places, "
        "get alike rows too (Mrkšić et al. 2016). Wide windows favour words of a topic, narrow ones words of a class "
        "(Levy & Goldberg 2014b).",
        "上下文相同的两个词最优点相同，所以它们的行会靠拢：Harris（1954）的分布假说在此成了损失函数的性质。相近指的是"
        "可替换：反义词站在同样的位置，"
        "行也相近（Mrkšić 等 2016）。宽窗口偏向同一话题的词，窄窗口偏向同一词类的词（Levy 与 Goldberg 2014b）。",
    ),
    sources=(
        "Harris 1954, Distributional Structure",
        "Levy & Goldberg 2014b, Dependency-Based Word Embeddings",
        "Mrkšić et al. 2016, Counter-fitting",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=5, size=2_000), Budget(seeds=5, steps=10, size=5_000)),
)
