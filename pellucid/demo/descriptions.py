"""Sentences about what things and people are like, what and where they are, and whose."""

from pellucid.demo.clauses import (
    MARKS,
    MOODS,
    Clause,
    Predicate,
    be_form,
    choose_time,
    make_statement,
    make_yes_no_question,
)
from pellucid.demo.english import comparative, verb_forms
from pellucid.demo.events import Sentence, make_sentence, punctuate
from pellucid.demo.lexicon import ADJECTIVES, COLOURS, NOUNS, ORDINALS, PLACES, SPOTS, Adjective, Noun, Spot, nouns_of
from pellucid.demo.noun_phrases import (
    NounPhrase,
    any_noun,
    bare_noun,
    counted_noun,
    demonstrative_noun,
    indefinite_noun,
    kin,
    name,
    non_first_person,
    owner,
    person,
    possessed_noun,
    pronoun,
    third_person,
    titled_name,
)
from pellucid.demo.predicates import at, someone_else, transitive
from pellucid.demo.relatives import person_with_relative_clause, thing_with_relative_clause
from pellucid.demo.verbs import Verb, verbs_of
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = ["DESCRIPTIONS", "adjective_clause", "be_clause", "spot_phrase"]

_PERSON_ADJECTIVES = tuple(a for a in ADJECTIVES if a.zh in ("高", "忙", "累", "高兴", "聪明", "年轻", "友好", "勇敢"))
_SAID_OF = {noun.zh: tuple(a for a in ADJECTIVES if noun in a.nouns and a not in COLOURS) for noun in NOUNS}
_DESCRIBED = tuple(noun for noun in NOUNS if _SAID_OF[noun.zh] and noun.kind not in ("adult", "artist", "child"))
_BOUGHT = verbs_of("买")[0].objects
# With these adjectives 太…了 is a complaint (too expensive); with others it would be praise (so cute).
_TOO = frozenset(("大", "小", "旧", "贵", "脏", "重", "高", "忙", "累"))


def be_clause(
    rng: SentenceRng, subject: NounPhrase, mood: str, link: Words, source: Words, target: Words, key: int
) -> Sentence:
    """Return a clause with `be_form`, stated, denied or asked.

    Args:
        link: what stands between subject and complement in Chinese: 是, 在, 很 …; carries `key`.
        key: the key of `be_form`.
    """
    if mood == "negative":
        denial = rng.new_key()
        is_not = be_form(subject, key, denial) + tag("not", denial)
        return subject.source + tag("不", denial) + link + source, subject.target + is_not + target
    if mood == "question":
        asked = rng.new_key()
        return subject.source + link + source + tag("吗", asked), be_form(subject, key, asked) + subject.target + target
    return subject.source + link + source, subject.target + be_form(subject, key) + target


def adjective_clause(rng: SentenceRng, subject: NounPhrase, adjective: Adjective, mood: str) -> Sentence:
    """Make a clause with an adjective: 很 (no word in English), 非常 (very), 太…了 (too)."""
    key, degree_key = rng.new_key(), rng.new_key()
    source, target = tag(adjective.zh, key), tag(adjective.en, key)
    if mood != "affirmative":
        return be_clause(rng, subject, mood, (), source, target, key)
    degree = rng.weighted(((6.0, "很"), (2.0, "非常"), (1.0 if adjective.zh in _TOO else 0.0, "太")))
    if degree == "很":
        return be_clause(rng, subject, mood, tag("很", degree_key), source, target, degree_key)
    after = tag("了", degree_key) if degree == "太" else ()
    english = tag("very" if degree == "非常" else "too", degree_key)
    return be_clause(rng, subject, mood, tag(degree, degree_key), source + after, english + target, key)


def description(rng: SentenceRng) -> Sentence:
    """那本书很有意思。 That book is interesting."""
    mood = rng.weighted(MOODS)
    if rng.chance(0.35):
        clause = adjective_clause(rng, _somebody(rng, mood), rng.choose(_PERSON_ADJECTIVES), mood)
    else:
        clause = adjective_clause(rng, *_thing_and_adjective(rng), mood)
    return punctuate(rng, clause, MARKS[mood])


