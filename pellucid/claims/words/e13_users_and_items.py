"""E13: the same idea embeds users and items."""

from collections import Counter

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.demo.baskets import generate_baskets, precision_at_k
from pellucid.randomness import generator
from pellucid.word_vectors import WordVectors

__all__ = ["CLAIM", "measure"]


def measure(budget: Budget, seed: int, faithfulness: float = 0.8) -> Evidence:
    """Train skip-gram on baskets and ask how many of an item's ten neighbours are of its hidden genre.

    Args:
        faithfulness: share of a basket that is of its customer's genre.
    """
    found: dict[str, list[float]] = {"skip-gram": [], "popularity": [], "chance": []}
    records = []
    for number in budget.every_seed(seed):
        baskets, genre_of = generate_baskets(budget.size, faithfulness=faithfulness, seed=number)
        vectors = WordVectors.train(
            baskets, dim=24, window=10, dynamic_window=False, epochs=budget.steps, sample=0.0, min_count=5,
            seed=number, threads=1, learning_rate=0.05,
        )  # fmt: skip
        items = list(vectors.words)
        near = vectors.similar_batch(items, 10)
        popular = [item for item, _ in Counter(item for basket in baskets for item in basket).most_common(11)]
        draw = generator(number, "E13")
        ways = {
            "skip-gram": {item: [one.word for one in found_near] for item, found_near in zip(items, near, strict=True)},
            "popularity": {item: [other for other in popular if other != item][:10] for item in items},
            "chance": {item: [items[n] for n in draw.choice(len(items), 10, replace=False)] for item in items},
        }
        for way, neighbours in ways.items():
            found[way].append(precision_at_k(neighbours, genre_of))
            records.append({"way": way, "seed": str(number), "precision": found[way][-1]})
    titles = {
        "way": Text("neighbours by", "近邻来自"),
        "precision": Text("of the same genre, of 10", "十个中同类型的比例"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        "precision": mean_over_seeds(found["skip-gram"]),
        "over_chance": mean_over_seeds(numpy.array(found["skip-gram"]) - numpy.array(found["chance"])),
        "over_popularity": mean_over_seeds(numpy.array(found["skip-gram"]) - numpy.array(found["popularity"])),
    }
    return Evidence(numbers, records, Figure("bar", "way", "precision", "seed", titles))


_FAR = Text(
    "ten genres: chance is a tenth; three tenths above it is a list that helps",
    "共十种类型，偶然为十分之一；再高出十分之三的列表才有用",
)

CLAIM = Claim(
    id="E13",
    statement=Text("The same idea embeds users and items.", "同样的思路可以嵌入用户与商品。"),
    equation="a basket is a sentence, an item is a word",
    measured=Text(
        "skip-gram on generated baskets with ten hidden genres (size: baskets): of an item's ten nearest, the share "
        "of its own "
        "genre, against popular items and chance",
        "在含十种隐藏类型的生成购物篮上训练 skip-gram（size 为篮数）：每件商品十个近邻中与之同类型的比例，对照热门商品"
        "与偶然",
    ),
    rule=Rule(
        (at_least("over_chance", 0.3, _FAR, fails_at=0.1), at_least("over_popularity", 0.3, SEEDS, fails_at=0.1))
    ),
    reading=Text(
        "Nothing in word2vec knows of language; it needs sequences in which what stands together belongs together "
        "(Barkan & "
        "Koenigstein 2016; Grbovic & Cheng 2018). The window should span the basket, for its order says little. The "
        "defaults "
        "made for text are not the best here: the exponent of the noise above all (Caselles-Dupré et al. 2018).",
        "word2vec 并不懂语言，它只需要“同现者相关”的序列（Barkan 与 Koenigstein 2016；Grbovic 与 Cheng 2018）。窗口应"
        "覆盖整个篮子，因为次序意义不大。"
        "为文本设的默认值在此并非最佳，首先是噪声指数（Caselles-Dupré 等 2018）。",
    ),
    sources=(
        "Barkan & Koenigstein 2016, Item2vec",
        "Caselles-Dupré et al. 2018, Word2vec Applied to Recommendation: Hyperparameters Matter",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=5, size=4_000), Budget(seeds=5, steps=10, size=15_000)),
)
