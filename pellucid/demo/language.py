"""A small generated Chinese–English language, faithful to both: every pair has its true word alignment.

The generator draws a meaning and builds it from phrases that know both languages at once: words that translate each
other share a key, wherever the two grammars put them. So the alignment is correct by construction, and the English
sentence is a function of the Chinese one.

Every word of either side has a link. A word without a counterpart is linked through the word that it belongs to: a
measure word with its numeral or determiner (一只 ↔ a) unless English has one too (杯 ↔ cup of), an English article that
Chinese leaves out with its noun, 了 with the past tense, 吗 with the auxiliary that opens the question, 的 with the
word that it attaches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice, permutations

from pellucid.demo.descriptions import DESCRIPTIONS
from pellucid.demo.events import EVENTS
from pellucid.demo.lexicon import ADJECTIVES
from pellucid.demo.phrases import GREETINGS, PHRASES, greeting_alone
from pellucid.demo.questions import QUESTIONS
from pellucid.demo.verbs import PEOPLE_VERBS, VERBS
from pellucid.demo.words import SentenceRng, Words, find_links, spell_chinese, spell_english
from pellucid.randomness import generator

__all__ = [
    "TEST_PAIRS",
    "TRAIN_PAIRS",
    "VALID_PAIRS",
    "DemoData",
    "DemoPair",
    "all_combinations",
    "cooccurrences",
    "fixed_phrases",
    "generate",
    "has_unseen_combination",
    "held_out_combinations",
    "spans",
    "split",
]

TRAIN_PAIRS = 20_000
VALID_PAIRS = 200
TEST_PAIRS = 500
_TEMPLATES = (*EVENTS, *DESCRIPTIONS, *QUESTIONS, *PHRASES)
# A word whose English depends on its partner is learnt partner by partner, so an unseen partner would be unfair.
_POLYSEMOUS = frozenset({"看", "打", "花", "苹果"})
_MIN_PARTNERS = 4  # that a word keeps in training


@dataclass(frozen=True, slots=True)
class DemoPair:
    """A sentence of the demo language, its translation and their word alignment.

    Attributes:
        source: the Chinese sentence.
        target: the English sentence.
        source_words: the words of `source`; joined without spaces they spell it.
        target_words: the words and punctuation marks of `target`.
        alignment: (source word, target word) index pairs, sorted; every word of either side is in at least one.
        template: the name of the sentence pattern.
        combinations: (verb or adjective, noun) pairs of Chinese words that govern or modify each other, sorted.
    """

    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    template: str
    combinations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DemoData:
    """Training, validation and test pairs.

    Attributes:
        test: pairs whose source and target are not in `train` or `valid`.
        unseen_combinations: the test pairs with a combination of words that never occur together in training.
    """

    train: tuple[DemoPair, ...]
    valid: tuple[DemoPair, ...]
    test: tuple[DemoPair, ...]
    unseen_combinations: tuple[DemoPair, ...]


def generate(count: int, seed: int = 1) -> list[DemoPair]:
    """Generate `count` pairs with distinct sources; a longer list from the same seed begins with the shorter one."""
    return list(islice(_distinct(_stream(seed)), count))


def fixed_phrases() -> list[DemoPair]:
    """Make the pairs of the fixed phrases, such as 好久不见。 Long time no see."""
    rng = generator(0, "demo", "fixed phrases")
    pairs = []
    for number in range(len(GREETINGS)):
        sentence = SentenceRng(rng)
        pairs.append(_pair(*greeting_alone(sentence, number), "greeting_alone", sentence))
    return pairs


def split(
    train_pairs: int = TRAIN_PAIRS, *, valid_pairs: int = VALID_PAIRS, test_pairs: int = TEST_PAIRS, seed: int = 1
) -> DemoData:
    """Generate training, validation and test pairs that do not overlap.

    Two in five test pairs contain one of `held_out_combinations`: no training or validation sentence contains both of
    its words. No source and no target of the test is in training or validation. All fixed phrases are in training.
    """
    held_out = held_out_combinations(seed)
    apart = _apart(held_out)
    fixed = fixed_phrases()
    stream = _distinct(_stream(seed), {pair.source for pair in fixed})
    test = _test_pairs(stream, held_out, test_pairs, {pair.target for pair in fixed})
    test_targets = {pair.target for pair in test}
    usable = (pair for pair in stream if pair.target not in test_targets and apart(pair))
    valid = tuple(islice(usable, valid_pairs))
    train = (*fixed, *islice(usable, max(train_pairs - len(fixed), 0)))
    together = cooccurrences(train)
    order = generator(seed, "demo", "order of the test").permutation(test_pairs)
    shuffled = tuple(test[int(index)] for index in order)
    return DemoData(train, valid, shuffled, tuple(pair for pair in shuffled if has_unseen_combination(pair, together)))


def _test_pairs(
    stream: Iterator[DemoPair], held_out: frozenset[tuple[str, str]], count: int, taken: set[str]
) -> list[DemoPair]:
    """Take pairs with distinct targets, none of them `taken`, of which two in five have a held-out combination."""
    taken, apart = set(taken), _apart(held_out)
    room = {True: count * 2 // 5, False: count - count * 2 // 5}
    test: list[DemoPair] = []
    while any(room.values()):
        pair = next(stream)
        new = not held_out.isdisjoint(pair.combinations)
        if pair.target not in taken and room[new] and (new or apart(pair)):
            room[new] -= 1
            taken.add(pair.target)
            test.append(pair)
    return test


def all_combinations() -> list[tuple[str, str]]:
    """List every (verb or adjective, noun) combination of the language, sorted."""
    return sorted(
        {(adjective.zh, noun.zh) for adjective in ADJECTIVES for noun in adjective.nouns}
        | {(verb.zh, noun.zh) for verb in (*VERBS, *PEOPLE_VERBS) for noun in verb.objects}
    )


def held_out_combinations(seed: int = 1) -> frozenset[tuple[str, str]]:
    """Choose a tenth of the (verb or adjective, noun) combinations to be kept out of training.

    Polysemous words are exempt, and every word keeps at least four partners.
    """
    every = all_combinations()
    partners: dict[str, int] = {}
    for pair in every:
        for word in pair:
            partners[word] = partners.get(word, 0) + 1
    held_out: set[tuple[str, str]] = set()
    for index in generator(seed, "demo", "held out").permutation(len(every)):
        pair = every[int(index)]
        if len(held_out) == len(every) // 10:
            break
        if _POLYSEMOUS.isdisjoint(pair) and all(partners[word] > _MIN_PARTNERS for word in pair):
            held_out.add(pair)
            for word in pair:
                partners[word] -= 1
    return frozenset(held_out)


def cooccurrences(pairs: Iterable[DemoPair]) -> frozenset[tuple[str, str]]:
    """Collect all pairs of Chinese words, in both orders, that occur together in a source sentence."""
    return frozenset(couple for pair in pairs for couple in permutations(set(pair.source_words), 2))


def has_unseen_combination(pair: DemoPair, together: frozenset[tuple[str, str]]) -> bool:
    """Check whether one of a sentence's verbs or adjectives never occurs with its noun in a training sentence.

    Args:
        together: `cooccurrences` of the training pairs.
    """
    return any(combination not in together for combination in pair.combinations)


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Find the (start, end) character offsets of each word in its text."""
    found, start = [], 0
    for word in words:
        start = text.index(word, start)
        found.append((start, start + len(word)))
        start += len(word)
    return found


