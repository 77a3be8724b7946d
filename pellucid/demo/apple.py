"""苹果, the fruit and the firm: a word of two senses, settled by what stands around it."""

from pellucid.demo.clauses import Clause, Predicate, time_for
from pellucid.demo.descriptions import be_clause, described
from pellucid.demo.english import plural, verb_forms
from pellucid.demo.events import Sentence, close, spoken
from pellucid.demo.lexicon import ADJECTIVES, nouns_of
from pellucid.demo.nominals import (
    Nominal,
    a_noun,
    asked_person,
    bare_noun,
    counted_noun,
    owned_noun,
    person,
    pointed_noun,
    third_person,
)
from pellucid.demo.predicates import transitive
from pellucid.demo.verbs import Verb
from pellucid.demo.words import Draw, said

__all__ = ["apple"]

_HOW = ((6.0, "said"), (2.0, "denied"), (2.0, "asked"))
_APPLE_THINGS = nouns_of("手机 电脑")
_OF_DEVICES = tuple(adjective for adjective in ADJECTIVES if adjective.zh in ("贵", "漂亮", "便宜"))
_OF_APPLES = tuple(adjective for adjective in ADJECTIVES if adjective.zh in ("好吃", "贵", "便宜", "大"))
_APPLES = nouns_of("苹果")[0]


def apple(draw: Draw) -> Sentence:
    """苹果很好吃。 Apples are delicious; 他在苹果工作。 He works at Apple."""
    patterns = (
        (3.0, _works_at),
        (3.0, _apple_device),
        (2.0, _apples_device),
        (2.0, _releases),
        (2.0, _is_company),
        (2.0, _fruit),
    )
    return draw.weigh(patterns)(draw)


def _works_at(draw: Draw) -> Sentence:
    aspect, how, at_key, key = draw.choose(("state", "wish", "past")), draw.weigh(_HOW), draw.key(), draw.key()
    firm = _company(draw) if draw.chance(0.35) else _the_firm(draw)
    predicate = Predicate(
        said("在", at_key) + firm.source,
        said("工作", key),
        (),
        verb_forms("work"),
        key,
        said("at", at_key) + firm.target,
    )
    subject = asked_person(draw) if how == "asked" else person(draw)
    clause = Clause(subject, predicate, aspect, how == "denied", time_for(draw, "past") if aspect == "past" else None)
    return spoken(draw, clause, how == "asked")


def _the_firm(draw: Draw) -> Nominal:
    key = draw.key()
    return third_person(said("苹果", key), said("Apple", key))


def _company(draw: Draw) -> Nominal:
    (zh, en), one, quality, key = (
        draw.choose((("大", "big"), ("小", "small"), ("新", "new"), ("有名", "famous"))),
        draw.key(),
        draw.key(),
        draw.key(),
    )
    attribute = said(zh, quality) + (said("的", quality) if len(zh) > 1 else ())
    source = said("一", one) + said("家", one) + attribute + said("公司", key)
    return third_person(source, said("a", one) + said(en, quality) + said("company", key))


def _apple_device(draw: Draw) -> Sentence:
    """他买了一部苹果手机。 He bought an Apple phone."""
    noun, thing, count, firm, many = (
        draw.choose(_APPLE_THINGS),
        draw.key(),
        draw.key(),
        _the_firm(draw),
        draw.chance(0.3),
    )
    zh, en = ("两", "two") if many else ("一", "a")
    source = said(zh, count) + said(noun.measure, count) + firm.source + said(noun.zh, thing)
    target = said(en, count) + firm.target + said(plural(noun.en) if many else noun.en, thing)
    verb = draw.choose((Verb("买", "buy"), Verb("卖", "sell")))
    clause = Clause(
        asked_person(draw), transitive(draw, verb, third_person(source, target)), "past", time=time_for(draw, "past")
    )
    return spoken(draw, clause, draw.chance(0.2))


def _apples_device(draw: Draw) -> Sentence:
    """苹果的新手机很贵。 Apple's new phone is expensive."""
    noun, adjective, how = draw.choose(_APPLE_THINGS), draw.choose(_OF_DEVICES), draw.weigh(_HOW)
    firm, possessive, new, thing = _the_firm(draw), draw.key(), draw.key(), draw.key()
    source = firm.source + said("的", possessive) + said("新", new) + said(noun.zh, thing)
    target = firm.target + said("'s", possessive) + said("new", new) + said(noun.en, thing)
    draw.combine("新", noun.zh)
    draw.combine(adjective.zh, noun.zh)
    return close(draw, described(draw, third_person(source, target), adjective, how), "?" if how == "asked" else ".")


def _releases(draw: Draw) -> Sentence:
    thing = draw.choose((a_noun, counted_noun))(draw, draw.choose(_APPLE_THINGS))
    clause = Clause(
        _the_firm(draw), transitive(draw, Verb("发布", "release"), thing), "past", time=time_for(draw, "past")
    )
    return spoken(draw, clause, draw.chance(0.3))


def _is_company(draw: Draw) -> Sentence:
    key, firm, company = draw.key(), _the_firm(draw), _company(draw)
    how = draw.weigh(((6.0, "said"), (2.0, "asked")))
    clause = be_clause(draw, firm, how, said("是", key), company.source, company.target, key)
    return close(draw, clause, "?" if how == "asked" else ".")


def _fruit(draw: Draw) -> Sentence:
    adjective = draw.choose(_OF_APPLES)
    draw.combine(adjective.zh, "苹果")
    subject = draw.weigh(((1.0, bare_noun), (1.0, pointed_noun), (1.0, owned_noun)))(draw, _APPLES)
    return close(draw, described(draw, subject, adjective, "said"))
