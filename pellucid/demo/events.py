"""Sentences about what people and animals do, did, will do, want to do and can do."""

from pellucid.demo.clauses import (
    MOODS,
    Clause,
    Predicate,
    TimePhrase,
    choose_time,
    make_statement,
    make_yes_no_question,
    time_phrase,
)
from pellucid.demo.english import verb_forms
from pellucid.demo.lexicon import MONEY, NUMBERS, SPOTS, TIMES, nouns_of
from pellucid.demo.noun_phrases import (
    NounPhrase,
    counted_noun,
    demonstrative_noun,
    indefinite_noun,
    non_first_person,
    person,
    possessed_noun,
)
from pellucid.demo.predicates import (
    activity,
    activity_predicate,
    go,
    live,
    make_call,
    someone_else,
    transitive,
    verb_with_object,
    verb_with_person,
)
from pellucid.demo.relatives import human, pet, thing_with_relative_clause
from pellucid.demo.verbs import Activity, Verb, verbs_of
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = ["EVENTS", "Sentence", "event_clause", "make_sentence", "punctuate"]

Sentence = tuple[Words, Words]


def punctuate(rng: SentenceRng, clause: Sentence, mark: str = ".") -> Sentence:
    """Add 。 and . or ？ and ?."""
    key = rng.new_key()
    return clause[0] + tag({".": "。", "?": "？", "!": "！"}[mark], key), clause[1] + tag(mark, key)


def make_sentence(rng: SentenceRng, clause: Clause, asked: bool) -> Sentence:
    """Make a whole sentence, a question or a statement."""
    if asked:
        return punctuate(rng, make_yes_no_question(rng, clause), "?")
    return punctuate(rng, make_statement(rng, clause))


_ASPECTS = (
    (8.0, "past"), (2.5, "experience"), (2.0, "already"), (3.0, "future"), (2.5, "wish"), (5.0, "habit"),
    (3.0, "state"), (3.0, "progressive"), (1.5, "skill"),
)  # fmt: skip
# Verbs that go with last year or next month; the others go with yesterday and tomorrow.
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


def event_clause(rng: SentenceRng, subject: NounPhrase, aspect: str, mood: str, *, timed: bool = True) -> Clause:
    """Make a clause about somebody doing something that is natural in this aspect and mood."""
    kind = rng.weighted(_KINDS[aspect])
    single_out = kind == "object" and aspect in ("past", "progressive", "state") and rng.chance(0.08)
    if aspect == "already" and mood == "question":
        mood = "affirmative"
    if single_out:
        predicate = _with_the_thing(rng, aspect)
    elif kind == "object":
        predicate = verb_with_object(rng, aspect, mood)
    elif kind == "person":
        predicate = verb_with_person(rng, subject, aspect)
    elif kind == "activity":
        # 没在学校看书 could negate the place only, and an ability is not tied to a place.
        placeless = aspect == "skill" or (aspect, mood) == ("progressive", "negative")
        predicate = activity(rng, aspect, 0.0 if placeless else 0.3)
    elif kind == "live":
        predicate = live(rng)
    else:
        predicate = go(rng, 0.0 if aspect == "experience" else 0.35)
    lasting = predicate.verb[0].text in _LASTING
    tense = aspect if lasting else {"past": "recent", "future": "soon"}.get(aspect, aspect)
    # The relative clause already has a time: a second one at the end would be misread.
    time = _time(rng, tense, mood) if timed and not single_out else None
    clause = Clause(subject, predicate, aspect, mood == "negative", time)
    return clause._replace(adverb=_adverb(rng, clause, mood)) if mood == "affirmative" else clause


def event(rng: SentenceRng) -> Sentence:
    """那只猫昨天吃了三条鱼。 That cat ate three fish yesterday."""
    mood = rng.weighted(MOODS)
    subject = non_first_person(rng) if mood == "question" and rng.chance(0.8) else human(rng)
    clause = event_clause(rng, subject, rng.weighted(_ASPECTS), mood)
    return make_sentence(rng, clause, mood == "question" and clause.aspect != "already")


