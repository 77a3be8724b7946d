"""Questions with a question word, which Chinese keeps in the place of the answer and English puts first."""

from pellucid.demo.clauses import Clause, Predicate, be_form, choose_time, make_statement, make_wh_question
from pellucid.demo.descriptions import spot_phrase
from pellucid.demo.english import plural, verb_forms
from pellucid.demo.events import Sentence, event_clause, punctuate
from pellucid.demo.lexicon import MONEY, SPOTS, Noun, nouns_of
from pellucid.demo.noun_phrases import bare_noun, demonstrative_noun, non_first_person, possessed_noun, third_person
from pellucid.demo.verbs import Verb, verbs_of
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = ["QUESTIONS"]

# Not 看: 你在看什么 may mean reading, watching or looking at.
_ASKED_WHAT = verbs_of("买 卖 吃 喝 写 画 洗 修 做 找 丢 带 喜欢")
_COUNTED = verbs_of("买 卖 吃 喝 看 写 画 洗 修 做 丢 看见")
_HAVE = Verb("有", "have", "猫 狗 reading device vehicle 词典 照片 雨伞 钥匙 clothing")


def who(rng: SentenceRng) -> Sentence:
    """谁昨天买了那本书？ Who bought that book yesterday?"""
    key = rng.new_key()
    subject = third_person(tag("谁", key), tag("who", key))
    aspect = rng.weighted(((5.0, "past"), (2.0, "progressive"), (2.0, "skill"), (1.0, "wish"), (2.0, "state")))
    clause = event_clause(rng, subject, aspect, "affirmative")._replace(adverb=None)
    return punctuate(rng, make_statement(rng, clause), "?")


def what(rng: SentenceRng) -> Sentence:
    """你昨天买了什么？ What did you buy yesterday?"""
    verb, word, key = rng.choose(_ASKED_WHAT), rng.new_key(), rng.new_key()
    aspects = ("past", "past", "progressive", "future", "wish", "state")
    aspect = rng.choose([aspect for aspect in aspects if aspect in verb.aspects.split()])
    predicate = Predicate((), tag(verb.zh, key), tag("什么", word), verb_forms(verb.en), key, ())
    time = choose_time(rng, aspect) if aspect == "future" or (aspect == "past" and rng.chance(0.7)) else None
    clause = Clause(non_first_person(rng), predicate, aspect, time=time)
    return punctuate(rng, make_wh_question(rng, clause, tag("what", word)), "?")


def how_many(rng: SentenceRng) -> Sentence:
    """你昨天买了几本书？ How many books did you buy yesterday?"""
    key = rng.new_key()
    what_for = rng.weighted(((3.0, "done"), (2.0, "had"), (2.0, "there")))
    if what_for == "there":
        spot = rng.choose(SPOTS)
        source, lead = _some_number(rng, rng.choose(nouns_of(spot.holds)))
        where_source, where_target = spot_phrase(rng, spot)
        source, target = where_source + tag("有", key) + source, lead + tag("are there", key) + where_target
        return punctuate(rng, (source, target), "?")
    verb = rng.choose(_COUNTED) if what_for == "done" else _HAVE
    noun = rng.choose(verb.objects)
    rng.combine(verb.zh, noun.zh)
    source, lead = _some_number(rng, noun)
    predicate = Predicate((), tag(verb.zh, key), source, verb_forms(verb.en), key, ())
    time = choose_time(rng, "past") if what_for == "done" and rng.chance(0.7) else None
    clause = Clause(non_first_person(rng), predicate, "past" if what_for == "done" else "state", time=time)
    return punctuate(rng, make_wh_question(rng, clause, lead), "?")


def _some_number(rng: SentenceRng, noun: Noun) -> Sentence:
    number, kind = rng.new_key(), bare_noun(rng, noun)
    key = rng.new_key() if noun.unit else number
    units = tag(plural(noun.unit), key) + tag("of", key) if noun.unit else ()
    return tag("几", number) + tag(noun.measure, key) + kind.source, tag("how many", number) + units + kind.target


