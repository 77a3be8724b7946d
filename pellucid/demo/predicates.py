"""Predicates: verbs with suitable objects, activities, journeys, phone calls."""

from collections.abc import Callable

from pellucid.demo.clauses import Predicate
from pellucid.demo.english import verb_forms
from pellucid.demo.lexicon import PLACES, Noun, Place
from pellucid.demo.noun_phrases import (
    NounPhrase,
    any_noun,
    bare_noun,
    counted_noun,
    demonstrative_noun,
    indefinite_noun,
    kin,
    person,
    possessed_noun,
)
from pellucid.demo.verbs import ACTIVITIES, PEOPLE_VERBS, VERBS, Activity, Verb
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = [
    "activity",
    "activity_predicate",
    "at",
    "go",
    "live",
    "make_call",
    "someone_else",
    "transitive",
    "verb_with_object",
    "verb_with_person",
]

_PLACES = {place.zh: place for place in PLACES}
_VEHICLES: tuple[tuple[str, str], ...] = (("火车", "train"), ("公交车", "bus"), ("飞机", "plane"), ("出租车", "taxi"))
_CITIES = frozenset({"北京", "上海", "巴黎", "伦敦", "东京", "纽约", "中国"})

# (aspect, mood) → the kinds of object that are natural there, with their weights.
_OBJECTS: dict[tuple[str, str], tuple[tuple[float, str], ...]] = {
    ("past", "affirmative"): ((4, "a"), (3, "counted"), (3, "pointed"), (1, "owned")),
    ("past", "negative"): ((3, "any"), (3, "pointed"), (1, "owned")),
    ("past", "question"): ((3, "any"), (3, "pointed"), (1, "owned")),
    ("experience", "affirmative"): ((4, "pointed"), (3, "generic"), (1, "owned")),
    ("experience", "negative"): ((3, "pointed"), (3, "generic"), (1, "owned")),
    ("experience", "question"): ((3, "pointed"), (3, "generic")),
    ("already", "affirmative"): ((3, "pointed"), (3, "counted"), (2, "owned")),
    ("already", "negative"): ((3, "pointed"), (2, "owned")),
    ("future", "affirmative"): ((3, "a"), (1, "counted"), (3, "pointed"), (1, "owned")),
    ("future", "negative"): ((3, "pointed"), (1, "owned")),
    ("future", "question"): ((2, "a"), (3, "pointed"), (1, "owned")),
    ("wish", "affirmative"): ((3, "a"), (2, "generic"), (2, "pointed")),
    ("wish", "negative"): ((2, "generic"), (2, "pointed")),
    ("wish", "question"): ((2, "generic"), (2, "pointed")),
    ("habit", "affirmative"): ((4, "generic"), (2, "a"), (1, "counted")),
    ("habit", "negative"): ((1, "generic"),),
    ("habit", "question"): ((1, "generic"),),
    ("state", "affirmative"): ((4, "generic"), (2, "pointed"), (1, "owned")),
    ("state", "negative"): ((4, "generic"), (2, "pointed"), (1, "owned")),
    ("state", "question"): ((4, "generic"), (2, "pointed"), (1, "owned")),
    ("progressive", "affirmative"): ((3, "a"), (2, "pointed"), (2, "owned"), (1, "generic")),
    ("progressive", "negative"): ((2, "pointed"), (1, "owned"), (1, "generic")),
    ("progressive", "question"): ((2, "pointed"), (1, "owned"), (1, "generic")),
}
_FORMS: dict[str, Callable[[SentenceRng, Noun], NounPhrase]] = {
    "a": indefinite_noun,
    "counted": counted_noun,
    "pointed": demonstrative_noun,
    "owned": possessed_noun,
    "generic": bare_noun,
    "any": any_noun,
}
_VERBS_FOR = {aspect: tuple(verb for verb in VERBS if aspect in verb.aspects.split()) for aspect, _ in _OBJECTS}
_PEOPLE_VERBS_FOR = {
    aspect: tuple(verb for verb in PEOPLE_VERBS if aspect in verb.aspects.split()) for aspect, _ in _OBJECTS
}
_ACTIVITIES_FOR = {
    aspect: tuple(
        doing for doing in ACTIVITIES if (doing.skill if aspect == "skill" else aspect in doing.aspects.split())
    )
    for aspect in ("past", "future", "wish", "progressive", "habit", "experience", "skill")
}


def transitive(rng: SentenceRng, verb: Verb, target_object: NounPhrase, *, separable: bool = True) -> Predicate:
    """Make a verb with its object."""
    key = rng.new_key()
    return Predicate(
        (), tag(verb.zh, key), target_object.source, verb_forms(verb.en), key, target_object.target_object, separable
    )


def verb_with_object(rng: SentenceRng, aspect: str, mood: str = "affirmative") -> Predicate:
    """Make a verb whose object is a thing or an animal, as is natural in this aspect and mood."""
    verb = rng.choose(_VERBS_FOR[aspect])
    noun = rng.choose(verb.objects)
    rng.combine(verb.zh, noun.zh)
    allowed = [(weight, form) for weight, form in _OBJECTS[aspect, mood] if _fits(verb, noun, form, aspect)]
    form = rng.weighted(allowed or [(1.0, "pointed")])
    if form == "pointed" and aspect == "progressive" and noun.kind in ("film", "reading"):
        return transitive(rng, verb, demonstrative_noun(rng, noun, one=True))
    # In a question about indefinite things, 了 follows the object: 你买书了吗？
    return transitive(rng, verb, _FORMS[form](rng, noun), separable=(form, mood) != ("any", "question"))


