"""Subjects made of two people, and people and things with a relative clause.

A Chinese relative clause precedes its noun and ends in 的; an English one follows it.
"""

from pellucid.demo.clauses import Clause, be_form, choose_time, make_statement
from pellucid.demo.english import verb_forms
from pellucid.demo.lexicon import Noun, nouns_of
from pellucid.demo.noun_phrases import (
    NounPhrase,
    attach_relative_clause,
    demonstrative_noun,
    kin,
    name,
    person,
    possessed_noun,
    third_person,
)
from pellucid.demo.predicates import activity, live
from pellucid.demo.verbs import VERBS, Verb
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = ["human", "person_with_relative_clause", "pet", "thing_with_relative_clause"]

_SINGLED_OUT: dict[str, tuple[Verb, ...]] = {
    aspect: tuple(verb for verb in VERBS if aspect in verb.aspects.split() and verb.zh not in ("用", "戴", "穿"))
    for aspect in ("past", "state", "progressive")
}
_PEOPLE = nouns_of("adult artist child")
_PETS = nouns_of("猫 狗")


def human(rng: SentenceRng) -> NounPhrase:
    """Make a person or people, as a subject."""
    return rng.weighted(
        ((10.0, person), (2.0, _pointed_person), (1.0, _two_people), (0.8, person_with_relative_clause))
    )(rng)


def pet(rng: SentenceRng) -> NounPhrase:
    """Make a cat or a dog: 那只猫, 我的狗."""
    return rng.weighted(((2.0, demonstrative_noun), (1.0, possessed_noun)))(rng, rng.choose(_PETS))


def thing_with_relative_clause(rng: SentenceRng, noun: Noun | None = None) -> NounPhrase:
    """Make a thing with a relative clause: 我昨天买的书, the book that I bought yesterday."""
    aspect = rng.weighted(((6.0, "past"), (2.0, "state"), (1.5, "progressive")))
    verbs = [verb for verb in _SINGLED_OUT[aspect] if noun is None or noun in verb.objects]
    if not verbs:
        aspect, verbs = "past", [verb for verb in _SINGLED_OUT["past"] if noun in verb.objects]
    verb = rng.choose(verbs)
    noun = noun or rng.choose(verb.objects)
    rng.combine(verb.zh, noun.zh)
    subject, key, that = person(rng), rng.new_key(), rng.new_key()
    forms = verb_forms(verb.en)
    source: Words = tag(verb.zh, key) + tag("的", that)
    target: Words = tag("that", that) + subject.target
    if aspect == "past":
        when = choose_time(rng, "past")
        opening = when.source + subject.source if rng.chance(0.2) else subject.source + when.source
        return attach_relative_clause(rng, noun, opening + source, target + tag(forms.past, key) + when.target)
    if aspect == "state":
        third = subject.person == 3 and not subject.is_plural
        return attach_relative_clause(
            rng, noun, subject.source + source, target + tag(forms.third if third else forms.base, key)
        )
    marker = rng.new_key()
    opening = subject.source + tag("正在", marker)
    return attach_relative_clause(rng, noun, opening + source, target + be_form(subject, marker) + tag(forms.ing, key))


def person_with_relative_clause(rng: SentenceRng) -> NounPhrase:
    """Make a person with a relative clause: 会说中文的那位老师, the teacher who can speak Chinese."""
    noun = rng.choose(_PEOPLE)
    who, article, key = rng.new_key(), rng.new_key(), rng.new_key()
    subject = NounPhrase((), tag("who", who), tag("who", who))
    clause = rng.weighted(((2.0, _doing_now), (2.0, _able), (2.0, _dwelling)))(rng, subject)
    source, target = make_statement(rng, clause)
    named = tag("那", article) + tag(noun.measure, article) + tag(noun.zh, key)
    english = tag("the", article) + tag(noun.en, key)
    return third_person(source + tag("的", who) + named, english + target, referent=noun.zh)


def _doing_now(rng: SentenceRng, subject: NounPhrase) -> Clause:
    return Clause(subject, activity(rng, "progressive"), "progressive")


def _able(rng: SentenceRng, subject: NounPhrase) -> Clause:
    return Clause(subject, activity(rng, "skill", place_share=0.0), "skill")


def _dwelling(rng: SentenceRng, subject: NounPhrase) -> Clause:
    return Clause(subject, live(rng), "state")


def _pointed_person(rng: SentenceRng) -> NounPhrase:
    return demonstrative_noun(rng, rng.choose(_PEOPLE))


def _two_people(rng: SentenceRng) -> NounPhrase:
    first, second = rng.choose((name, kin))(rng), rng.choose((name, kin))(rng)
    if first.referent == second.referent:
        return first
    key = rng.new_key()
    source, target = first.source + tag("和", key) + second.source, first.target + tag("and", key) + second.target
    return third_person(source, target, is_plural=True, referent=first.referent + second.referent)
