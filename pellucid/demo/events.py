"""Sentences of what people and animals do, did, will do, want, can."""

from pellucid.demo.clauses import Clause, Predicate, TimePhrase, ask, phrase_of, state, time_for
from pellucid.demo.english import verb_forms
from pellucid.demo.lexicon import MONEY, NUMBERS, SPOTS, TIMES, nouns_of
from pellucid.demo.nominals import Nominal, a_noun, asked_person, counted_noun, owned_noun, person, pointed_noun
from pellucid.demo.predicates import (
    activity,
    doing_words,
    go,
    live,
    make_call,
    someone_else,
    transitive,
    verb_with_object,
    verb_with_person,
)
from pellucid.demo.relatives import human, pet, the_thing
from pellucid.demo.verbs import VERBS, Activity, Verb
from pellucid.demo.words import Draw, Words, said

__all__ = ["EVENTS", "Sentence", "close", "event_clause", "spoken"]

Sentence = tuple[Words, Words]


def close(draw: Draw, clause: Sentence, mark: str = ".") -> Sentence:
    """Add 。 and . or ？ and ?."""
    key = draw.key()
    return clause[0] + said({".": "。", "?": "？", "!": "！"}[mark], key), clause[1] + said(mark, key)


def spoken(draw: Draw, clause: Clause, asked: bool) -> Sentence:
    """Return the clause as a whole sentence, a question or a statement."""
    return close(draw, ask(draw, clause), "?") if asked else close(draw, state(draw, clause))


_ASPECTS = (
    (8.0, "past"), (2.5, "experience"), (2.0, "already"), (3.0, "future"), (2.5, "wish"), (5.0, "habit"),
    (3.0, "state"), (3.0, "progressive"), (1.5, "skill"),
)  # fmt: skip
_HOW = ((6.0, "said"), (2.0, "denied"), (2.0, "asked"))
# What is worth saying of last year or next month; the rest is told of yesterday and tomorrow.
_LASTING = frozenset(("去", "买", "卖", "写", "画", "看见", "修", "学习", "工作", "帮助"))
_KINDS: dict[str, tuple[tuple[float, str], ...]] = {
    "past": ((5, "object"), (2, "person"), (3, "activity"), (2, "go")),
    "experience": ((4, "object"), (1, "person"), (1, "activity"), (2, "go")),
    "already": ((5, "object"),),
    "future": ((4, "object"), (1, "person"), (2, "activity"), (2, "go")),
    "wish": ((4, "object"), (1, "person"), (2, "activity"), (2, "go")),
    "habit": ((3, "object"), (4, "activity"), (1, "go")),
    "state": ((6, "object"), (2, "person"), (1, "live")),
    "progressive": ((4, "object"), (2, "person"), (4, "activity")),
    "skill": ((1, "activity"),),
}


def event_clause(draw: Draw, subject: Nominal, aspect: str, how: str, *, timed: bool = True) -> Clause:
    """Return a clause of somebody doing something, as is natural under an aspect and said, denied or asked."""
    kind = draw.weigh(_KINDS[aspect])
    single_out = kind == "object" and aspect in ("past", "progressive", "state") and draw.chance(0.08)
    if aspect == "already" and how == "asked":
        how = "said"
    if single_out:
        predicate = _with_the_thing(draw, aspect)
    elif kind == "object":
        predicate = verb_with_object(draw, aspect, how)
    elif kind == "person":
        predicate = verb_with_person(draw, subject, aspect)
    elif kind == "activity":
        # 没在学校看书 could deny the place, and nobody can swim in one place only.
        placeless = aspect == "skill" or (aspect, how) == ("progressive", "denied")
        predicate = activity(draw, aspect, 0.0 if placeless else 0.3)
    elif kind == "live":
        predicate = live(draw)
    else:
        predicate = go(draw, 0.0 if aspect == "experience" else 0.35)
    lasting = predicate.verb[0].text in _LASTING
    tense = aspect if lasting else {"past": "recent", "future": "soon"}.get(aspect, aspect)
    # The relative clause has a time of its own: a second one at the end would be misread.
    time = _time(draw, tense, how) if timed and not single_out else None
    clause = Clause(subject, predicate, aspect, how == "denied", time)
    return clause._replace(adverb=_adverb(draw, clause, how)) if how == "said" else clause


