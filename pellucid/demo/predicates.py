"""What is said of somebody: verbs with fitting objects, activities, journeys, gifts."""

from collections.abc import Callable

from pellucid.demo.clauses import Predicate
from pellucid.demo.english import verb_forms
from pellucid.demo.lexicon import PLACES, Noun, Place
from pellucid.demo.nominals import (
    Nominal,
    a_noun,
    any_noun,
    bare_noun,
    counted_noun,
    kin,
    owned_noun,
    person,
    pointed_noun,
)
from pellucid.demo.verbs import ACTIVITIES, PEOPLE_VERBS, VERBS, Activity, Verb
from pellucid.demo.words import Draw, Words, said

__all__ = [
    "activity",
    "at",
    "doing_words",
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

# (aspect, how it is said) → what kinds of object phrase are natural there, with their weights.
_OBJECTS: dict[tuple[str, str], tuple[tuple[float, str], ...]] = {
    ("past", "said"): ((4, "a"), (3, "counted"), (3, "pointed"), (1, "owned")),
    ("past", "denied"): ((3, "any"), (3, "pointed"), (1, "owned")),
    ("past", "asked"): ((3, "any"), (3, "pointed"), (1, "owned")),
    ("experience", "said"): ((4, "pointed"), (3, "generic"), (1, "owned")),
    ("experience", "denied"): ((3, "pointed"), (3, "generic"), (1, "owned")),
    ("experience", "asked"): ((3, "pointed"), (3, "generic")),
    ("already", "said"): ((3, "pointed"), (3, "counted"), (2, "owned")),
    ("already", "denied"): ((3, "pointed"), (2, "owned")),
    ("future", "said"): ((3, "a"), (1, "counted"), (3, "pointed"), (1, "owned")),
    ("future", "denied"): ((3, "pointed"), (1, "owned")),
    ("future", "asked"): ((2, "a"), (3, "pointed"), (1, "owned")),
    ("wish", "said"): ((3, "a"), (2, "generic"), (2, "pointed")),
    ("wish", "denied"): ((2, "generic"), (2, "pointed")),
    ("wish", "asked"): ((2, "generic"), (2, "pointed")),
    ("habit", "said"): ((4, "generic"), (2, "a"), (1, "counted")),
    ("habit", "denied"): ((1, "generic"),),
    ("habit", "asked"): ((1, "generic"),),
    ("state", "said"): ((4, "generic"), (2, "pointed"), (1, "owned")),
    ("state", "denied"): ((4, "generic"), (2, "pointed"), (1, "owned")),
    ("state", "asked"): ((4, "generic"), (2, "pointed"), (1, "owned")),
    ("progressive", "said"): ((3, "a"), (2, "pointed"), (2, "owned"), (1, "generic")),
    ("progressive", "denied"): ((2, "pointed"), (1, "owned"), (1, "generic")),
    ("progressive", "asked"): ((2, "pointed"), (1, "owned"), (1, "generic")),
}
_FORMS: dict[str, Callable[[Draw, Noun], Nominal]] = {
    "a": a_noun, "counted": counted_noun, "pointed": pointed_noun, "owned": owned_noun, "generic": bare_noun,
    "any": any_noun,
}  # fmt: skip
_VERBS_FOR = {aspect: tuple(verb for verb in VERBS if aspect in verb.uses.split()) for aspect, _ in _OBJECTS}
_PEOPLE_VERBS_FOR = {
    aspect: tuple(verb for verb in PEOPLE_VERBS if aspect in verb.uses.split()) for aspect, _ in _OBJECTS
}
_ACTIVITIES_FOR = {
    aspect: tuple(doing for doing in ACTIVITIES if (doing.skill if aspect == "skill" else aspect in doing.uses.split()))
    for aspect in ("past", "future", "wish", "progressive", "habit", "experience", "skill")
}


def transitive(draw: Draw, verb: Verb, target_object: Nominal, *, apart: bool = True) -> Predicate:
    """Return a verb with its object."""
    key = draw.key()
    return Predicate(
        (), said(verb.zh, key), target_object.source, verb_forms(verb.en), key, target_object.target_object, apart
    )


def verb_with_object(draw: Draw, aspect: str, how: str = "said") -> Predicate:
    """Return a verb with a thing or an animal as object, as is natural in this aspect; how: said, denied or asked."""
    verb = draw.choose(_VERBS_FOR[aspect])
    noun = draw.choose(verb.objects)
    draw.combine(verb.zh, noun.zh)
    allowed = [(weight, form) for weight, form in _OBJECTS[aspect, how] if _fits(verb, noun, form, aspect)]
    form = draw.weigh(allowed or [(1.0, "pointed")])
    if form == "pointed" and aspect == "progressive" and noun.kind in ("film", "reading"):
        return transitive(draw, verb, pointed_noun(draw, noun, one=True))
    # Asked about things not yet known of, 了 follows the object: 你买书了吗？
    return transitive(draw, verb, _FORMS[form](draw, noun), apart=(form, how) != ("any", "asked"))


def verb_with_person(draw: Draw, subject: Nominal, aspect: str) -> Predicate:
    """Return a verb with somebody else as object."""
    verb = draw.choose(_PEOPLE_VERBS_FOR[aspect])
    if draw.chance(0.35):
        noun = draw.choose(verb.objects)
        draw.combine(verb.zh, noun.zh)
        return transitive(draw, verb, pointed_noun(draw, noun))
    return transitive(draw, verb, someone_else(draw, subject, kin if verb.zh == "爱" else person))


def someone_else(draw: Draw, subject: Nominal, kind: Callable[[Draw], Nominal] = person) -> Nominal:
    """Return a person, of a kind, who is not the subject."""
    while (other := kind(draw)).about == subject.about:
        pass
    return other


def activity(draw: Draw, aspect: str, place_share: float = 0.3) -> Predicate:
    """Return what needs no further object: 打篮球, 游泳; now and then with its place."""
    doing = draw.choose(_ACTIVITIES_FOR[aspect])
    before, after = (
        at(draw, _PLACES[draw.choose(doing.place.split())]) if doing.place and draw.chance(place_share) else ((), ())
    )
    # 过 goes between verb and object always; 了 only where the verb likes to be apart from it.
    return doing_words(draw, doing, before, after)._replace(apart=doing.apart or aspect == "experience")


def doing_words(draw: Draw, doing: Activity, before: Words = (), after: Words = ()) -> Predicate:
    """Return an activity as a predicate, with what stands before it in Chinese and after it in English."""
    keys = [draw.key() for _ in doing.parts]
    objects = tuple(zip(doing.parts[1:], keys[1:], strict=True))
    source = tuple(word for (zh, _), key in objects for word in said(zh, key))
    target = tuple(word for (_, en), key in objects for word in said(en, key))
    verb_zh, verb_en = doing.parts[0]
    verb = said(verb_zh, keys[0])
    return Predicate(before, verb, source, verb_forms(verb_en), keys[0], target + after, doing.apart)


def at(draw: Draw, place: Place) -> tuple[Words, Words]:
    """Return 在公园, in the park."""
    preposition, key = draw.key(), draw.key()
    return said("在", preposition) + said(place.zh, key), said(place.at, preposition) + said(place.en, key)


def go(draw: Draw, vehicle_share: float = 0.35) -> Predicate:
    """Return going somewhere, now and then by a vehicle: 坐火车去北京, go to Beijing by train."""
    place, verb, key = draw.choose(PLACES), draw.key(), draw.key()
    before: Words = ()
    manner: Words = ()
    if draw.chance(vehicle_share):
        zh, en = draw.choose(_VEHICLES)
        if (zh == "公交车") != (place.zh in _CITIES):
            by, vehicle = draw.key(), draw.key()
            before, manner = said("坐", by) + said(zh, vehicle), said("by", by) + said(en, vehicle)
    forms = verb_forms("go")._replace(participle="been")
    return Predicate(
        before, said("去", verb), said(place.zh, key), forms, verb, said("to", verb) + said(place.en, key) + manner
    )


def live(draw: Draw) -> Predicate:
    """Return 住在北京, live in Beijing; or 在北京工作, work in Beijing."""
    place = draw.choose([place for place in PLACES if place.zh in _CITIES])
    before, after = at(draw, place)
    key = draw.key()
    if draw.chance(0.6):
        return Predicate((), said("住", key) + before, (), verb_forms("live"), key, after)
    return Predicate(before, said("工作", key), (), verb_forms("work"), key, after)


def make_call(draw: Draw, subject: Nominal) -> Predicate:
    """Return 给妈妈打电话, make a phone call to …: the person called comes first in Chinese and last in English."""
    called, to, verb, call = someone_else(draw, subject), draw.key(), draw.key(), draw.key()
    after = said("a phone call", call) + said("to", to) + called.target_object
    return Predicate(
        said("给", to) + called.source, said("打", verb), said("电话", call), verb_forms("make"), verb, after
    )


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
