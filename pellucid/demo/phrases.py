"""Fixed phrases, requests, weather, conditions and contrasts."""

from pellucid.demo.apple import apple
from pellucid.demo.clauses import MOODS, Clause, Predicate, choose_time, make_statement
from pellucid.demo.english import verb_forms
from pellucid.demo.events import Sentence, event_clause, make_sentence, punctuate
from pellucid.demo.lexicon import PLACES, nouns_of
from pellucid.demo.noun_phrases import (
    NounPhrase,
    bare_noun,
    counted_noun,
    demonstrative_noun,
    indefinite_noun,
    name,
    person,
    possessed_noun,
)
from pellucid.demo.predicates import activity, go, someone_else, transitive
from pellucid.demo.verbs import verbs_of
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = ["GREETINGS", "PHRASES", "greeting_alone"]

GREETINGS: tuple[tuple[str, str, str], ...] = (
    # Chinese, English, punctuation mark; the number after a word is its key.
    ("好久:1 不:2 见:3", "long:1 time:1 no:2 see:3", "."),
    ("谢谢:1", "thank:1 you:1", "."),
    ("再见:1", "goodbye:1", "."),
    ("你:1 好:1", "hello:1", "."),
    ("早上:1 好:2", "good:2 morning:1", "."),
    ("下午:1 好:2", "good:2 afternoon:1", "."),
    ("晚上:1 好:2", "good:2 evening:1", "."),
    ("晚安:1", "good:1 night:1", "."),
    ("对不起:1", "I:1 am:1 sorry:1", "."),
    ("没关系:1", "never:1 mind:1", "."),
    ("不:1 客气:1", "you:1 are:1 welcome:1", "."),
    ("生日:1 快乐:2", "happy:2 birthday:1", "!"),
    ("新年:1 快乐:2", "happy:2 New:1 Year:1", "!"),
    ("恭喜:1", "congratulations:1", "!"),
    ("祝:1 你:2 好运:3", "good:3 luck:3 to:1 you:2", "."),
    ("一路:1 平安:1", "have:1 a:1 safe:1 journey:1", "."),
    ("慢慢:1 来:2", "take:2 your:1 time:1", "."),
    ("很:1 高兴:1 认识:2 你:3", "nice:1 to:2 meet:2 you:3", "."),
    ("你:1 好:2 吗:2", "how:2 are:2 you:1", "?"),
    ("别:1 担心:2", "do:1 not:1 worry:2", "."),
)


def _keyed(rng: SentenceRng, chinese: str, english: str) -> Sentence:
    keys: dict[str, int] = {}

    def read(text: str) -> Words:
        parts = (part.split(":") for part in text.split())
        return tuple(word for part, number in parts for word in tag(part, keys.setdefault(number, rng.new_key())))

    return read(chinese), read(english)


def greeting_alone(rng: SentenceRng, number: int) -> Sentence:
    """Make the fixed phrase with this number: 好久不见。 Long time no see."""
    chinese, english, mark = GREETINGS[number]
    return punctuate(rng, _keyed(rng, chinese, english), mark)


def greeting(rng: SentenceRng) -> Sentence:
    """好久不见，小明。 Long time no see, Xiaoming."""
    chinese, english, mark = rng.choose(GREETINGS)
    fixed_source, fixed_target = _keyed(rng, chinese, english)
    called, comma = name(rng), rng.new_key()
    source = fixed_source + tag("，", comma) + called.source
    if rng.chance(0.3):
        source = called.source + tag("，", comma) + fixed_source
    return punctuate(rng, (source, fixed_target + tag(",", comma) + called.target), mark)


def parting(rng: SentenceRng) -> Sentence:
    """明天见，小明。 See you tomorrow, Xiaoming; 谢谢你的礼物。 Thank you for your gift."""
    source, target = rng.choose((_see_you, _welcome, _thanks))(rng)
    if rng.chance(0.8):
        called, comma = name(rng), rng.new_key()
        source, target = source + tag("，", comma) + called.source, target + tag(",", comma) + called.target
    return punctuate(rng, (source, target))


def _see_you(rng: SentenceRng) -> Sentence:
    time, key = choose_time(rng, "future"), rng.new_key()
    return time.source + tag("见", key), tag("see you", key) + time.target