def event(draw: Draw) -> Sentence:
    """那只猫昨天吃了三条鱼。 That cat ate three fish yesterday."""
    how = draw.weigh(_HOW)
    subject = asked_person(draw) if how == "asked" and draw.chance(0.8) else human(draw)
    clause = event_clause(draw, subject, draw.weigh(_ASPECTS), how)
    return spoken(draw, clause, how == "asked" and clause.aspect != "already")


_DONE_TO_THE_THING = tuple(verb for verb in VERBS if verb.zh in ("吃", "喝", "喜欢", "看", "洗", "卖", "丢", "找"))


def _with_the_thing(draw: Draw, aspect: str) -> Predicate:
    verb = draw.choose([verb for verb in _DONE_TO_THE_THING if aspect in verb.uses.split()])
    noun = draw.choose(verb.objects)
    draw.combine(verb.zh, noun.zh)
    if noun.zh in _BOUGHT:
        return transitive(draw, verb, the_thing(draw, noun))
    return transitive(draw, verb, pointed_noun(draw, noun))


_BOUGHT = frozenset(noun.zh for noun in next(verb for verb in VERBS if verb.zh == "买").objects)


def _time(draw: Draw, aspect: str, how: str) -> TimePhrase | None:
    share = {
        "past": 0.75,
        "recent": 0.75,
        "soon": 1.0,
        "future": 1.0,
        "wish": 0.25,
        "habit": 0.0 if how == "denied" else 0.7 if how == "said" else 1.0,
    }
    if aspect == "progressive":
        return time_for(draw, "now") if draw.chance(0.25) else None
    if not draw.chance(share.get(aspect, 0.0)):
        return None
    return time_for(draw, "future" if aspect == "wish" else aspect)


def _adverb(draw: Draw, clause: Clause, how: str) -> tuple[str, str] | None:
    if clause.aspect == "already":
        return None
    if clause.aspect == "habit" and clause.time is None:
        return draw.choose((("常常", "often"), ("总是", "always")))
    if len(clause.subject.source) == 1 and clause.subject.many and draw.chance(0.3):
        return "都", "all"
    return ("也", "also") if draw.chance(0.08) else None


_EATEN_BY_PETS = nouns_of("鱼 蛋糕 面包 鸡蛋 三明治")
_CHASED = nouns_of("猫 兔子 鸡 鸟 老鼠 羊")


def animal(draw: Draw) -> Sentence:
    """那只狗在追一只猫。 That dog is chasing a cat."""
    subject, aspect = pet(draw), draw.choose(("past", "progressive", "past"))
    what = draw.weigh(((3.0, "eat"), (1.0, "drink"), (3.0, "chase"), (2.0, "sleep")))
    if what == "sleep":
        spot = draw.choose([spot for spot in SPOTS if spot.zh in ("桌子", "床", "椅子", "花园")])
        keys = draw.key(), draw.key(), draw.key()
        before = said("在", keys[1]) + said(spot.zh, keys[2]) + said(spot.particle, keys[1])
        after = said(spot.preposition, keys[1]) + said("the", keys[2]) + said(spot.en, keys[2])
        predicate = Predicate(before, said("睡觉", keys[0]), (), verb_forms("sleep"), keys[0], after)
        aspect = "progressive"
    else:
        verb, nouns = {
            "eat": (Verb("吃", "eat"), _EATEN_BY_PETS),
            "drink": (Verb("喝", "drink"), nouns_of("水 牛奶")),
            "chase": (Verb("追", "chase"), _CHASED),
        }[what]
        noun = draw.choose([noun for noun in nouns if noun.zh not in subject.about])
        draw.combine(verb.zh, noun.zh)
        single = aspect == "progressive" and what == "drink"
        form = (
            pointed_noun
            if single
            else draw.weigh(((3.0, a_noun), (2.0, counted_noun), (3.0, pointed_noun), (1.0, owned_noun)))
        )
        predicate = transitive(draw, verb, form(draw, noun))
    clause = Clause(subject, predicate, aspect, time=_time(draw, "recent" if aspect == "past" else aspect, "said"))
    return spoken(draw, clause, draw.chance(0.15))