_DONE_TO_THE_THING = verbs_of("吃 喝 喜欢 看 洗 卖 丢 找")


def _with_the_thing(rng: SentenceRng, aspect: str) -> Predicate:
    verb = rng.choose([verb for verb in _DONE_TO_THE_THING if aspect in verb.aspects.split()])
    noun = rng.choose(verb.objects)
    rng.combine(verb.zh, noun.zh)
    if noun.zh in _BOUGHT:
        return transitive(rng, verb, thing_with_relative_clause(rng, noun))
    return transitive(rng, verb, demonstrative_noun(rng, noun))


_BOUGHT = frozenset(noun.zh for noun in verbs_of("买")[0].objects)


def _time(rng: SentenceRng, aspect: str, mood: str) -> TimePhrase | None:
    habit = {"negative": 0.0, "affirmative": 0.7, "question": 1.0}[mood]
    share = {"past": 0.75, "recent": 0.75, "soon": 1.0, "future": 1.0, "wish": 0.25, "habit": habit}
    if aspect == "progressive":
        return choose_time(rng, "now") if rng.chance(0.25) else None
    return choose_time(rng, "future" if aspect == "wish" else aspect) if rng.chance(share.get(aspect, 0.0)) else None


def _adverb(rng: SentenceRng, clause: Clause, mood: str) -> tuple[str, str] | None:
    if clause.aspect == "already":
        return None
    if clause.aspect == "habit" and clause.time is None:
        return rng.choose((("常常", "often"), ("总是", "always")))
    if len(clause.subject.source) == 1 and clause.subject.is_plural and rng.chance(0.3):
        return "都", "all"
    return ("也", "also") if rng.chance(0.08) else None


_EATEN_BY_PETS = nouns_of("鱼 蛋糕 面包 鸡蛋 三明治")
_CHASED = nouns_of("猫 兔子 鸡 鸟 老鼠 羊")
_AMOUNTS = ((3.0, indefinite_noun), (2.0, counted_noun), (3.0, demonstrative_noun), (1.0, possessed_noun))


def animal(rng: SentenceRng) -> Sentence:
    """那只狗在追一只猫。 That dog is chasing a cat."""
    subject, aspect = pet(rng), rng.choose(("past", "progressive", "past"))
    what = rng.weighted(((3.0, "eat"), (1.0, "drink"), (3.0, "chase"), (2.0, "sleep")))
    if what == "sleep":
        spot, keys = rng.choose([spot for spot in SPOTS if spot.zh in ("桌子", "床", "椅子", "花园")]), rng.new_keys(3)
        before = tag("在", keys[1]) + tag(spot.zh, keys[2]) + tag(spot.particle, keys[1])
        after = tag(spot.preposition, keys[1]) + tag("the", keys[2]) + tag(spot.en, keys[2])
        predicate = Predicate(before, tag("睡觉", keys[0]), (), verb_forms("sleep"), keys[0], after)
        aspect = "progressive"
    else:
        verb, nouns = {
            "eat": (Verb("吃", "eat"), _EATEN_BY_PETS),
            "drink": (Verb("喝", "drink"), nouns_of("水 牛奶")),
            "chase": (Verb("追", "chase"), _CHASED),
        }[what]
        noun = rng.choose([noun for noun in nouns if noun.zh not in subject.referent])
        rng.combine(verb.zh, noun.zh)
        single = aspect == "progressive" and what == "drink"
        predicate = transitive(rng, verb, (demonstrative_noun if single else rng.weighted(_AMOUNTS))(rng, noun))
    clause = Clause(
        subject, predicate, aspect, time=_time(rng, "recent" if aspect == "past" else aspect, "affirmative")
    )
    return make_sentence(rng, clause, rng.chance(0.15))


_GIFTS = nouns_of("reading 礼物 花 帽子 手表 手机 照片 词典 雨伞 蛋糕 苹果 球 铅笔 杯子 clothing -报纸 -裤子 -袜子")


