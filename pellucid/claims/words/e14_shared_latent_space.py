"""E14: two languages meet in one latent space."""

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_text import demo_vectors
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Estimate, Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.claims.translation_retrieval import measure_retrieval
from pellucid.demo.lexicon import ADJECTIVES, NOUNS
from pellucid.randomness import generator
from pellucid.word_vectors import WordVectors

__all__ = ["CLAIM", "measure", "turned_retrieval"]

_SENTENCES = 100


def turned_retrieval(chinese: WordVectors, english: WordVectors, seed: int) -> tuple[float, int]:
    """Learn a rotation from a seed lexicon of half the words; find the partners of the other half.

    Returns:
        The share of Chinese words whose nearest English word is their translation, and among how many words it was
        looked for.
    """
    known_words = [(noun.zh, noun.en) for noun in NOUNS] + [(adjective.zh, adjective.en) for adjective in ADJECTIVES]
    pairs = sorted({(zh, en.lower()) for zh, en in known_words})
    known = [(zh, en) for zh, en in pairs if zh in chinese and en in english]
    order = generator(seed, "E14").permutation(len(known))
    half = len(known) // 2
    train, test = ([known[n] for n in part] for part in (order[:half], order[half:]))
    rows, columns = (
        [space.direction(word) for word in words]
        for space, words in zip((chinese, english), zip(*train, strict=True), strict=True)
    )
    left, _, right = numpy.linalg.svd(numpy.stack(rows).T @ numpy.stack(columns))
    turned = numpy.stack([chinese.direction(zh) for zh, _ in test]) @ left @ right
    candidates = sorted({en for _, en in known})
    nearest = (turned @ numpy.stack([english.direction(word) for word in candidates]).T).argmax(1)
    return float(numpy.mean([candidates[n] == en for n, (_, en) in zip(nearest, test, strict=True)])), len(candidates)


def measure(budget: Budget, seed: int) -> Evidence:
    """Retrieve partners in a trained translator, and between two turned monolingual spaces."""
    found: dict[str, list[float]] = {}
    records = []
    for number in budget.every_seed(seed):
        trained = demo_translator(budget.steps, number)
        spaces = demo_vectors("zh", budget.size, number), demo_vectors("en", budget.size, number + 500)
        words, among = turned_retrieval(*spaces, number)
        sentences = measure_retrieval(trained, _SENTENCES)
        ways = {
            "sentences, turned": sentences.turned,
            "sentences as they are": sentences.as_they_are,
            "sentences by chance": 1 / _SENTENCES,
            "words, turned": words,
            "words by chance": 1 / among,
        }
        for way, value in ways.items():
            found.setdefault(way, []).append(value)
            records.append({"way": way, "seed": str(number), "found": value})
    titles = {
        "way": Text("what is looked for", "检索对象"),
        "found": Text("partner found first", "首位即为对应项的比例"),
        "seed": Text("seed", "种子"),
    }

    def over_chance(way: str, chance: str) -> Estimate:
        return mean_over_seeds(a / b for a, b in zip(found[way], found[chance], strict=True))

    numbers = {
        "sentences_turned_over_chance": over_chance("sentences, turned", "sentences by chance"),
        "words_turned_over_chance": over_chance("words, turned", "words by chance"),
        "sentences_as_they_are_over_chance": over_chance("sentences as they are", "sentences by chance"),
        "sentences_found": mean_over_seeds(found["sentences, turned"]),
        "words_found": mean_over_seeds(found["words, turned"]),
    }
    return Evidence(numbers, records, Figure("bar", "way", "found", "seed", titles))


_TIMES = Text(
    "ten times chance over all of the interval is a common space; twice chance is not",
    "整个区间都达到偶然的十倍才算共同空间；两倍不算",
)
_NOT = Text(
    "as above; less than five times chance over all of the interval, half of what is asked, is no common space",
    "同上；整个区间都不到偶然的五倍（要求的一半），就不算共同空间",
)

CLAIM = Claim(
    id="E14",
    statement=Text("Two languages meet in one latent space.", "两种语言在同一个潜在空间中相遇。"),
    equation="argmin_R ‖X R − Y‖,  Rᵀ R = I",
    measured=Text(
        "(a) a translator trained on the demo language: partners found among 100 sentences, encoder states against the "
        "decoder's stream before it looks at the source, as they are and turned by a rotation learnt from training "
        "pairs; (b) vectors of either language, trained on different "
        "sentences "
        "(size: sentences), turned onto each other by half of a lexicon: partners found for the other half",
        "（a）在演示语言上训练的翻译器：在 100 句中找对应句，编码器状态对照解码器看源句之前的流，直接比较，以及用训练句"
        "对学得的旋转转动后比较；（b）两种语言的词向量"
        "分别在不同句子上训练"
        "（size 为句数），用一半词典旋转对齐，为另一半找对应词",
    ),
    rule=Rule(
        holds=(
            at_least("sentences_turned_over_chance", 10.0, _TIMES, fails_at=2.0),
            at_least("words_turned_over_chance", 10.0, SEEDS, fails_at=2.0),
        ),
        beyond=(at_least("sentences_as_they_are_over_chance", 10.0, _NOT, fails_at=5.0),),
        condition=Text(
            "one side may be turned: the spaces agree up to a rotation, coordinate by coordinate they have nothing in "
            "common, in one translator as between two trainings",
            "允许转动一侧：两个空间相差一个旋转，逐个坐标则毫无共同之处；同一翻译器之内如此，两次训练之间也如此",
        ),
    ),
    reading=Text(
        "A decoder reads what the encoder wrote through W_Q and W_K, which take back any turn of one side; so a "
        "translator needs one shape on both sides, not one set of axes. That even two spaces trained apart are nearly "
        "rotations of each other is the finding (Mikolov et al. 2013d; Xing et al. 2015), and it "
        "weakens "
        "with the distance of languages and of texts (Søgaard et al. 2018). Here both sides tell of one small world.",
        "解码器经由 W_Q 与 W_K 阅读编码器所写，一边怎样转动都可由它们抵消；所以翻译器需要两边形状相同，不需要坐标轴相"
        "同。两个分开训练的空间竟也近乎互为旋转，才是真正的发现"
        "（Mikolov 等 2013d；Xing 等 2015），"
        "而语言相距越远、语料差别越大，它就越弱（Søgaard 等 2018）。这里两边说的是同一个小世界。",
    ),
    sources=(
        "Mikolov et al. 2013d, Exploiting Similarities among Languages",
        "Xing et al. 2015",
        "Søgaard et al. 2018, On the Limitations of Unsupervised Bilingual Dictionary Induction",
    ),
    run=measure,
    # Where the sentences fail as they are was set anew after seeds from 2,001 on had been seen, which gave 0.1 to 2.6
    # times chance (docs/decisions/0014-the-claims-lab.md): it is judged on seeds that had not been drawn then.
    effort=Effort(Budget(seeds=3, steps=150, size=3_000), Budget(seeds=6, steps=1_500, size=15_000, skip=1_000)),
)
