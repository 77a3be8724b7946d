"""E9: ids and one-hot vectors carry no meaning."""

import tempfile
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.demo_text import demo_sentences, noun_uses
from pellucid.claims.evidence import Estimate, Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.texts import ROUNDING_64
from pellucid.evaluation.word_vectors import spearman
from pellucid.randomness import generator
from pellucid.word_vectors import encode_text

__all__ = ["CLAIM", "ids_of_text", "measure"]

_SHUFFLES = 200


def ids_of_text(count: int, seed: int) -> dict[str, int]:
    """Return the id that the library gives each word of the demo text: by how often it stands there."""
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        text = encode_text(demo_sentences("zh", count, seed), Path(folder), min_count=5)
        return {word: place for place, word in enumerate(text.words)}


def measure(seed: int, ids: Mapping[str, int]) -> Evidence:
    """Compare the distance of two nouns' ids, and of their one-hot vectors, with how alike they are used."""
    uses = {noun: words for noun, words in noun_uses().items() if noun in ids}
    pairs = list(combinations(uses, 2))
    alike = numpy.array([len(uses[a] & uses[b]) / len(uses[a] | uses[b]) for a, b in pairs])
    near = numpy.array([-abs(ids[a] - ids[b]) for a, b in pairs])
    one_hot = numpy.eye(len(ids))
    rows = one_hot[[ids[a] for a, _ in pairs]], one_hot[[ids[b] for _, b in pairs]]
    distances, cosines = numpy.linalg.norm(rows[0] - rows[1], axis=1), (rows[0] * rows[1]).sum(axis=1)
    draw, places = generator(seed, "E9"), numpy.array([[list(uses).index(word) for word in pair] for pair in pairs])
    chance = []
    for _ in range(_SHUFFLES):
        shuffled = draw.permutation(len(uses))
        chance.append(spearman(-numpy.abs(shuffled[places[:, 0]] - shuffled[places[:, 1]]), alike) or 0.0)
    correlation = spearman(near, alike) or 0.0
    reach = float(numpy.quantile(numpy.abs(chance), 0.95))
    shown = draw.choice(len(pairs), min(400, len(pairs)), replace=False)
    records = [
        {"pair": " ".join(pairs[n]), "distance_of_ids": int(-near[n]), "alike": float(alike[n])} for n in shown.tolist()
    ]
    titles = {
        "distance_of_ids": Text("distance of the two ids", "两个编号之差"),
        "alike": Text("share of verbs and adjectives in common", "共用动词与形容词的比例"),
        "pair": Text("nouns", "名词对"),
    }
    numbers = {
        **exact_values(
            one_hot_distance_error=float(numpy.abs(distances - 2**0.5).max()),
            one_hot_cosine=float(numpy.abs(cosines).max()),
            correlation_by_chance=reach,
        ),
        "correlation_size": Estimate(abs(correlation), abs(correlation), abs(correlation), len(pairs)),
    }
    return Evidence(numbers, records, Figure("point", "distance_of_ids", "alike", None, titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed, ids_of_text(4_000, seed))


CLAIM = Claim(
    id="E9",
    statement=Text("Token ids and one-hot vectors carry no meaning.", "词元编号和独热向量不带任何意义。"),
    equation="‖onehot(i) − onehot(j)‖ = √2,  cos = 0  for i ≠ j",
    measured=Text(
        "all pairs of nouns of the demo language: distance of their ids (which the vocabulary gives by frequency) "
        "and of "
        "their one-hot vectors, against the share of verbs and adjectives that both can stand with",
        "演示语言的全部名词对：编号之差（词表按频次编号）与独热向量之距，对照两者可搭配的动词、形容词的重合比例",
    ),
    rule=Rule(
        (
            at_most("one_hot_distance_error", 1e-12, ROUNDING_64),
            at_most("one_hot_cosine", 0.0, ROUNDING_64),
            at_most(
                "correlation_size",
                0.2,
                Text(
                    "rank correlation of human judgements with good vectors is 0.6 and more; 0.2 explains 4 % of "
                    "the order",
                    "好的词向量与人工判断的秩相关在 0.6 以上；0.2 只解释次序的 4 %",
                ),
            ),
        )
    ),
    reading=Text(
        "Every two one-hot vectors are equally far apart, so nothing can be learnt of one word from another. An id "
        "is a "
        "place in a list; here the list is ordered by frequency, so the ids know how common a word is, and nothing of "
        "its sense. That is the reason for a trained matrix in between.",
        "任意两个独热向量距离相同，所以从一个词学不到另一个词的任何东西。编号只是表中的位置；这里的表按频次排序，"
        "所以编号知道一个词有多常见，却不知道它的意思。这正是中间需要一个可训练矩阵的原因。",
    ),
    sources=("Bengio et al. 2003, §1", "Turney & Pantel 2010, From Frequency to Meaning"),
    run=_run,
)