def giving(rng: SentenceRng) -> Sentence:
    """他给了我一本书。 He gave me a book; 妈妈给我买了一件毛衣。 Mother bought a sweater for me."""
    mood, aspect = rng.weighted(MOODS), rng.weighted(((6.0, "past"), (2.0, "future"), (2.0, "wish")))
    subject = non_first_person(rng) if mood == "question" else person(rng)
    receiver, noun = someone_else(rng, subject), rng.choose(_GIFTS)
    forms = ((5.0, indefinite_noun), (1.0, counted_noun), (2.0, demonstrative_noun))
    form = demonstrative_noun if mood == "negative" else rng.weighted(forms)
    thing, key, to = form(rng, noun), rng.new_key(), rng.new_key()
    if rng.chance(0.6):
        verb = rng.weighted(((3.0, "给"), (2.0, "送给")))
        objects = receiver.source + thing.source
        predicate = Predicate(
            (), tag(verb, key), objects, verb_forms("give"), key, receiver.target_object + thing.target
        )
    else:
        rng.combine("买", noun.zh)
        after = thing.target + tag("for", to) + receiver.target_object
        predicate = Predicate(
            tag("给", to) + receiver.source, tag("买", key), thing.source, verb_forms("buy"), key, after
        )
    clause = Clause(subject, predicate, aspect, mood == "negative", _time(rng, aspect, mood))
    return make_sentence(rng, clause, mood == "question")


def calling(rng: SentenceRng) -> Sentence:
    """他昨天给妈妈打了电话。 He made a phone call to … yesterday."""
    aspect = rng.weighted(((4.0, "past"), (2.0, "future"), (2.0, "wish"), (2.0, "progressive")))
    mood = rng.weighted(MOODS)
    subject = non_first_person(rng) if mood == "question" else person(rng)
    clause = Clause(subject, make_call(rng, subject), aspect, mood == "negative", _time(rng, aspect, mood))
    return make_sentence(rng, clause, mood == "question")


_HANDLED = verbs_of("吃 喝 洗 卖 丢")


def handling(rng: SentenceRng) -> Sentence:
    """他把那条鱼吃了。 He ate that fish: 把 brings a known object before the verb."""
    key, mood = rng.new_key(), rng.weighted(MOODS)
    subject = non_first_person(rng) if mood == "question" else human(rng)
    # A negated 把 needs more after its verb than 吃 alone; 放在桌子上 is enough.
    if mood == "negative" or rng.chance(0.4):
        predicate = _putting(rng, key)
    else:
        verb = rng.choose(_HANDLED)
        noun = rng.choose(verb.objects)
        rng.combine(verb.zh, noun.zh)
        thing = rng.weighted(((2.0, demonstrative_noun), (1.0, possessed_noun)))(rng, noun)
        predicate = Predicate(
            tag("把", key) + thing.source, tag(verb.zh, key), (), verb_forms(verb.en), key, thing.target
        )
    clause = Clause(subject, predicate, "past", mood == "negative", _time(rng, "recent", mood))
    return make_sentence(rng, clause, mood == "question")


def _putting(rng: SentenceRng, key: int) -> Predicate:
    spot = rng.choose([spot for spot in SPOTS if spot.zh in ("桌子", "椅子", "床", "盒子", "包")])
    noun = rng.choose([noun for noun in nouns_of(spot.holds) if noun.kind not in ("animal", "beast")])
    thing = rng.weighted(((2.0, demonstrative_noun), (1.0, possessed_noun)))(rng, noun)
    where, key_spot = rng.new_key(), rng.new_key()
    verb = tag("放", key) + tag("在", where)
    after = thing.target + tag(spot.preposition, where) + tag("the", key_spot) + tag(spot.en, key_spot)
    place = tag(spot.zh, key_spot) + tag(spot.particle, where)
    return Predicate(tag("把", key) + thing.source, verb, place, verb_forms("put"), key, after)