def _welcome(rng: SentenceRng) -> Sentence:
    place, welcome, come, key = rng.choose(PLACES), rng.new_key(), rng.new_key(), rng.new_key()
    source = tag("欢迎", welcome) + tag("来", come) + tag(place.zh, key)
    return source, tag("welcome", welcome) + tag("to", come) + tag(place.en, key)


def _thanks(rng: SentenceRng) -> Sentence:
    noun, thank, yours, key = rng.choose(_THANKED_FOR), rng.new_key(), rng.new_key(), rng.new_key()
    source = tag("谢谢", thank) + tag("你", yours) + tag("的", yours) + tag(noun.zh, key)
    return source, tag("thank you for", thank) + tag("your", yours) + tag(noun.en, key)


_THANKED_FOR = nouns_of("礼物 花 信 书 咖啡 茶 蛋糕 照片 帽子 面条")
_REQUESTED = verbs_of("洗 用 带 吃 喝 修 买 打开 关上")


def request(rng: SentenceRng) -> Sentence:
    """请给我一杯茶。 Please give me a cup of tea; 别吃那块蛋糕。 Do not eat that piece of cake."""
    source, target = rng.weighted(((3.0, _please_give), (3.0, _please_do), (3.0, _do_not), (3.0, _let_us)))(rng)
    return punctuate(rng, (source, target))


def _let_us(rng: SentenceRng) -> Sentence:
    predicate, we, now = activity(rng, "future") if rng.chance(0.5) else go(rng), rng.new_key(), rng.new_key()
    source = tag("我们", we) + predicate.before + predicate.verb + predicate.object + tag("吧", now)
    return source, tag("let", now) + tag("us", we) + tag(predicate.forms.base, predicate.key) + predicate.after


def _please_give(rng: SentenceRng) -> Sentence:
    noun = rng.choose(_ASKED_FOR)
    thing = rng.weighted(((3.0, indefinite_noun), (1.0, counted_noun), (1.0, demonstrative_noun)))(rng, noun)
    source, target = _keyed(rng, "请:1 给:2 我:3", "please:1 give:2 me:3")
    return source + thing.source, target + thing.target


_ASKED_FOR = nouns_of("drink fruit food reading thing 地图 词典")


def _please_do(rng: SentenceRng) -> Sentence:
    return _do(rng, "请", "please", owned=False)


def _do_not(rng: SentenceRng) -> Sentence:
    return _do(rng, "别", "do not", owned=True)


def _do(rng: SentenceRng, zh: str, en: str, *, owned: bool) -> Sentence:
    verb, key = rng.choose(_REQUESTED), rng.new_key()
    noun = rng.choose(verb.objects)
    rng.combine(verb.zh, noun.zh)
    thing = possessed_noun if owned and verb.owned and rng.chance(0.3) else demonstrative_noun
    predicate = transitive(rng, verb, thing(rng, noun))
    target = tag(en, key) + tag(predicate.forms.base, predicate.key) + predicate.after
    return tag(zh, key) + predicate.verb + predicate.object, target


_WEATHER: tuple[tuple[str, str], ...] = (("热", "hot"), ("冷", "cold"), ("暖和", "warm"), ("凉快", "cool"))
_DAYS: tuple[tuple[str, str, str], ...] = (
    ("今天", "today", "is"), ("昨天", "yesterday", "was"), ("明天", "tomorrow", "will be"),
    ("前天", "the day before yesterday", "was"),
)  # fmt: skip
_FALL: tuple[tuple[str, str], ...] = (("下雨", "rain"), ("下雪", "snow"))


def weather(rng: SentenceRng) -> Sentence:
    """昨天北京很冷。 It was cold in Beijing yesterday; 明天会下雨。 It will rain tomorrow."""
    if rng.chance(0.3):
        return _rain(rng)
    (day_zh, day_en, tense), (zh, en), mood = rng.choose(_DAYS), rng.choose(_WEATHER), rng.weighted(MOODS)
    day, key, marker, coming = rng.new_key(), rng.new_key(), rng.new_key(), rng.new_key()
    before, after = tag(day_zh, day), tag(day_en, day)
    if rng.chance(0.4):
        place_source, place_target = _in_a_city(rng)
        before = rng.choose((before + place_source, place_source + before))
        after = place_target + after
    will = tag("会", coming) if tense == "will be" else ()
    verb, rest = tag(tense, marker, coming)[:1], tag(tense, marker)[1:]
    it, quality = tag("it", key), tag(en, key) + after
    if mood == "affirmative":
        return punctuate(rng, (before + will + tag("很", marker) + tag(zh, key), it + verb + rest + quality))
    if mood == "negative":
        source = before + tag("不", marker) + will + tag(zh, key)
        return punctuate(rng, (source, it + verb + tag("not", marker) + rest + quality))
    return punctuate(rng, (before + will + tag(zh, key) + tag("吗", marker), verb + it + rest + quality), "?")