_GIFTS = nouns_of("reading 礼物 花 帽子 手表 手机 照片 词典 雨伞 蛋糕 苹果 球 铅笔 杯子 clothing -报纸 -裤子 -袜子")


def giving(draw: Draw) -> Sentence:
    """他给了我一本书。 He gave me a book; 妈妈给我买了一件毛衣。 Mother bought a sweater for me."""
    how, aspect = draw.weigh(_HOW), draw.weigh(((6.0, "past"), (2.0, "future"), (2.0, "wish")))
    subject = asked_person(draw) if how == "asked" else person(draw)
    receiver, noun = someone_else(draw, subject), draw.choose(_GIFTS)
    form = pointed_noun if how == "denied" else draw.weigh(((5.0, a_noun), (1.0, counted_noun), (2.0, pointed_noun)))
    thing, key, to = form(draw, noun), draw.key(), draw.key()
    if draw.chance(0.6):
        verb = draw.weigh(((3.0, "给"), (2.0, "送给")))
        objects = receiver.source + thing.source
        predicate = Predicate(
            (), said(verb, key), objects, verb_forms("give"), key, receiver.target_object + thing.target
        )
    else:
        draw.combine("买", noun.zh)
        after = thing.target + said("for", to) + receiver.target_object
        predicate = Predicate(
            said("给", to) + receiver.source, said("买", key), thing.source, verb_forms("buy"), key, after
        )
    clause = Clause(subject, predicate, aspect, how == "denied", _time(draw, aspect, how))
    return spoken(draw, clause, how == "asked")


def calling(draw: Draw) -> Sentence:
    """他昨天给妈妈打了电话。 He made a phone call to … yesterday."""
    aspect = draw.weigh(((4.0, "past"), (2.0, "future"), (2.0, "wish"), (2.0, "progressive")))
    how = draw.weigh(_HOW)
    subject = asked_person(draw) if how == "asked" else person(draw)
    clause = Clause(subject, make_call(draw, subject), aspect, how == "denied", _time(draw, aspect, how))
    return spoken(draw, clause, how == "asked")


_HANDLED = tuple(verb for verb in VERBS if verb.zh in ("吃", "喝", "洗", "卖", "丢"))


def handling(draw: Draw) -> Sentence:
    """他把那条鱼吃了。 He ate that fish: 把 brings a known object before the verb."""
    key, how = draw.key(), draw.weigh(_HOW)
    subject = asked_person(draw) if how == "asked" else human(draw)
    # Denied, 把 wants more behind its verb than 吃 alone; 放在桌子上 is enough.
    if how == "denied" or draw.chance(0.4):
        predicate = _putting(draw, key)
    else:
        verb = draw.choose(_HANDLED)
        noun = draw.choose(verb.objects)
        draw.combine(verb.zh, noun.zh)
        thing = draw.weigh(((2.0, pointed_noun), (1.0, owned_noun)))(draw, noun)
        predicate = Predicate(
            said("把", key) + thing.source, said(verb.zh, key), (), verb_forms(verb.en), key, thing.target
        )
    clause = Clause(subject, predicate, "past", how == "denied", _time(draw, "recent", how))
    return spoken(draw, clause, how == "asked")


def _putting(draw: Draw, key: int) -> Predicate:
    spot = draw.choose([spot for spot in SPOTS if spot.zh in ("桌子", "椅子", "床", "盒子", "包")])
    noun = draw.choose([noun for noun in nouns_of(spot.holds) if noun.kind not in ("animal", "beast")])
    thing = draw.weigh(((2.0, pointed_noun), (1.0, owned_noun)))(draw, noun)
    where, key_spot = draw.key(), draw.key()
    verb = said("放", key) + said("在", where)
    after = thing.target + said(spot.preposition, where) + said("the", key_spot) + said(spot.en, key_spot)
    place = said(spot.zh, key_spot) + said(spot.particle, where)
    return Predicate(said("把", key) + thing.source, verb, place, verb_forms("put"), key, after)