def passive(rng: SentenceRng) -> Sentence:
    """那条鱼被我的猫吃了。 That fish was eaten by my cat."""
    verb, of = rng.choose((("吃", "food fruit 鱼"), ("喝", "咖啡 牛奶 果汁 啤酒"), ("卖", "vehicle device furniture")))
    noun = rng.choose(nouns_of(of))
    rng.combine(verb, noun.zh)
    patient = rng.weighted(((2.0, demonstrative_noun), (1.0, possessed_noun)))(rng, noun)
    agent = pet(rng) if verb == "吃" and rng.chance(0.5) else someone_else(rng, patient)
    key, by = rng.new_key(), rng.new_key()
    english = verb_forms({"吃": "eat", "喝": "drink", "卖": "sell"}[verb])
    was = tag("were" if patient.is_plural else "was", by)
    time = _time(rng, "recent", "affirmative")
    when_source, when_target = (time.source, time.target) if time else ((), ())
    source = patient.source + when_source + tag("被", by) + agent.source + tag(verb, key) + tag("了", key)
    target = tag(english.participle, key) + tag("by", by) + agent.target_object + when_target
    if rng.chance(0.25):
        asked = rng.new_key()
        was = tuple(word._replace(keys=(*word.keys, asked)) for word in was)
        return punctuate(rng, (source + tag("吗", asked), was + patient.target + target), "?")
    return punctuate(rng, (source, patient.target + was + target))


def spending(rng: SentenceRng) -> Sentence:
    """他昨天花了一百块钱。 He spent one hundred yuan yesterday."""
    (zh, en), key, number, unit = rng.choose(MONEY), rng.new_key(), rng.new_key(), rng.new_key()
    money = tag(zh, number) + tag("块", unit) + tag("钱", unit)
    predicate = Predicate((), tag("花", key), money, verb_forms("spend"), key, tag(en, number) + tag("yuan", unit))
    mood = "question" if rng.chance(0.2) else "affirmative"
    subject = non_first_person(rng) if mood == "question" else person(rng)
    clause = Clause(subject, predicate, "past", time=_time(rng, "past", mood))
    return make_sentence(rng, clause, mood == "question")


# Daily activities: part of the day, earliest and latest hour.
_DAILY: tuple[tuple[Activity, str, int, int], ...] = (
    (Activity((("起床", "get up"),)), "早上", 5, 8),
    (Activity((("上班", "go to work"),)), "早上", 7, 9),
    (Activity((("吃", "have"), ("早饭", "breakfast"))), "早上", 6, 9),
    (Activity((("回家", "go home"),)), "下午", 3, 6),
    (Activity((("吃", "have"), ("晚饭", "dinner"))), "晚上", 6, 8),
    (Activity((("睡觉", "go to bed"),)), "晚上", 8, 10),
)


def clock(rng: SentenceRng) -> Sentence:
    """我每天早上七点起床。 I get up at seven o'clock every morning."""
    aspect = rng.weighted(((3.0, "habit"), (2.0, "past"), (1.0, "future")))
    doing, part, first, last = rng.choose(_DAILY)
    fitting = [time for time in TIMES[aspect] if time.parts[-1][0] in (part, "每天", "昨天", "明天")]
    time = _clock_time(rng, time_phrase(rng, rng.choose(fitting)), rng.choose(NUMBERS[first - 2 : last - 1]))
    clause = Clause(human(rng), activity_predicate(rng, doing), aspect, time=time)
    return make_sentence(rng, clause, rng.chance(0.2))


def _clock_time(rng: SentenceRng, day: TimePhrase, number: tuple[str, str]) -> TimePhrase:
    counted, hour = rng.new_key(), rng.new_key()
    source = day.source + tag(number[0], counted) + tag("点", hour)
    if rng.chance(0.3):
        half = rng.new_key()
        target = tag("at", hour) + tag("half past", half) + tag(number[1], counted)
        return TimePhrase(source + tag("半", half), target + day.target)
    return TimePhrase(source, tag("at", hour) + tag(number[1], counted) + tag("o'clock", hour) + day.target)


EVENTS = (
    (30.0, event), (4.0, animal), (4.0, giving), (2.0, calling), (4.0, handling), (2.0, passive), (1.0, spending),
    (2.5, clock),
)  # fmt: skip