def verb_with_person(rng: SentenceRng, subject: NounPhrase, aspect: str) -> Predicate:
    """Make a verb whose object is another person."""
    verb = rng.choose(_PEOPLE_VERBS_FOR[aspect])
    if rng.chance(0.35):
        noun = rng.choose(verb.objects)
        rng.combine(verb.zh, noun.zh)
        return transitive(rng, verb, demonstrative_noun(rng, noun))
    return transitive(rng, verb, someone_else(rng, subject, kin if verb.zh == "爱" else person))


def someone_else(
    rng: SentenceRng, subject: NounPhrase, kind: Callable[[SentenceRng], NounPhrase] = person
) -> NounPhrase:
    """Make a person, chosen by `kind`, who is not the subject."""
    while (other := kind(rng)).referent == subject.referent:
        pass
    return other


def activity(rng: SentenceRng, aspect: str, place_share: float = 0.3) -> Predicate:
    """Make an activity, sometimes with its place: 打篮球, 游泳."""
    doing = rng.choose(_ACTIVITIES_FOR[aspect])
    before, after = (
        at(rng, _PLACES[rng.choose(doing.place.split())]) if doing.place and rng.chance(place_share) else ((), ())
    )
    # 过 always goes between verb and object; 了 only if they are separable.
    return activity_predicate(rng, doing, before, after)._replace(separable=doing.separable or aspect == "experience")


def activity_predicate(rng: SentenceRng, doing: Activity, before: Words = (), after: Words = ()) -> Predicate:
    """Make the predicate of an activity, with words before it in Chinese and after it in English."""
    keys = [rng.new_key() for _ in doing.parts]
    objects = tuple(zip(doing.parts[1:], keys[1:], strict=True))
    source = tuple(word for (zh, _), key in objects for word in tag(zh, key))
    target = tuple(word for (_, en), key in objects for word in tag(en, key))
    verb_zh, verb_en = doing.parts[0]
    verb = tag(verb_zh, keys[0])
    return Predicate(before, verb, source, verb_forms(verb_en), keys[0], target + after, doing.separable)


def at(rng: SentenceRng, place: Place) -> tuple[Words, Words]:
    """Make a phrase of place: 在公园, in the park."""
    preposition, key = rng.new_key(), rng.new_key()
    return tag("在", preposition) + tag(place.zh, key), tag(place.at, preposition) + tag(place.en, key)


def go(rng: SentenceRng, vehicle_share: float = 0.35) -> Predicate:
    """Make a journey, sometimes by a vehicle: 坐火车去北京, go to Beijing by train."""
    place, verb, key = rng.choose(PLACES), rng.new_key(), rng.new_key()
    before: Words = ()
    manner: Words = ()
    if rng.chance(vehicle_share):
        zh, en = rng.choose(_VEHICLES)
        if (zh == "公交车") != (place.zh in _CITIES):
            by, vehicle = rng.new_key(), rng.new_key()
            before, manner = tag("坐", by) + tag(zh, vehicle), tag("by", by) + tag(en, vehicle)
    forms = verb_forms("go")._replace(participle="been")
    return Predicate(
        before, tag("去", verb), tag(place.zh, key), forms, verb, tag("to", verb) + tag(place.en, key) + manner
    )


def live(rng: SentenceRng) -> Predicate:
    """Make 住在北京, live in Beijing; or 在北京工作, work in Beijing."""
    place = rng.choose([place for place in PLACES if place.zh in _CITIES])
    before, after = at(rng, place)
    key = rng.new_key()
    if rng.chance(0.6):
        return Predicate((), tag("住", key) + before, (), verb_forms("live"), key, after)
    return Predicate(before, tag("工作", key), (), verb_forms("work"), key, after)


def make_call(rng: SentenceRng, subject: NounPhrase) -> Predicate:
    """Make a phone call, 给妈妈打电话: the person called comes first in Chinese and last in English."""
    called, to, verb, call = someone_else(rng, subject), rng.new_key(), rng.new_key(), rng.new_key()
    after = tag("a phone call", call) + tag("to", to) + called.target_object
    return Predicate(tag("给", to) + called.source, tag("打", verb), tag("电话", call), verb_forms("make"), verb, after)


def _fits(verb: Verb, noun: Noun, form: str, aspect: str) -> bool:
    if form == "generic":
        return verb.generic and (aspect != "progressive" or bool(noun.unit))
    if form == "owned":
        return verb.owned and noun.kind != "beast"
    if form == "any":
        return verb.zh not in ("穿", "戴", "用", "找", "带", "丢")
    if form in ("a", "counted") and aspect == "progressive" and noun.unit:
        return noun.kind in ("clothing", "worn")
    return form != "counted" or verb.zh not in ("穿", "戴", "用", "找", "带")