def _somebody(rng: SentenceRng, mood: str) -> NounPhrase:
    if mood == "question":
        return non_first_person(rng)
    return rng.weighted(((8.0, person), (1.0, person_with_relative_clause)))(rng)


def _thing_and_adjective(rng: SentenceRng) -> tuple[NounPhrase, Adjective]:
    noun = rng.choose(_DESCRIBED)
    adjective = rng.choose(_SAID_OF[noun.zh])
    rng.combine(adjective.zh, noun.zh)
    forms = [(4.0, demonstrative_noun), (2.0, possessed_noun)]
    if noun in _KINDS and adjective.zh in _OF_KINDS and rng.chance(0.2):
        return bare_noun(rng, noun), adjective
    if noun in _BOUGHT and rng.chance(0.3):
        return thing_with_relative_clause(rng, noun), adjective
    return rng.weighted(forms)(rng, noun, share=0.0), adjective


def opinion(rng: SentenceRng) -> Sentence:
    """我觉得那本书很有意思。 I think that book is interesting."""
    subject, key = person(rng), rng.new_key()
    if rng.chance(0.4):
        described, adjective = someone_else(rng, subject), rng.choose(_PERSON_ADJECTIVES)
    else:
        described, adjective = _thing_and_adjective(rng)
    source, target = adjective_clause(rng, described, adjective, "affirmative")
    predicate = Predicate((), tag("觉得", key), source, verb_forms("think"), key, target)
    return punctuate(rng, make_statement(rng, Clause(subject, predicate, "state")))


# Kinds whose members are naturally compared with each other; nobody compares a key with a plate.
_COMPARED = frozenset(
    ("animal", "beast", "fruit", "food", "drink", "reading", "clothing", "furniture", "vehicle", "device")
)


def comparison(rng: SentenceRng) -> Sentence:
    """这只猫比那只狗大。 This cat is bigger than that dog."""
    if rng.chance(0.4):
        first = person(rng)
        second, adjective = someone_else(rng, first), rng.choose(_PERSON_ADJECTIVES)
    else:
        noun = rng.choose(_DESCRIBED)
        adjective = rng.choose([adjective for adjective in _SAID_OF[noun.zh] if adjective.zh != "奇怪"])
        alike = [other for other in adjective.nouns if other.kind == noun.kind] if noun.kind in _COMPARED else [noun]
        other, near, one = rng.choose(alike), rng.chance(0.5), rng.chance(0.7)
        first = demonstrative_noun(rng, noun, share=0.0, near=near, one=one)
        second = demonstrative_noun(rng, other, share=0.0, near=not near, one=one)
        rng.combine(adjective.zh, noun.zh)
        rng.combine(adjective.zh, other.zh)
    return _compared(rng, first, second, adjective)


def _compared(rng: SentenceRng, first: NounPhrase, second: NounPhrase, adjective: Adjective) -> Sentence:
    than, key = rng.new_key(), rng.new_key()
    if rng.chance(0.3):
        source = first.source + tag("没有", than) + second.source + tag(adjective.zh, key)
        as_much = tag("not as", than) + tag(adjective.en, key) + tag("as", than)
        return punctuate(rng, (source, first.target + be_form(first, key) + as_much + second.target_object))
    source = tag("比", than) + second.source + tag(adjective.zh, key)
    target = tag(comparative(adjective.en), key) + tag("than", than) + second.target_object
    mood = "question" if rng.chance(0.25) else "affirmative"
    return punctuate(rng, be_clause(rng, first, mood, (), source, target, key), MARKS[mood])


_OF_KINDS = frozenset(("大", "小", "可爱", "聪明", "好吃", "漂亮", "贵", "便宜"))
_KINDS = tuple(noun for noun in nouns_of("animal beast fruit") if sum(a.zh in _OF_KINDS for a in _SAID_OF[noun.zh]) > 1)


