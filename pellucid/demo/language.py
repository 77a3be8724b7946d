"""A small generated zh–en language, truthful to both, whose every pair carries its true word alignment.

What is drawn is a meaning, built up of phrases that know both languages at once: words that translate each other share a
key, whatever order the grammars put them in. So the alignment is right by construction, and the English sentence is a
function of the Chinese one.

Alignment: every word of either side has a link. Words without a counterpart go with the word they serve: a measure word
with its numeral or determiner (一只 ↔ a) unless English has it too (杯 ↔ cup of), an English article that Chinese leaves
out with its noun, 了 with the past tense, 吗 with the auxiliary that opens the question, 的 with what it attaches.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from pellucid.demo.descriptions import DESCRIPTIONS
from pellucid.demo.events import EVENTS
from pellucid.demo.lexicon import ADJECTIVES
from pellucid.demo.phrases import GREETINGS, PHRASES, greeting_alone
from pellucid.demo.questions import QUESTIONS
from pellucid.demo.verbs import PEOPLE_VERBS, VERBS
from pellucid.demo.words import Draw, Words, links, spelt_chinese, spelt_english
from pellucid.randomness import generator

__all__ = [
    "TRAIN_PAIRS", "DemoData", "DemoPair", "combines_unseen", "fixed_phrases", "generate", "held_out_combinations", "spans", "split",
    "words_together",
]  # fmt: skip

TRAIN_PAIRS = 20_000
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
        draw = Draw(dice)
        pairs.append(_pair(*greeting_alone(draw, number), "greeting_alone", draw))
    return pairs


def split(train_pairs: int = TRAIN_PAIRS, *, valid_pairs: int = 200, test_pairs: int = 500, seed: int = 1) -> DemoData:
    """Return training, validation and test pairs of which the test is unseen.

    Two test pairs in five hold a combination of `held_out_combinations`: no training or validation sentence has both of
    its words anywhere in it. No source and no target of the test is in training or validation. The fixed phrases are all
    in training.
    """
    held_out = held_out_combinations(seed)
    fixed = fixed_phrases()
    stream = (pair for pair in _distinct(_stream(seed)) if pair.template != "greeting_alone")
    with_held_out = test_pairs * 2 // 5
    test_new: list[DemoPair] = []
    test_plain: list[DemoPair] = []
    train: list[DemoPair] = []
    targets = {pair.target for pair in fixed}
    while len(test_new) < with_held_out or len(test_plain) < test_pairs - with_held_out:
        pair = next(stream)
        if pair.target in targets:
            continue
        if not held_out.isdisjoint(pair.combinations):
            kept, room = test_new, with_held_out
        elif held_out.isdisjoint(_together(pair)):
            kept, room = test_plain, test_pairs - with_held_out
        else:
            continue
        if len(kept) < room:
            kept.append(pair)
            targets.add(pair.target)
    test_targets = {pair.target for pair in (*test_new, *test_plain)}
    usable = (pair for pair in stream if pair.target not in test_targets and held_out.isdisjoint(_together(pair)))
    valid = tuple(islice(usable, valid_pairs))
    train = [*fixed, *islice(usable, max(train_pairs - len(fixed), 0))]
    order = generator(seed, "demo", "order of the test").permutation(test_pairs)
    both = (*test_new, *test_plain)
    test = tuple(both[int(index)] for index in order)
    together = words_together(train)
    return DemoData(tuple(train), valid, test, tuple(pair for pair in test if combines_unseen(pair, together)))


def held_out_combinations(seed: int = 1) -> frozenset[tuple[str, str]]:
    """Return a tenth of the (verb or adjective, noun) combinations of the language, kept out of training.

    Words of several senses are spared, and every word keeps at least four partners.
    """
    every = sorted(
        {(adjective.zh, noun.zh) for adjective in ADJECTIVES for noun in adjective.nouns}
        | {(verb.zh, noun.zh) for verb in (*VERBS, *PEOPLE_VERBS) for noun in verb.objects}
    )
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


def words_together(pairs: Iterable[DemoPair]) -> frozenset[tuple[str, str]]:
    """Return every (word, other word) of Chinese words that stand together in the source of one of `pairs`, in both orders."""
    together: set[tuple[str, str]] = set()
    for pair in pairs:
        together.update(_together(pair))
    return frozenset(together)


def combines_unseen(pair: DemoPair, together: frozenset[tuple[str, str]]) -> bool:
    """Tell whether a sentence combines words that never stood together in training.

    That is: one of its verbs or adjectives and the noun that it governs or describes occur together in no sentence of the
    training data, in whatever relation.

    Args:
        together: `words_together` of the training pairs.
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
        draw = Draw(dice)
        template = draw.weigh(_TEMPLATES)
        yield _pair(*template(draw), template.__name__, draw)


def _distinct(pairs: Iterable[DemoPair]) -> Iterator[DemoPair]:
    seen: set[str] = set()
    for pair in pairs:
        if pair.source not in seen:
            seen.add(pair.source)
            yield pair


def _pair(source: Words, target: Words, template: str, draw: Draw) -> DemoPair:
    chinese, source_words = spelt_chinese(source)
    english, target_words = spelt_english(target)
    return DemoPair(chinese, english, source_words, target_words, links(source, target), template, tuple(sorted(draw.combinations)))


def _together(pair: DemoPair) -> set[tuple[str, str]]:
    words = set(pair.source_words)
    return {ordered for one, other in combinations(words, 2) for ordered in ((one, other), (other, one))}
