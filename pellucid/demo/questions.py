"""Questions with a question word: Chinese leaves it where the answer will stand, English puts it first."""

from pellucid.demo.clauses import Clause, Predicate, ask_openly, be, state, time_for
from pellucid.demo.descriptions import spot_words
from pellucid.demo.english import plural, verb_forms
from pellucid.demo.events import Sentence, close, event_clause
from pellucid.demo.lexicon import MONEY, SPOTS, Noun, nouns_of
from pellucid.demo.nominals import asked_person, bare_noun, owned_noun, pointed_noun, third_person
from pellucid.demo.verbs import VERBS, Verb
from pellucid.demo.words import Draw, Words, said

__all__ = ["QUESTIONS"]

# 看 is left out: 你在看什么 may be reading, watching or looking at.
_ASKED_WHAT = tuple(
    verb
    for verb in VERBS
    if verb.zh in ("买", "卖", "吃", "喝", "写", "画", "洗", "修", "做", "找", "丢", "带", "喜欢")
)
_COUNTED = tuple(
    verb for verb in VERBS if verb.zh in ("买", "卖", "吃", "喝", "看", "写", "画", "洗", "修", "做", "丢", "看见")
)


_HAVE = Verb("有", "have", "猫 狗 reading device vehicle 词典 照片 雨伞 钥匙 clothing")


def who(draw: Draw) -> Sentence:
    """谁昨天买了那本书？ Who bought that book yesterday?"""
    key = draw.key()
    subject = third_person(said("谁", key), said("who", key))
    aspect = draw.weigh(((5.0, "past"), (2.0, "progressive"), (2.0, "skill"), (1.0, "wish"), (2.0, "state")))
    return close(draw, state(draw, event_clause(draw, subject, aspect, "said")._replace(adverb=None)), "?")


def what(draw: Draw) -> Sentence:
    """你昨天买了什么？ What did you buy yesterday?"""
    verb, word, key = draw.choose(_ASKED_WHAT), draw.key(), draw.key()
    aspect = draw.choose(
        [aspect for aspect in ("past", "past", "progressive", "future", "wish", "state") if aspect in verb.uses.split()]
    )
    predicate = Predicate((), said(verb.zh, key), said("什么", word), verb_forms(verb.en), key, ())
    time = time_for(draw, aspect) if aspect == "future" or (aspect == "past" and draw.chance(0.7)) else None
    clause = Clause(asked_person(draw), predicate, aspect, time=time)
    return close(draw, ask_openly(draw, clause, said("what", word)), "?")


def how_many(draw: Draw) -> Sentence:
    """你昨天买了几本书？ How many books did you buy yesterday?"""
    key = draw.key()
    what_for = draw.weigh(((3.0, "done"), (2.0, "had"), (2.0, "there")))
    if what_for == "there":
        spot = draw.choose(SPOTS)
        source, lead = _some_number(draw, draw.choose(nouns_of(spot.holds)))
        where_source, where_target = spot_words(draw, spot)
        return close(draw, (where_source + said("有", key) + source, lead + said("are there", key) + where_target), "?")
    verb = draw.choose(_COUNTED) if what_for == "done" else _HAVE
    noun = draw.choose(verb.objects)
    draw.combine(verb.zh, noun.zh)
    source, lead = _some_number(draw, noun)
    predicate = Predicate((), said(verb.zh, key), source, verb_forms(verb.en), key, ())
    time = time_for(draw, "past") if what_for == "done" and draw.chance(0.7) else None
    clause = Clause(asked_person(draw), predicate, "past" if what_for == "done" else "state", time=time)
    return close(draw, ask_openly(draw, clause, lead), "?")


def _some_number(draw: Draw, noun: Noun) -> Sentence:
    number, key = draw.key(), draw.key()
    if not noun.unit:
        kind = bare_noun(draw, noun)
        return said("几", number) + said(noun.measure, number) + kind.source, said("how many", number) + kind.target
    kind = bare_noun(draw, noun)
    units = said(plural(noun.unit), key) + said("of", key)
    return said("几", number) + said(noun.measure, key) + kind.source, said("how many", number) + units + kind.target


