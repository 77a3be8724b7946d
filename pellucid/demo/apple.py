"""苹果, the fruit and the company: a word of two senses, disambiguated by its context."""

from pellucid.demo.clauses import MARKS, MOODS, Clause, Predicate, choose_time
from pellucid.demo.descriptions import adjective_clause, be_clause
from pellucid.demo.english import plural, verb_forms
from pellucid.demo.events import Sentence, make_sentence, punctuate
from pellucid.demo.lexicon import ADJECTIVES, nouns_of
from pellucid.demo.noun_phrases import (
    NounPhrase,
    bare_noun,
    counted_noun,
    demonstrative_noun,
    indefinite_noun,
    non_first_person,
    person,
    possessed_noun,
    third_person,
)
from pellucid.demo.predicates import transitive
from pellucid.demo.verbs import Verb
from pellucid.demo.words import SentenceRng, tag

__all__ = ["apple"]

_APPLE_THINGS = nouns_of("手机 电脑")
_OF_DEVICES = tuple(adjective for adjective in ADJECTIVES if adjective.zh in ("贵", "漂亮", "便宜"))
_OF_APPLES = tuple(adjective for adjective in ADJECTIVES if adjective.zh in ("好吃", "贵", "便宜", "大"))
_APPLES = nouns_of("苹果")[0]


def apple(rng: SentenceRng) -> Sentence:
    """苹果很好吃。 Apples are delicious; 他在苹果工作。 He works at Apple."""
    patterns = (
        (3.0, _works_at), (3.0, _apple_device), (2.0, _apples_device), (2.0, _releases), (2.0, _is_company),
        (2.0, _fruit),
    )  # fmt: skip
    return rng.weighted(patterns)(rng)


def _works_at(rng: SentenceRng) -> Sentence:
    aspect, mood = rng.choose(("state", "wish", "past")), rng.weighted(MOODS)
    at_key, key = rng.new_keys(2)
    firm = _company(rng) if rng.chance(0.35) else _the_firm(rng)
    predicate = Predicate(
        tag("在", at_key) + firm.source, tag("工作", key), (), verb_forms("work"), key, tag("at", at_key) + firm.target
    )
    subject = non_first_person(rng) if mood == "question" else person(rng)
    clause = Clause(
        subject, predicate, aspect, mood == "negative", choose_time(rng, "past") if aspect == "past" else None
    )
    return make_sentence(rng, clause, mood == "question")


def _the_firm(rng: SentenceRng) -> NounPhrase:
    key = rng.new_key()
    return third_person(tag("苹果", key), tag("Apple", key))


def _company(rng: SentenceRng) -> NounPhrase:
    zh, en = rng.choose((("大", "big"), ("小", "small"), ("新", "new"), ("有名", "famous")))
    one, quality, key = rng.new_keys(3)
    attribute = tag(zh, quality) + (tag("的", quality) if len(zh) > 1 else ())
    source = tag("一", one) + tag("家", one) + attribute + tag("公司", key)
    return third_person(source, tag("a", one) + tag(en, quality) + tag("company", key))


def _apple_device(rng: SentenceRng) -> Sentence:
    """他买了一部苹果手机。 He bought an Apple phone."""
    noun, firm, is_plural = rng.choose(_APPLE_THINGS), _the_firm(rng), rng.chance(0.3)
    thing, count = rng.new_keys(2)
    zh, en = ("两", "two") if is_plural else ("一", "a")
    source = tag(zh, count) + tag(noun.measure, count) + firm.source + tag(noun.zh, thing)
    target = tag(en, count) + firm.target + tag(plural(noun.en) if is_plural else noun.en, thing)
    verb = rng.choose((Verb("买", "buy"), Verb("卖", "sell")))
    clause = Clause(
        non_first_person(rng),
        transitive(rng, verb, third_person(source, target)),
        "past",
        time=choose_time(rng, "past"),
    )
    return make_sentence(rng, clause, rng.chance(0.2))


def _apples_device(rng: SentenceRng) -> Sentence:
    """苹果的新手机很贵。 Apple's new phone is expensive."""
    noun, adjective, mood = rng.choose(_APPLE_THINGS), rng.choose(_OF_DEVICES), rng.weighted(MOODS)
    firm, possessive, new, thing = _the_firm(rng), rng.new_key(), rng.new_key(), rng.new_key()
    source = firm.source + tag("的", possessive) + tag("新", new) + tag(noun.zh, thing)
    target = firm.target + tag("'s", possessive) + tag("new", new) + tag(noun.en, thing)
    rng.combine("新", noun.zh)
    rng.combine(adjective.zh, noun.zh)
    return punctuate(rng, adjective_clause(rng, third_person(source, target), adjective, mood), MARKS[mood])


def _releases(rng: SentenceRng) -> Sentence:
    thing = rng.choose((indefinite_noun, counted_noun))(rng, rng.choose(_APPLE_THINGS))
    clause = Clause(
        _the_firm(rng), transitive(rng, Verb("发布", "release"), thing), "past", time=choose_time(rng, "past")
    )
    return make_sentence(rng, clause, rng.chance(0.3))


def _is_company(rng: SentenceRng) -> Sentence:
    key, firm, company = rng.new_key(), _the_firm(rng), _company(rng)
    mood = rng.weighted(((6.0, "affirmative"), (2.0, "question")))
    clause = be_clause(rng, firm, mood, tag("是", key), company.source, company.target, key)
    return punctuate(rng, clause, MARKS[mood])


def _fruit(rng: SentenceRng) -> Sentence:
    adjective = rng.choose(_OF_APPLES)
    rng.combine(adjective.zh, "苹果")
    subject = rng.weighted(((1.0, bare_noun), (1.0, demonstrative_noun), (1.0, possessed_noun)))(rng, _APPLES)
    return punctuate(rng, adjective_clause(rng, subject, adjective, "affirmative"))