def kinds(rng: SentenceRng) -> Sentence:
    """猫比狗可爱。 Cats are cuter than dogs; 苹果不贵。 Apples are not expensive."""
    noun = rng.choose(_KINDS)
    adjective = rng.choose([adjective for adjective in _SAID_OF[noun.zh] if adjective.zh in _OF_KINDS])
    rng.combine(adjective.zh, noun.zh)
    others = [other for other in adjective.nouns if other.kind == noun.kind and other != noun]
    if others and rng.chance(0.6):
        other = rng.choose(others)
        rng.combine(adjective.zh, other.zh)
        return _compared(rng, bare_noun(rng, noun), bare_noun(rng, other), adjective)
    mood = rng.weighted(MOODS)
    return punctuate(rng, adjective_clause(rng, bare_noun(rng, noun), adjective, mood), MARKS[mood])


_PROFESSIONS = nouns_of("adult artist -男人 -女人")


def profession(rng: SentenceRng) -> Sentence:
    """她是一位医生。 She is a doctor."""
    subject = rng.weighted(((3.0, pronoun), (2.0, kin), (1.0, name), (1.0, titled_name)))(rng)
    mood = rng.weighted(MOODS)
    if subject.person == 1 and mood == "question":
        mood = "affirmative"
    noun, key = rng.choose(_PROFESSIONS), rng.new_key()
    if subject.is_plural:
        complement = bare_noun(rng, noun)
    elif mood == "affirmative" and rng.chance(0.6):
        complement = indefinite_noun(rng, noun)
    else:
        bare = rng.new_key()
        complement = third_person(tag(noun.zh, bare), tag("a", bare) + tag(noun.en, bare))
    clause = be_clause(rng, subject, mood, tag("是", key), complement.source, complement.target, key)
    return punctuate(rng, clause, MARKS[mood])


_POINTED_AT = nouns_of("animal reading paper device vehicle thing furniture clothing worn plant building")


def this_is(rng: SentenceRng) -> Sentence:
    """这是我的书。 This is my book; 那是我昨天买的那本书。 That is the book that I bought yesterday."""
    (zh, en), this, key = rng.choose((("这", "this"), ("那", "that"))), rng.new_key(), rng.new_key()
    mood, noun = rng.weighted(MOODS), rng.choose(_POINTED_AT)
    subject = third_person(tag(zh, this), tag(en, this))
    what = rng.weighted(((3.0, "owned"), (2.0, "a"), (1.5, "ordinal"), (1.5, "relative")))
    if what == "a" and mood == "affirmative":
        complement = indefinite_noun(rng, noun)
    elif what == "ordinal":
        complement = _ordinal(rng, noun)
    elif what == "relative" and noun in _BOUGHT:
        complement = thing_with_relative_clause(rng, noun)
    else:
        complement = possessed_noun(rng, noun)
    if complement.is_plural:
        # 这是我的两本书: English would have to say these.
        return this_is(rng)
    clause = be_clause(rng, subject, mood, tag("是", key), complement.source, complement.target, key)
    return punctuate(rng, clause, MARKS[mood])


def _ordinal(rng: SentenceRng, noun: Noun) -> NounPhrase:
    source, target = owner(rng)
    (zh, en), key, noun_key = rng.choose(ORDINALS), rng.new_key(), rng.new_key()
    unit = tag(noun.unit, noun_key) + tag("of", noun_key) if noun.unit else ()
    source += tag(zh, key) + tag(noun.measure, noun_key if noun.unit else key) + tag(noun.zh, noun_key)
    return third_person(source, target + tag(en, key) + unit + tag(noun.en, noun_key))


def spot_phrase(rng: SentenceRng, spot: Spot) -> Sentence:
    """Make a phrase of place: 桌子上, on the table."""
    noun, where = rng.new_key(), rng.new_key()
    source = tag(spot.zh, noun) + tag(spot.particle, where)
    return source, tag(spot.preposition, where) + tag("the", noun) + tag(spot.en, noun)


