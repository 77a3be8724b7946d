"""Text of the demo language for experiments, and word vectors of it, each computed once."""

from collections.abc import Container
from functools import lru_cache
from itertools import combinations

from torch import Tensor

from pellucid.claims.texts import Language
from pellucid.demo.language import DemoPair, all_combinations, generate
from pellucid.demo.lexicon import ADJECTIVES, NOUNS
from pellucid.generation.batching import pad_rows
from pellucid.vectors import WordVectors

__all__ = ["classes", "demo_pairs", "demo_sentences", "demo_vectors", "noun_similarities", "noun_uses", "word_texts"]


@lru_cache(maxsize=16)
def demo_pairs(count: int, seed: int) -> tuple[DemoPair, ...]:
    """Generate sentence pairs of the demo language."""
    return tuple(generate(count, seed))


def demo_sentences(language: Language, count: int, seed: int) -> list[list[str]]:
    """Generate sentences of one side as lists of words without punctuation, English in lower case."""
    sides = (pair.source_words if language == "zh" else pair.target_words for pair in demo_pairs(count, seed))
    return [[word.lower() for word in words if any(letter.isalnum() for letter in word)] for words in sides]


@lru_cache(maxsize=16)
def demo_vectors(language: Language, count: int, seed: int, epochs: int = 5) -> WordVectors:
    """Train vectors of the words that occur at least five times in sentences of one side."""
    return WordVectors.train(
        demo_sentences(language, count, seed),
        dim=32, epochs=epochs, window=3, sample=0.0, min_count=5, seed=seed, threads=1, learning_rate=0.05,
    )  # fmt: skip


def classes() -> dict[str, str]:
    """Look up the class of each unambiguous Chinese word: noun or adjective."""
    nouns, adjectives = {noun.zh for noun in NOUNS}, {adjective.zh for adjective in ADJECTIVES}
    both = nouns & adjectives
    return {
        **{word: "noun" for word in sorted(nouns - both)},
        **{word: "adjective" for word in sorted(adjectives - both)},
    }


def noun_uses() -> dict[str, frozenset[str]]:
    """List the verbs and adjectives that each Chinese noun may occur with."""
    uses: dict[str, set[str]] = {}
    for word, noun in all_combinations():
        uses.setdefault(noun, set()).add(word)
    return {noun: frozenset(words) for noun, words in sorted(uses.items())}


def noun_similarities(known: Container[str]) -> dict[tuple[str, str], float]:
    """Compute the share of verbs and adjectives in common for every pair of known nouns."""
    uses = {noun: words for noun, words in noun_uses().items() if noun in known}
    return {(a, b): len(uses[a] & uses[b]) / len(uses[a] | uses[b]) for a, b in combinations(uses, 2)}


def word_texts(vectors: WordVectors, seed: int, count: int) -> Tensor:
    """Encode Chinese sentences as word ids, one more than the words' rows; 0 is padding and unknown words.

    The sentences differ from those that the vectors of the same seed were trained on.
    """
    rows = {word: row + 1 for row, word in enumerate(vectors.words)}
    sentences = demo_sentences("zh", count, seed + 1_000)
    return pad_rows([[rows.get(word, 0) for word in words] for words in sentences], 0)