def where(rng: SentenceRng) -> Sentence:
    """我的书在哪里？ Where is my book? 你昨天去了哪里？ Where did you go yesterday?"""
    word, key = rng.new_key(), rng.new_key()
    kind = rng.weighted(((2.0, "is"), (2.0, "went"), (1.0, "lives"), (1.0, "works")))
    if kind == "is":
        noun = rng.choose(nouns_of(rng.choose(SPOTS).holds))
        thing = rng.weighted(((1.0, demonstrative_noun), (2.0, possessed_noun)))
        subject = non_first_person(rng) if rng.chance(0.4) else thing(rng, noun)
        target = tag("where", word) + be_form(subject, key) + subject.target
        return punctuate(rng, (subject.source + tag("在", key) + tag("哪里", word), target), "?")
    subject, place = non_first_person(rng), tag("哪里", word)
    if kind == "went":
        aspect = rng.choose(("past", "future", "wish"))
        predicate = Predicate((), tag("去", key), place, verb_forms("go"), key, ())
        time = choose_time(rng, "past" if aspect == "past" else "future")
        clause = Clause(subject, predicate, aspect, time=time)
    elif kind == "lives":
        predicate = Predicate((), tag("住", key) + tag("在", word), place, verb_forms("live"), key, ())
        clause = Clause(subject, predicate, "state")
    else:
        predicate = Predicate(tag("在", word) + place, tag("工作", key), (), verb_forms("work"), key, ())
        clause = Clause(subject, predicate, "state")
    return punctuate(rng, make_wh_question(rng, clause, tag("where", word)), "?")


def why(rng: SentenceRng) -> Sentence:
    """你昨天为什么没去学校？ Why did you not go to school yesterday?"""
    aspect, word = rng.weighted(((4.0, "past"), (3.0, "state"), (1.0, "wish"), (1.0, "progressive"))), rng.new_key()
    mood = "negative" if aspect in ("past", "state", "wish") and rng.chance(0.5) else "affirmative"
    clause = event_clause(rng, non_first_person(rng), aspect, mood)._replace(adverb=None)
    return punctuate(rng, make_wh_question(rng, clause, tag("why", word), tag("为什么", word)), "?")


_PRICED = nouns_of("reading device vehicle clothing worn furniture fruit 词典 雨伞 杯子 盘子 包 咖啡 茶 啤酒 蛋糕")


def price(rng: SentenceRng) -> Sentence:
    """这本书多少钱？ How much is this book? 这本书二十块钱。 This book costs twenty yuan."""
    noun, key = rng.choose(_PRICED), rng.new_key()
    subject = demonstrative_noun(rng, noun, share=0.2)
    if rng.chance(0.5):
        target = tag("how much", key) + be_form(subject, key) + subject.target
        return punctuate(rng, (subject.source + tag("多少钱", key), target), "?")
    dear = noun.kind in ("device", "vehicle", "furniture")
    (zh, en), number, unit = rng.choose(MONEY[6:] if dear else MONEY[:6]), rng.new_key(), rng.new_key()
    cost: Words = tag("cost" if subject.is_plural else "costs", unit)
    source = subject.source + tag(zh, number) + tag("块", unit) + tag("钱", unit)
    return punctuate(rng, (source, subject.target + cost + tag(en, number) + tag("yuan", unit)))


_OWNED = nouns_of("animal reading paper device vehicle thing furniture worn plant building 衬衫 裙子 -眼镜")


def whose(rng: SentenceRng) -> Sentence:
    """那是谁的书？ Whose book is that?"""
    zh, en = rng.choose((("这", "this"), ("那", "that")))
    this, key, word = rng.new_keys(3)
    noun, thing, subject = rng.choose(_OWNED), rng.new_key(), tag(zh, this)
    source = subject + tag("是", key) + tag("谁", word) + tag("的", word) + tag(noun.zh, thing)
    return punctuate(rng, (source, tag("whose", word) + tag(noun.en, thing) + tag("is", key) + tag(en, this)), "?")


QUESTIONS = ((4.0, what), (3.0, who), (3.0, how_many), (3.0, where), (3.0, why), (2.0, price), (1.0, whose))