def existence(rng: SentenceRng) -> Sentence:
    """桌子上有三本书。 There are three books on the table."""
    spot, key, mood = rng.choose(SPOTS), rng.new_key(), rng.weighted(MOODS)
    noun = rng.choose(nouns_of(spot.holds))
    where_source, where_target = spot_phrase(rng, spot)
    if mood == "affirmative":
        what = rng.weighted(((3.0, indefinite_noun), (3.0, counted_noun)))(rng, noun)
        target = tag("there", key) + be_form(what, key) + what.target + where_target
        return punctuate(rng, (where_source + tag("有", key) + what.source, target))
    if mood == "negative":
        kind, none = bare_noun(rng, noun), rng.new_key()
        source = where_source + tag("没", none) + tag("有", key) + kind.source
        target = tag("there", key) + be_form(kind, key) + tag("no", none) + kind.target + where_target
        return punctuate(rng, (source, target))
    kind, asked = any_noun(rng, noun), rng.new_key()
    kinds = kind._replace(is_plural=noun.is_plural or not noun.unit)
    source = where_source + tag("有", key) + kind.source + tag("吗", asked)
    return punctuate(rng, (source, be_form(kinds, key, asked) + tag("there", key) + kind.target + where_target), "?")


def location(rng: SentenceRng) -> Sentence:
    """那本书在桌子上。 That book is on the table; 他现在在北京。 He is in Beijing now."""
    mood, time = rng.weighted(MOODS), choose_time(rng, "now") if rng.chance(0.3) else None
    if rng.chance(0.5):
        subject = person(rng)
        source, target = at(rng, rng.choose(PLACES))
    else:
        spot, key = rng.choose(SPOTS), rng.new_key()
        noun = rng.choose(nouns_of(spot.holds))
        subject = rng.weighted(((2.0, demonstrative_noun), (1.0, possessed_noun)))(rng, noun, share=0.1)
        spot_source, target = spot_phrase(rng, spot)
        target = tuple(
            word._replace(keys=(*word.keys, key)) if word.text == spot.preposition else word for word in target
        )
        source = tag("在", key) + spot_source
    if time is not None:
        subject = subject._replace(source=subject.source + time.source)
        target = target + time.target
    clause = be_clause(rng, subject, mood, source[:1], source[1:], target, source[0].keys[0])
    return punctuate(rng, clause, MARKS[mood])


_HAD = nouns_of(
    "猫 狗 兔子 马 reading device vehicle worn 词典 地图 照片 雨伞 钥匙 包 球 铅笔 drink 面包 房子 裙子 毛衣 外套"
)


def having(rng: SentenceRng) -> Sentence:
    """他有两只猫。 He has two cats; 我没有狗。 I do not have a dog."""
    mood, noun = rng.weighted(MOODS), rng.choose(_HAD)
    subject, verb = _somebody(rng, mood), Verb("有", "have")
    if mood == "affirmative":
        thing = rng.weighted(((3.0, indefinite_noun), (3.0, counted_noun)))(rng, noun)
        return punctuate(rng, make_statement(rng, Clause(subject, transitive(rng, verb, thing), "state")))
    thing = any_noun(rng, noun, one=True)
    clause = Clause(subject, transitive(rng, verb, thing), "state", mood == "negative")
    if mood == "negative":
        source, target = make_statement(rng, clause)
        source = tuple(word._replace(text="没") if word.text == "不" else word for word in source)
        return punctuate(rng, (source, target))
    return punctuate(rng, make_yes_no_question(rng, clause), "?")


def missing(rng: SentenceRng) -> Sentence:
    """我很想我妈妈。 I miss my mother very much."""
    key, degree, asked, very = rng.new_key(), rng.new_key(), rng.chance(0.2), rng.chance(0.6)
    subject = non_first_person(rng) if asked else person(rng)
    missed, very = someone_else(rng, subject), very and not asked
    after = missed.target_object + (tag("very much", degree) if very else ())
    predicate = Predicate(
        tag("很", degree) if very else (), tag("想", key), missed.source, verb_forms("miss"), key, after
    )
    return make_sentence(rng, Clause(subject, predicate, "state"), asked)


DESCRIPTIONS = (
    (7.0, description), (3.0, opinion), (5.0, comparison), (3.0, profession), (4.0, this_is), (5.0, existence),
    (4.0, location), (4.0, having), (1.5, missing), (6.0, kinds),
)  # fmt: skip
