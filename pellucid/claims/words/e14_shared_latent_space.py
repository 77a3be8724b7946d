"""E14: two languages meet in one latent space."""

import numpy

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_text import demo_vectors
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Estimate, Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.claims.translation_retrieval import measure_retrieval
from pellucid.demo.lexicon import ADJECTIVES, NOUNS
from pellucid.randomness import generator
from pellucid.vectors import WordVectors

__all__ = ["CLAIM", "measure", "retrieve_words"]

_SENTENCES = 100


def retrieve_words(chinese: WordVectors, english: WordVectors, seed: int) -> tuple[float, int]:
    """Learn a rotation from half the words of a lexicon; retrieve the translations of the other half.

    Returns:
        The share of Chinese words whose nearest English word is their translation,
        and the number of candidates.
    """
    known_words = [(noun.zh, noun.en) for noun in NOUNS] + [(adjective.zh, adjective.en) for adjective in ADJECTIVES]
    pairs = sorted({(zh, en.lower()) for zh, en in known_words})
    known = [(zh, en) for zh, en in pairs if zh in chinese and en in english]
    order = generator(seed, "E14").permutation(len(known))
    half = len(known) // 2
    train, test = ([known[n] for n in part] for part in (order[:half], order[half:]))
    rows, columns = (
        [space.unit_vector(word) for word in words]
        for space, words in zip((chinese, english), zip(*train, strict=True), strict=True)
    )
    left, _, right = numpy.linalg.svd(numpy.stack(rows).T @ numpy.stack(columns))
    rotated = numpy.stack([chinese.unit_vector(zh) for zh, _ in test]) @ left @ right
    candidates = sorted({en for _, en in known})
    nearest = (rotated @ numpy.stack([english.unit_vector(word) for word in candidates]).T).argmax(1)
    return float(numpy.mean([candidates[n] == en for n, (_, en) in zip(nearest, test, strict=True)])), len(candidates)


def measure(setup: Setup) -> Evidence:
    """Retrieve translations in a trained translator, and between two rotated monolingual spaces."""
    found: dict[str, list[float]] = {}
    records = []
    for seed in setup.every_seed():
        trained = demo_translator(setup.steps, seed)
        spaces = demo_vectors("zh", setup.size, seed), demo_vectors("en", setup.size, seed + 500)
        words, among = retrieve_words(*spaces, seed)
        sentences = measure_retrieval(trained, _SENTENCES)
        ways = {
            "sentences, rotated": sentences.rotated,
            "sentences, direct": sentences.direct,
            "sentences by chance": 1 / _SENTENCES,
            "words, rotated": words,
            "words by chance": 1 / among,
        }
        for way, value in ways.items():
            found.setdefault(way, []).append(value)
            records.append({"way": way, "seed": str(seed), "found": value})

    def over_chance(way: str, chance: str) -> Estimate:
        return mean_over_seeds(a / b for a, b in zip(found[way], found[chance], strict=True))

    numbers = {
        "sentences_rotated_over_chance": over_chance("sentences, rotated", "sentences by chance"),
        "words_rotated_over_chance": over_chance("words, rotated", "words by chance"),
        "sentences_direct_over_chance": over_chance("sentences, direct", "sentences by chance"),
        "sentences_found": share_over_seeds(found["sentences, rotated"]),
        "words_found": share_over_seeds(found["words, rotated"]),
    }
    return Evidence(numbers, records, Figure("bar", "way", "found", "seed"))


CLAIM = claim(
    measure,
    at_least("sentences_rotated_over_chance", 10.0, fails_at=2.0),
    at_least("words_rotated_over_chance", 10.0, fails_at=2.0),
    outside=(at_least("sentences_direct_over_chance", 10.0, fails_at=5.0),),
    # The threshold at which direct retrieval fails was changed after seeds from 2,001 on had been seen, which gave 0.1
    # to 2.6 times chance (docs/decisions/0014-the-claims-lab.md): it is judged on seeds not drawn by then.
    effort=Effort(Setup(seeds=3, steps=150, size=3_000), Setup(seeds=6, steps=1_500, size=15_000, skip=1_000)),
)