def _stream(seed: int) -> Iterator[DemoPair]:
    rng = generator(seed, "demo", "sentences")
    while True:
        sentence = SentenceRng(rng)
        template = sentence.weighted(_TEMPLATES)
        yield _pair(*template(sentence), template.__name__, sentence)


def _distinct(pairs: Iterable[DemoPair], known: Set[str] = frozenset()) -> Iterator[DemoPair]:
    seen = set(known)
    for pair in pairs:
        if pair.source not in seen:
            seen.add(pair.source)
            yield pair


def _pair(source: Words, target: Words, template: str, rng: SentenceRng) -> DemoPair:
    chinese, source_words = spell_chinese(source)
    english, target_words = spell_english(target)
    combined = tuple(sorted(rng.combinations))
    return DemoPair(chinese, english, source_words, target_words, find_links(source, target), template, combined)


def _apart(held_out: frozenset[tuple[str, str]]) -> Callable[[DemoPair], bool]:
    """Make a predicate that is true of pairs whose source contains no held-out combination, in whatever relation."""
    partners: dict[str, set[str]] = {}
    for word, noun in held_out:
        partners.setdefault(word, set()).add(noun)
    return lambda pair: (
        not any(word in partners and not partners[word].isdisjoint(pair.source_words) for word in pair.source_words)
    )
