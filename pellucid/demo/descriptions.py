"""Sentences of how things and people are, what they are, where they are, and whose."""

from pellucid.demo.clauses import Clause, Predicate, ask, be, state, time_for
from pellucid.demo.english import comparative, verb_forms
from pellucid.demo.events import Sentence, close, spoken
from pellucid.demo.lexicon import ADJECTIVES, COLOURS, NOUNS, ORDINALS, PLACES, SPOTS, Adjective, Noun, Spot, nouns_of
from pellucid.demo.nominals import (
    Nominal,
    a_noun,
    any_noun,
    asked_person,
    bare_noun,
    counted_noun,
    kin,
    name,
    owned_noun,
    owner,
    person,
    pointed_noun,
    pronoun,
    third_person,
    titled_name,
)
from pellucid.demo.predicates import at, someone_else, transitive
from pellucid.demo.relatives import the_one_who, the_thing
from pellucid.demo.verbs import VERBS, Verb
from pellucid.demo.words import Draw, Words, said

__all__ = ["DESCRIPTIONS", "be_clause", "described", "spot_words"]

_PERSON_ADJECTIVES = tuple(a for a in ADJECTIVES if a.zh in ("高", "忙", "累", "高兴", "聪明", "年轻", "友好", "勇敢"))
_SAID_OF = {noun.zh: tuple(a for a in ADJECTIVES if noun in a.nouns and a not in COLOURS) for noun in NOUNS}
_DESCRIBED = tuple(noun for noun in NOUNS if _SAID_OF[noun.zh] and noun.kind not in ("adult", "artist", "child"))
_BOUGHT = next(verb for verb in VERBS if verb.zh == "买").objects
# Of these 太…了 complains (too expensive); of the others it would praise (so cute).
_TOO = frozenset(("大", "小", "旧", "贵", "脏", "重", "高", "忙", "累"))
_HOW = ((6.0, "said"), (2.0, "denied"), (2.0, "asked"))


def be_clause(draw: Draw, subject: Nominal, how: str, link: Words, source: Words, target: Words, key: int) -> Sentence:
    """Return a clause with `be`, stated, denied or asked.

    Args:
        link: what stands between subject and complement in Chinese: 是, 在, 很 …; carries `key`.
        key: the key of `be`.
    """
    if how == "denied":
        denial = draw.key()
        is_not = be(subject, key, denial) + said("not", denial)
        return subject.source + said("不", denial) + link + source, subject.target + is_not + target
    if how == "asked":
        asked = draw.key()
        return subject.source + link + source + said("吗", asked), be(subject, key, asked) + subject.target + target
    return subject.source + link + source, subject.target + be(subject, key) + target


def described(draw: Draw, subject: Nominal, adjective: Adjective, how: str) -> Sentence:
    """Return that somebody or something is so: 很 (no word in English), 非常 (very), 太…了 (too)."""
    key, degree_key = draw.key(), draw.key()
    source, target = said(adjective.zh, key), said(adjective.en, key)
    if how != "said":
        return be_clause(draw, subject, how, (), source, target, key)
    degree = draw.weigh(((6.0, "很"), (2.0, "非常"), (1.0 if adjective.zh in _TOO else 0.0, "太")))
    if degree == "很":
        return be_clause(draw, subject, how, said("很", degree_key), source, target, degree_key)
    after = said("了", degree_key) if degree == "太" else ()
    english = said("very" if degree == "非常" else "too", degree_key)
    return be_clause(draw, subject, how, said(degree, degree_key), source + after, english + target, key)


def description(draw: Draw) -> Sentence:
    """那本书很有意思。 That book is interesting."""
    how = draw.weigh(_HOW)
    if draw.chance(0.35):
        subject = asked_person(draw) if how == "asked" else draw.weigh(((8.0, person), (1.0, the_one_who)))(draw)
        clause = described(draw, subject, draw.choose(_PERSON_ADJECTIVES), how)
    else:
        clause = described(draw, *_thing_and_adjective(draw), how)
    return close(draw, clause, "?" if how == "asked" else ".")


def _thing_and_adjective(draw: Draw) -> tuple[Nominal, Adjective]:
    noun = draw.choose(_DESCRIBED)
    adjective = draw.choose(_SAID_OF[noun.zh])
    draw.combine(adjective.zh, noun.zh)
    forms = [(4.0, pointed_noun), (2.0, owned_noun)]
    if noun in _KINDS and adjective.zh in _OF_KINDS and draw.chance(0.2):
        return bare_noun(draw, noun), adjective
    if noun in _BOUGHT and draw.chance(0.3):
        return the_thing(draw, noun), adjective
    return draw.weigh(forms)(draw, noun, share=0.0), adjective


def opinion(draw: Draw) -> Sentence:
    """我觉得那本书很有意思。 I think that book is interesting."""
    subject, key = person(draw), draw.key()
    if draw.chance(0.4):
        source, target = described(draw, someone_else(draw, subject), draw.choose(_PERSON_ADJECTIVES), "said")
    else:
        source, target = described(draw, *_thing_and_adjective(draw), "said")
    predicate = Predicate((), said("觉得", key), source, verb_forms("think"), key, target)
    return close(draw, state(draw, Clause(subject, predicate, "state")))