def where(draw: Draw) -> Sentence:
    """我的书在哪里？ Where is my book? 你昨天去了哪里？ Where did you go yesterday?"""
    word, key = draw.key(), draw.key()
    kind = draw.weigh(((2.0, "is"), (2.0, "went"), (1.0, "lives"), (1.0, "works")))
    if kind == "is":
        noun = draw.choose(nouns_of(draw.choose(SPOTS).holds))
        thing = draw.weigh(((1.0, pointed_noun), (2.0, owned_noun)))
        subject = asked_person(draw) if draw.chance(0.4) else thing(draw, noun)
        target = said("where", word) + be(subject, key) + subject.target
        return close(draw, (subject.source + said("在", key) + said("哪里", word), target), "?")
    subject, place = asked_person(draw), said("哪里", word)
    if kind == "went":
        aspect = draw.choose(("past", "future", "wish"))
        predicate = Predicate((), said("去", key), place, verb_forms("go"), key, ())
        time = time_for(draw, "past" if aspect == "past" else "future")
        clause = Clause(subject, predicate, aspect, time=time)
    elif kind == "lives":
        predicate = Predicate((), said("住", key) + said("在", word), place, verb_forms("live"), key, ())
        clause = Clause(subject, predicate, "state")
    else:
        predicate = Predicate(said("在", word) + place, said("工作", key), (), verb_forms("work"), key, ())
        clause = Clause(subject, predicate, "state")
    return close(draw, ask_openly(draw, clause, said("where", word)), "?")


def why(draw: Draw) -> Sentence:
    """你昨天为什么没去学校？ Why did you not go to school yesterday?"""
    aspect, word = draw.weigh(((4.0, "past"), (3.0, "state"), (1.0, "wish"), (1.0, "progressive"))), draw.key()
    denied = aspect in ("past", "state", "wish") and draw.chance(0.5)
    clause = event_clause(draw, asked_person(draw), aspect, "denied" if denied else "said")._replace(adverb=None)
    return close(draw, ask_openly(draw, clause, said("why", word), said("为什么", word)), "?")


_PRICED = nouns_of("reading device vehicle clothing worn furniture fruit 词典 雨伞 杯子 盘子 包 咖啡 茶 啤酒 蛋糕")


def price(draw: Draw) -> Sentence:
    """这本书多少钱？ How much is this book? 这本书二十块钱。 This book costs twenty yuan."""
    noun, key = draw.choose(_PRICED), draw.key()
    subject = pointed_noun(draw, noun, share=0.2)
    if draw.chance(0.5):
        target = said("how much", key) + be(subject, key) + subject.target
        return close(draw, (subject.source + said("多少钱", key), target), "?")
    dear = noun.kind in ("device", "vehicle", "furniture")
    (zh, en), number, unit = draw.choose(MONEY[6:] if dear else MONEY[:6]), draw.key(), draw.key()
    cost: Words = said("cost" if subject.many else "costs", unit)
    source = subject.source + said(zh, number) + said("块", unit) + said("钱", unit)
    return close(draw, (source, subject.target + cost + said(en, number) + said("yuan", unit)))


_OWNED = nouns_of("animal reading paper device vehicle thing furniture worn plant building 衬衫 裙子 -眼镜")


def whose(draw: Draw) -> Sentence:
    """那是谁的书？ Whose book is that?"""
    (zh, en), this, key, word = draw.choose((("这", "this"), ("那", "that"))), draw.key(), draw.key(), draw.key()
    noun, thing, subject = draw.choose(_OWNED), draw.key(), said(zh, this)
    source = subject + said("是", key) + said("谁", word) + said("的", word) + said(noun.zh, thing)
    return close(draw, (source, said("whose", word) + said(noun.en, thing) + said("is", key) + said(en, this)), "?")


QUESTIONS = ((4.0, what), (3.0, who), (3.0, how_many), (3.0, where), (3.0, why), (2.0, price), (1.0, whose))
