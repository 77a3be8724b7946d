"""A small generated zh–en language, truthful to both: every pair carries its true word alignment.

What is drawn is a meaning, built up of phrases that know both languages at once: words that translate each other share
a key, whatever order the grammars put them in. So the alignment is right by construction, and the English sentence is
a function of the Chinese one.

Every word of either side has a link. Words without a counterpart go with the word they serve: a measure word with its
numeral or determiner (一只 ↔ a) unless English has it too (杯 ↔ cup of), an English article that Chinese leaves out
with its noun, 了 with the past tense, 吗 with the auxiliary that opens the question, 的 with what it attaches.
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
# Verbs whose English depends on the noun are learnt noun by noun; nothing could be expected of a new one.
_SEVERAL_SENSES = frozenset({"看", "打", "花", "苹果"})
_PARTNERS_KEPT = 4


@dataclass(frozen=True, slots=True)
class DemoPair:
    """A sentence of the demo language, its translation, and how their words belong together.

    Attributes:
        source: Chinese, as it is written.
        target: English, as it is written.
        source_words: the words of `source`; joined without spaces they are it.
        target_words: the words and marks of `target`.
        alignment: (source word, target word) index pairs, sorted; every word of either side is in one.
        template: the name of the pattern the sentence was built by.
        combinations: (verb or adjective, noun) pairs of Chinese words that stand in direct relation, sorted.
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
        test: no source and no target of these is in `train` or `valid`.
        unseen_combinations: those of `test` that combine words which never stood together in training.
    """

    train: tuple[DemoPair, ...]
    valid: tuple[DemoPair, ...]
    test: tuple[DemoPair, ...]
    unseen_combinations: tuple[DemoPair, ...]


def generate(count: int, seed: int = 1) -> list[DemoPair]:
    """Return `count` pairs, no two with the same source; a longer list from the same seed begins with the shorter."""
    return list(islice(_distinct(_stream(seed)), count))


def fixed_phrases() -> list[DemoPair]:
    """Return the phrases that are learnt by heart: 好久不见。 Long time no see."""
    dice = generator(0, "demo", "fixed phrases")
    pairs = []
    for number in range(len(GREETINGS)):
        rng = SentenceRng(dice)
        pairs.append(_pair(*greeting_alone(rng, number), "greeting_alone", rng))
    return pairs


def split(
    train_pairs: int = TRAIN_PAIRS, *, valid_pairs: int = VALID_PAIRS, test_pairs: int = TEST_PAIRS, seed: int = 1
) -> DemoData:
    """Return training, validation and test pairs of which the test is unseen.

    Two test pairs in five hold a combination of `held_out_combinations`: no training or validation sentence has both of
    its words anywhere in it. No source and no target of the test is in training or validation. The fixed phrases are
    all in training.
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
    """Return pairs of which two in five hold a combination held out, no two with the same target, none `taken`."""
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
    """Return every (verb or adjective, noun) combination of the language, sorted."""
    return sorted(
        {(adjective.zh, noun.zh) for adjective in ADJECTIVES for noun in adjective.nouns}
        | {(verb.zh, noun.zh) for verb in (*VERBS, *PEOPLE_VERBS) for noun in verb.objects}
    )


def held_out_combinations(seed: int = 1) -> frozenset[tuple[str, str]]:
    """Return a tenth of the (verb or adjective, noun) combinations of the language, kept out of training.

    Words of several senses are spared, and every word keeps at least four partners.
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
        if _SEVERAL_SENSES.isdisjoint(pair) and all(partners[word] > _PARTNERS_KEPT for word in pair):
            held_out.add(pair)
            for word in pair:
                partners[word] -= 1
    return frozenset(held_out)


def cooccurrences(pairs: Iterable[DemoPair]) -> frozenset[tuple[str, str]]:
    """Return every two Chinese words, in both orders, that stand together in the source of one of `pairs`."""
    return frozenset(couple for pair in pairs for couple in permutations(set(pair.source_words), 2))


def has_unseen_combination(pair: DemoPair, together: frozenset[tuple[str, str]]) -> bool:
    """Tell whether a sentence combines words that never stood together in training.

    That is: one of its verbs or adjectives and the noun that it governs or describes occur together in no sentence of
    the training data, in whatever relation.

    Args:
        together: `cooccurrences` of the training pairs.
    """
    return any(combination not in together for combination in pair.combinations)


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each word stands in its text, as (first, past the last) character offsets."""
    found, start = [], 0
    for word in words:
        start = text.index(word, start)
        found.append((start, start + len(word)))
        start += len(word)
    return found


def _stream(seed: int) -> Iterator[DemoPair]:
    dice = generator(seed, "demo", "sentences")
    while True:
        rng = SentenceRng(dice)
        template = rng.weighted(_TEMPLATES)
        yield _pair(*template(rng), template.__name__, rng)


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
    """Return what tells whether a sentence holds no two words of a combination held out, in any relation."""
    partners: dict[str, set[str]] = {}
    for word, noun in held_out:
        partners.setdefault(word, set()).add(noun)
    return lambda pair: (
        not any(word in partners and not partners[word].isdisjoint(pair.source_words) for word in pair.source_words)
    )