# Kinds whose members one compares with each other; a key with a plate one does not.
_COMPARED = frozenset(
    ("animal", "beast", "fruit", "food", "drink", "reading", "clothing", "furniture", "vehicle", "device")
)


def comparison(draw: Draw) -> Sentence:
    """这只猫比那只狗大。 This cat is bigger than that dog."""
    if draw.chance(0.4):
        first = person(draw)
        second, adjective = someone_else(draw, first), draw.choose(_PERSON_ADJECTIVES)
    else:
        noun = draw.choose(_DESCRIBED)
        adjective = draw.choose([adjective for adjective in _SAID_OF[noun.zh] if adjective.zh != "奇怪"])
        alike = [other for other in adjective.nouns if other.kind == noun.kind] if noun.kind in _COMPARED else [noun]
        other, near, one = draw.choose(alike), draw.chance(0.5), draw.chance(0.7)
        first = pointed_noun(draw, noun, share=0.0, near=near, one=one)
        second = pointed_noun(draw, other, share=0.0, near=not near, one=one)
        draw.combine(adjective.zh, noun.zh)
        draw.combine(adjective.zh, other.zh)
    return _compared(draw, first, second, adjective)


def _compared(draw: Draw, first: Nominal, second: Nominal, adjective: Adjective) -> Sentence:
    than, key = draw.key(), draw.key()
    if draw.chance(0.3):
        source = first.source + said("没有", than) + second.source + said(adjective.zh, key)
        as_much = said("not as", than) + said(adjective.en, key) + said("as", than)
        return close(draw, (source, first.target + be(first, key) + as_much + second.target_object))
    source = said("比", than) + second.source + said(adjective.zh, key)
    target = said(comparative(adjective.en), key) + said("than", than) + second.target_object
    how = "asked" if draw.chance(0.25) else "said"
    return close(draw, be_clause(draw, first, how, (), source, target, key), "?" if how == "asked" else ".")


_OF_KINDS = frozenset(("大", "小", "可爱", "聪明", "好吃", "漂亮", "贵", "便宜"))
_KINDS = tuple(noun for noun in nouns_of("animal beast fruit") if sum(a.zh in _OF_KINDS for a in _SAID_OF[noun.zh]) > 1)


def kinds(draw: Draw) -> Sentence:
    """猫比狗可爱。 Cats are cuter than dogs; 苹果不贵。 Apples are not expensive."""
    noun = draw.choose(_KINDS)
    adjective = draw.choose([adjective for adjective in _SAID_OF[noun.zh] if adjective.zh in _OF_KINDS])
    draw.combine(adjective.zh, noun.zh)
    others = [other for other in adjective.nouns if other.kind == noun.kind and other != noun]
    if others and draw.chance(0.6):
        other = draw.choose(others)
        draw.combine(adjective.zh, other.zh)
        return _compared(draw, bare_noun(draw, noun), bare_noun(draw, other), adjective)
    how = draw.weigh(_HOW)
    return close(draw, described(draw, bare_noun(draw, noun), adjective, how), "?" if how == "asked" else ".")


_PROFESSIONS = nouns_of("adult artist -男人 -女人")


def profession(draw: Draw) -> Sentence:
    """她是一位医生。 She is a doctor."""
    subject, how = draw.weigh(((3.0, pronoun), (2.0, kin), (1.0, name), (1.0, titled_name)))(draw), draw.weigh(_HOW)
    if subject.person == 1 and how == "asked":
        how = "said"
    noun, key = draw.choose(_PROFESSIONS), draw.key()
    if subject.many:
        complement = bare_noun(draw, noun)
    elif how == "said" and draw.chance(0.6):
        complement = a_noun(draw, noun)
    else:
        bare = draw.key()
        complement = third_person(said(noun.zh, bare), said("a", bare) + said(noun.en, bare))
    clause = be_clause(draw, subject, how, said("是", key), complement.source, complement.target, key)
    return close(draw, clause, "?" if how == "asked" else ".")


_POINTED_AT = nouns_of("animal reading paper device vehicle thing furniture clothing worn plant building")


def this_is(draw: Draw) -> Sentence:
    """这是我的书。 This is my book; 那是我昨天买的那本书。 That is the book that I bought yesterday."""
    (zh, en), this, key = draw.choose((("这", "this"), ("那", "that"))), draw.key(), draw.key()
    how, noun = draw.weigh(_HOW), draw.choose(_POINTED_AT)
    subject = third_person(said(zh, this), said(en, this))
    what = draw.weigh(((3.0, "owned"), (2.0, "a"), (1.5, "ordinal"), (1.5, "relative")))
    if what == "a" and how == "said":
        complement = a_noun(draw, noun)
    elif what == "ordinal":
        complement = _ordinal(draw, noun)
    elif what == "relative" and noun in _BOUGHT:
        complement = the_thing(draw, noun)
    else:
        complement = owned_noun(draw, noun)
    if complement.many:
        # 这是我的两本书: English would have to say these.
        return this_is(draw)
    clause = be_clause(draw, subject, how, said("是", key), complement.source, complement.target, key)
    return close(draw, clause, "?" if how == "asked" else ".")