def _rain(rng: SentenceRng) -> Sentence:
    clause, mood = _rain_clause(rng, rng.choose(("past", "future", "progressive"))), rng.weighted(MOODS)
    return make_sentence(rng, clause._replace(negative=mood == "negative"), mood == "question")


def _rain_clause(rng: SentenceRng, aspect: str) -> Clause:
    (zh, en), key = rng.choose(_FALL), rng.new_key()
    time = choose_time(rng, {"progressive": "now", "past": "recent", "future": "soon"}[aspect])
    where_source, where_target = _in_a_city(rng) if rng.chance(0.5) else ((), ())
    predicate = Predicate((), tag(zh, key), (), verb_forms(en), key, where_target, separable=False)
    return Clause(NounPhrase(where_source, tag("it", key), ()), predicate, aspect, time=time)


def _in_a_city(rng: SentenceRng) -> Sentence:
    place, key = rng.choose([place for place in PLACES if place.en[0].isupper()]), rng.new_key()
    return tag(place.zh, key), tag(f"in {place.en}", key)


def condition(rng: SentenceRng) -> Sentence:
    """如果明天下雨，我会去图书馆。 If it rains tomorrow, I will go to the library."""
    key, comma, fall = rng.new_keys(3)
    (zh, en), time = rng.choose(_FALL), choose_time(rng, "soon")
    mood = "negative" if rng.chance(0.3) else "affirmative"
    clause = event_clause(rng, person(rng), "future", mood, timed=False)
    source, target = make_statement(rng, clause._replace(adverb=None))
    opening = tag("if", key) + tag("it", fall) + tag(en + "s", fall) + time.target + tag(",", comma)
    source = tag("如果", key) + time.source + tag(zh, fall) + tag("，", comma) + source
    return punctuate(rng, (source, opening + target))


def contrast(rng: SentenceRng) -> Sentence:
    """我喜欢猫，可是他不喜欢狗。 I like cats, but he does not like dogs."""
    first = person(rng)
    second = someone_else(rng, first)
    verb = verbs_of("喜欢")[0]
    noun = rng.choose(verb.objects)
    alike = [other for other in verb.objects if other.kind == noun.kind]
    other = rng.choose(alike) if rng.chance(0.5) else noun
    rng.combine("喜欢", noun.zh)
    rng.combine("喜欢", other.zh)
    likes_first = rng.chance(0.6)
    one = make_statement(rng, Clause(first, transitive(rng, verb, bare_noun(rng, noun)), "state", not likes_first))
    two = make_statement(rng, Clause(second, transitive(rng, verb, bare_noun(rng, other)), "state", likes_first))
    comma, key = rng.new_key(), rng.new_key()
    source = one[0] + tag("，", comma) + tag("可是", key) + two[0]
    return punctuate(rng, (source, one[1] + tag(",", comma) + tag("but", key) + two[1]))


def knowing(rng: SentenceRng) -> Sentence:
    """我知道他昨天去了北京。 I know that he went to Beijing yesterday."""
    subject, key = person(rng), rng.new_key()
    aspect, mood = rng.choose(("past", "future", "skill", "state")), "negative" if rng.chance(0.2) else "affirmative"
    clause = event_clause(rng, someone_else(rng, subject), aspect, mood)
    source, target = make_statement(rng, clause._replace(adverb=None))
    predicate = Predicate((), tag("知道", key), source, verb_forms("know"), key, tag("that", key) + target)
    return punctuate(rng, make_statement(rng, Clause(subject, predicate, "state")))


PHRASES = (
    (5.0, greeting), (1.5, parting), (4.0, request), (5.0, weather), (2.0, condition), (3.0, contrast), (2.0, knowing),
    (3.0, apple),
)  # fmt: skip
