"""People and things as they are spoken of in whole sentences: in pairs, or singled out by a relative clause.

A Chinese relative clause stands before its noun and ends in 的; an English one follows it.
"""

from pellucid.demo.clauses import Clause, be, state, time_for
from pellucid.demo.english import verb_forms
from pellucid.demo.lexicon import Noun, nouns_of
from pellucid.demo.nominals import Nominal, kin, name, owned_noun, person, pointed_noun, the_noun
from pellucid.demo.predicates import activity, live
from pellucid.demo.verbs import VERBS, Verb
from pellucid.demo.words import Draw, Words, said

__all__ = ["human", "pet", "the_one_who", "the_thing"]

_SINGLED_OUT: dict[str, tuple[Verb, ...]] = {
    aspect: tuple(verb for verb in VERBS if aspect in verb.uses.split() and verb.zh not in ("用", "戴", "穿"))
    for aspect in ("past", "state", "progressive")
}
_PEOPLE = nouns_of("adult artist child")
_PETS = nouns_of("猫 狗")


def human(draw: Draw) -> Nominal:
    """Return a person or people, as a subject."""
    return draw.weigh(((10.0, person), (2.0, _pointed_person), (1.0, _two_people), (0.8, the_one_who)))(draw)


def pet(draw: Draw) -> Nominal:
    """Return a cat or a dog: 那只猫, 我的狗."""
    return draw.weigh(((2.0, pointed_noun), (1.0, owned_noun)))(draw, draw.choose(_PETS))


def the_thing(draw: Draw, noun: Noun | None = None) -> Nominal:
    """Return a thing by what somebody does with it: 我昨天买的书, the book that I bought yesterday."""
    aspect = draw.weigh(((6.0, "past"), (2.0, "state"), (1.5, "progressive")))
    verbs = [verb for verb in _SINGLED_OUT[aspect] if noun is None or noun in verb.objects]
    if not verbs:
        aspect, verbs = "past", [verb for verb in _SINGLED_OUT["past"] if noun in verb.objects]
    verb = draw.choose(verbs)
    noun = noun or draw.choose(verb.objects)
    draw.combine(verb.zh, noun.zh)
    subject, key, that = person(draw), draw.key(), draw.key()
    forms = verb_forms(verb.en)
    source: Words = said(verb.zh, key) + said("的", that)
    target: Words = said("that", that) + subject.target
    if aspect == "past":
        when = time_for(draw, "past")
        opening = when.source + subject.source if draw.chance(0.2) else subject.source + when.source
        return the_noun(draw, noun, opening + source, target + said(forms.past, key) + when.target)
    if aspect == "state":
        third = subject.person == 3 and not subject.many
        return the_noun(draw, noun, subject.source + source, target + said(forms.third if third else forms.base, key))
    marker = draw.key()
    opening = subject.source + said("正在", marker)
    return the_noun(draw, noun, opening + source, target + be(subject, marker) + said(forms.ing, key))


def the_one_who(draw: Draw) -> Nominal:
    """Return a person by what he or she does: 会说中文的那位老师, the teacher who can speak Chinese."""
    noun = draw.choose(_PEOPLE)
    who, article, key = draw.key(), draw.key(), draw.key()
    subject = Nominal((), said("who", who), said("who", who))
    clause = draw.weigh(((2.0, _doing_now), (2.0, _able), (2.0, _dwelling)))(draw, subject)
    source, target = state(draw, clause)
    named = said("那", article) + said(noun.measure, article) + said(noun.zh, key)
    english = said("the", article) + said(noun.en, key)
    return Nominal(source + said("的", who) + named, english + target, english + target, about=noun.zh)


def _doing_now(draw: Draw, subject: Nominal) -> Clause:
    return Clause(subject, activity(draw, "progressive"), "progressive")


def _able(draw: Draw, subject: Nominal) -> Clause:
    return Clause(subject, activity(draw, "skill", place_share=0.0), "skill")


def _dwelling(draw: Draw, subject: Nominal) -> Clause:
    return Clause(subject, live(draw), "state")


def _pointed_person(draw: Draw) -> Nominal:
    return pointed_noun(draw, draw.choose(_PEOPLE))


def _two_people(draw: Draw) -> Nominal:
    first, second = draw.choose((name, kin))(draw), draw.choose((name, kin))(draw)
    if first.about == second.about:
        return first
    key = draw.key()
    target = first.target + said("and", key) + second.target
    return Nominal(
        first.source + said("和", key) + second.source, target, target, many=True, about=first.about + second.about
    )