def _ordinal(draw: Draw, noun: Noun) -> Nominal:
    source, target = owner(draw)
    (zh, en), key, noun_key = draw.choose(ORDINALS), draw.key(), draw.key()
    unit = said(noun.unit, noun_key) + said("of", noun_key) if noun.unit else ()
    source += said(zh, key) + said(noun.measure, noun_key if noun.unit else key) + said(noun.zh, noun_key)
    return third_person(source, target + said(en, key) + unit + said(noun.en, noun_key))


def spot_words(draw: Draw, spot: Spot) -> Sentence:
    """Return 桌子上, on the table."""
    noun, where = draw.key(), draw.key()
    source = said(spot.zh, noun) + said(spot.particle, where)
    return source, said(spot.preposition, where) + said("the", noun) + said(spot.en, noun)


def existence(draw: Draw) -> Sentence:
    """桌子上有三本书。 There are three books on the table."""
    spot, key, how = draw.choose(SPOTS), draw.key(), draw.weigh(_HOW)
    noun = draw.choose(nouns_of(spot.holds))
    where_source, where_target = spot_words(draw, spot)
    if how == "said":
        what = draw.weigh(((3.0, a_noun), (3.0, counted_noun)))(draw, noun)
        source = where_source + said("有", key) + what.source
        target = said("there", key) + be(what, key) + what.target + where_target
        return close(draw, (source, target))
    if how == "denied":
        kind, none = bare_noun(draw, noun), draw.key()
        source = where_source + said("没", none) + said("有", key) + kind.source
        return close(draw, (source, said("there", key) + be(kind, key) + said("no", none) + kind.target + where_target))
    kind, asked = any_noun(draw, noun), draw.key()
    counted = kind._replace(many=noun.many or not noun.unit)
    source = where_source + said("有", key) + kind.source + said("吗", asked)
    return close(draw, (source, be(counted, key, asked) + said("there", key) + kind.target + where_target), "?")


def location(draw: Draw) -> Sentence:
    """那本书在桌子上。 That book is on the table; 他现在在北京。 He is in Beijing now."""
    how, time = draw.weigh(_HOW), time_for(draw, "now") if draw.chance(0.3) else None
    if draw.chance(0.5):
        subject = person(draw)
        source, target = at(draw, draw.choose(PLACES))
    else:
        spot, key = draw.choose(SPOTS), draw.key()
        noun = draw.choose(nouns_of(spot.holds))
        subject = draw.weigh(((2.0, pointed_noun), (1.0, owned_noun)))(draw, noun, share=0.1)
        spot_source, target = spot_words(draw, spot)
        target = tuple(
            word._replace(keys=(*word.keys, key)) if word.text == spot.preposition else word for word in target
        )
        source = said("在", key) + spot_source
    if time is not None:
        subject = subject._replace(source=subject.source + time.source)
        target = target + time.target
    clause = be_clause(draw, subject, how, source[:1], source[1:], target, source[0].keys[0])
    return close(draw, clause, "?" if how == "asked" else ".")


_HAD = nouns_of(
    "猫 狗 兔子 马 reading device vehicle worn 词典 地图 照片 雨伞 钥匙 包 球 铅笔 drink 面包 房子 裙子 毛衣 外套"
)


def having(draw: Draw) -> Sentence:
    """他有两只猫。 He has two cats; 我没有狗。 I do not have a dog."""
    how, noun = draw.weigh(_HOW), draw.choose(_HAD)
    subject = asked_person(draw) if how == "asked" else draw.weigh(((8.0, person), (1.0, the_one_who)))(draw)
    verb = Verb("有", "have")
    if how == "said":
        thing = draw.weigh(((3.0, a_noun), (3.0, counted_noun)))(draw, noun)
        return close(draw, state(draw, Clause(subject, transitive(draw, verb, thing), "state")))
    thing = any_noun(draw, noun, one=True)
    clause = Clause(subject, transitive(draw, verb, thing), "state", how == "denied")
    if how == "denied":
        source, target = state(draw, clause)
        return close(draw, (tuple(word._replace(text="没") if word.text == "不" else word for word in source), target))
    return close(draw, ask(draw, clause), "?")


def missing(draw: Draw) -> Sentence:
    """我很想我妈妈。 I miss my mother very much."""
    key, degree, asked, very = draw.key(), draw.key(), draw.chance(0.2), draw.chance(0.6)
    subject = asked_person(draw) if asked else person(draw)
    missed, very = someone_else(draw, subject), very and not asked
    after = missed.target_object + (said("very much", degree) if very else ())
    predicate = Predicate(
        said("很", degree) if very else (), said("想", key), missed.source, verb_forms("miss"), key, after
    )
    clause = Clause(subject, predicate, "state")
    return spoken(draw, clause, asked)


DESCRIPTIONS = (
    (7.0, description), (3.0, opinion), (5.0, comparison), (3.0, profession), (4.0, this_is), (5.0, existence),
    (4.0, location), (4.0, having), (1.5, missing), (6.0, kinds),
)  # fmt: skip