def passive(draw: Draw) -> Sentence:
    """那条鱼被我的猫吃了。 That fish was eaten by my cat."""
    verb, of = draw.choose((("吃", "food fruit 鱼"), ("喝", "咖啡 牛奶 果汁 啤酒"), ("卖", "vehicle device furniture")))
    noun = draw.choose(nouns_of(of))
    draw.combine(verb, noun.zh)
    patient = draw.weigh(((2.0, pointed_noun), (1.0, owned_noun)))(draw, noun)
    agent = pet(draw) if verb == "吃" and draw.chance(0.5) else someone_else(draw, patient)
    key, by = draw.key(), draw.key()
    english = verb_forms({"吃": "eat", "喝": "drink", "卖": "sell"}[verb])
    was = said("were" if patient.many else "was", by)
    time = _time(draw, "recent", "said")
    when_source, when_target = (time.source, time.target) if time else ((), ())
    source = patient.source + when_source + said("被", by) + agent.source + said(verb, key) + said("了", key)
    target = said(english.participle, key) + said("by", by) + agent.target_object + when_target
    if draw.chance(0.25):
        asked = draw.key()
        was = tuple(word._replace(keys=(*word.keys, asked)) for word in was)
        return close(draw, (source + said("吗", asked), was + patient.target + target), "?")
    return close(draw, (source, patient.target + was + target))


def spending(draw: Draw) -> Sentence:
    """他昨天花了一百块钱。 He spent one hundred yuan yesterday."""
    (zh, en), key, number, unit = draw.choose(MONEY), draw.key(), draw.key(), draw.key()
    money = said(zh, number) + said("块", unit) + said("钱", unit)
    predicate = Predicate((), said("花", key), money, verb_forms("spend"), key, said(en, number) + said("yuan", unit))
    how = "asked" if draw.chance(0.2) else "said"
    subject = asked_person(draw) if how == "asked" else person(draw)
    clause = Clause(subject, predicate, "past", time=_time(draw, "past", how))
    return spoken(draw, clause, how == "asked")


# What is done daily, at what part of the day, between which hours.
_DAILY: tuple[tuple[Activity, str, int, int], ...] = (
    (Activity((("起床", "get up"),)), "早上", 5, 8),
    (Activity((("上班", "go to work"),)), "早上", 7, 9),
    (Activity((("吃", "have"), ("早饭", "breakfast"))), "早上", 6, 9),
    (Activity((("回家", "go home"),)), "下午", 3, 6),
    (Activity((("吃", "have"), ("晚饭", "dinner"))), "晚上", 6, 8),
    (Activity((("睡觉", "go to bed"),)), "晚上", 8, 10),
)


def clock(draw: Draw) -> Sentence:
    """我每天早上七点起床。 I get up at seven o'clock every morning."""
    aspect = draw.weigh(((3.0, "habit"), (2.0, "past"), (1.0, "future")))
    doing, part, first, last = draw.choose(_DAILY)
    fitting = [time for time in TIMES[aspect] if time.parts[-1][0] in (part, "每天", "昨天", "明天")]
    time = _clock_time(draw, phrase_of(draw, draw.choose(fitting)), draw.choose(NUMBERS[first - 2 : last - 1]))
    clause = Clause(human(draw), doing_words(draw, doing), aspect, time=time)
    return spoken(draw, clause, draw.chance(0.2))


def _clock_time(draw: Draw, day: TimePhrase, number: tuple[str, str]) -> TimePhrase:
    counted, hour = draw.key(), draw.key()
    source = day.source + said(number[0], counted) + said("点", hour)
    if draw.chance(0.3):
        half = draw.key()
        target = said("at", hour) + said("half past", half) + said(number[1], counted)
        return TimePhrase(source + said("半", half), target + day.target)
    return TimePhrase(source, said("at", hour) + said(number[1], counted) + said("o'clock", hour) + day.target)


EVENTS = (
    (30.0, event),
    (4.0, animal),
    (4.0, giving),
    (2.0, calling),
    (4.0, handling),
    (2.0, passive),
    (1.0, spending),
    (2.5, clock),
)
