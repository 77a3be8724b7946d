"""Fixed phrases, requests, the weather, conditions, contrasts."""

from pellucid.demo.apple import apple
from pellucid.demo.clauses import Clause, Predicate, state, time_for
from pellucid.demo.english import verb_forms
from pellucid.demo.events import Sentence, close, event_clause, spoken
from pellucid.demo.lexicon import PLACES, nouns_of
from pellucid.demo.nominals import (
    Nominal,
    a_noun,
    bare_noun,
    counted_noun,
    name,
    owned_noun,
    person,
    pointed_noun,
)
from pellucid.demo.predicates import activity, go, someone_else, transitive
from pellucid.demo.verbs import VERBS
from pellucid.demo.words import Draw, Words, said

__all__ = ["GREETINGS", "PHRASES", "greeting_alone"]

_HOW = ((6.0, "said"), (2.0, "denied"), (2.0, "asked"))
GREETINGS: tuple[tuple[str, str, str], ...] = (
    # Chinese, English, mark; the number after a word is its key.
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


def _keyed(draw: Draw, chinese: str, english: str) -> Sentence:
    keys: dict[str, int] = {}

    def read(text: str) -> Words:
        parts = (part.split(":") for part in text.split())
        return tuple(word for part, number in parts for word in said(part, keys.setdefault(number, draw.key())))

    return read(chinese), read(english)


def greeting_alone(draw: Draw, number: int) -> Sentence:
    """Return a fixed phrase by itself: 好久不见。 Long time no see."""
    chinese, english, mark = GREETINGS[number]
    return close(draw, _keyed(draw, chinese, english), mark)


def greeting(draw: Draw) -> Sentence:
    """好久不见，小明。 Long time no see, Xiaoming."""
    chinese, english, mark = draw.choose(GREETINGS)
    fixed_source, fixed_target = _keyed(draw, chinese, english)
    called, comma = name(draw), draw.key()
    source = fixed_source + said("，", comma) + called.source
    if draw.chance(0.3):
        source = called.source + said("，", comma) + fixed_source
    return close(draw, (source, fixed_target + said(",", comma) + called.target), mark)


def parting(draw: Draw) -> Sentence:
    """明天见，小明。 See you tomorrow, Xiaoming; 谢谢你的礼物。 Thank you for your gift."""
    source, target = draw.choose((_see_you, _welcome, _thanks))(draw)
    if draw.chance(0.8):
        called, comma = name(draw), draw.key()
        source, target = source + said("，", comma) + called.source, target + said(",", comma) + called.target
    return close(draw, (source, target))


def _see_you(draw: Draw) -> Sentence:
    time, key = time_for(draw, "future"), draw.key()
    return time.source + said("见", key), said("see you", key) + time.target


def _welcome(draw: Draw) -> Sentence:
    place, welcome, come, key = draw.choose(PLACES), draw.key(), draw.key(), draw.key()
    source = said("欢迎", welcome) + said("来", come) + said(place.zh, key)
    return source, said("welcome", welcome) + said("to", come) + said(place.en, key)


def _thanks(draw: Draw) -> Sentence:
    noun, thank, yours, key = draw.choose(_THANKED_FOR), draw.key(), draw.key(), draw.key()
    source = said("谢谢", thank) + said("你", yours) + said("的", yours) + said(noun.zh, key)
    return source, said("thank you for", thank) + said("your", yours) + said(noun.en, key)


_THANKED_FOR = nouns_of("礼物 花 信 书 咖啡 茶 蛋糕 照片 帽子 面条")
_REQUESTED = tuple(
    verb for verb in VERBS if verb.zh in ("洗", "用", "带", "吃", "喝", "修", "买", "打开", "打开", "关上", "关上")
)


def request(draw: Draw) -> Sentence:
    """请给我一杯茶。 Please give me a cup of tea; 别吃那块蛋糕。 Do not eat that piece of cake."""
    source, target = draw.weigh(((3.0, _please_give), (3.0, _please_do), (3.0, _do_not), (3.0, _let_us)))(draw)
    return close(draw, (source, target))


def _let_us(draw: Draw) -> Sentence:
    predicate, we, now = activity(draw, "future") if draw.chance(0.5) else go(draw), draw.key(), draw.key()
    source = said("我们", we) + predicate.before + predicate.verb + predicate.object + said("吧", now)
    return source, said("let", now) + said("us", we) + said(predicate.forms.base, predicate.key) + predicate.after


def _please_give(draw: Draw) -> Sentence:
    noun, please, give, me = draw.choose(_ASKED_FOR), draw.key(), draw.key(), draw.key()
    thing = draw.weigh(((3.0, a_noun), (1.0, counted_noun), (1.0, pointed_noun)))(draw, noun)
    source = said("请", please) + said("给", give) + said("我", me) + thing.source
    return source, said("please", please) + said("give", give) + said("me", me) + thing.target


_ASKED_FOR = nouns_of("drink fruit food reading thing 地图 词典")


def _please_do(draw: Draw) -> Sentence:
    source, target = _done(draw, owned=False)
    key = draw.key()
    return said("请", key) + source, said("please", key) + target


def _do_not(draw: Draw) -> Sentence:
    source, target = _done(draw, owned=True)
    key = draw.key()
    return said("别", key) + source, said("do not", key) + target


def _done(draw: Draw, *, owned: bool) -> Sentence:
    verb = draw.choose(_REQUESTED)
    noun = draw.choose(verb.objects)
    draw.combine(verb.zh, noun.zh)
    thing = owned_noun if owned and verb.owned and draw.chance(0.3) else pointed_noun
    predicate = transitive(draw, verb, thing(draw, noun))
    return predicate.verb + predicate.object, said(predicate.forms.base, predicate.key) + predicate.after


_WEATHER: tuple[tuple[str, str], ...] = (("热", "hot"), ("冷", "cold"), ("暖和", "warm"), ("凉快", "cool"))
_DAYS: tuple[tuple[str, str, str], ...] = (
    ("今天", "today", "is"), ("昨天", "yesterday", "was"), ("明天", "tomorrow", "will be"),
    ("前天", "the day before yesterday", "was"),
)  # fmt: skip
_FALL: tuple[tuple[str, str], ...] = (("下雨", "rain"), ("下雪", "snow"))


def weather(draw: Draw) -> Sentence:
    """昨天北京很冷。 It was cold in Beijing yesterday; 明天会下雨。 It will rain tomorrow."""
    if draw.chance(0.3):
        return _rain(draw)
    (day_zh, day_en, tense), (zh, en), how = draw.choose(_DAYS), draw.choose(_WEATHER), draw.weigh(_HOW)
    day, key, marker, coming = draw.key(), draw.key(), draw.key(), draw.key()
    before, after = said(day_zh, day), said(day_en, day)
    if draw.chance(0.4):
        place_source, place_target = _in_a_city(draw)
        before = draw.choose((before + place_source, place_source + before))
        after = place_target + after
    will = said("会", coming) if tense == "will be" else ()
    verb, rest = said(tense, marker, coming)[:1], said(tense, marker)[1:]
    it, quality = said("it", key), said(en, key) + after
    if how == "said":
        return close(draw, (before + will + said("很", marker) + said(zh, key), it + verb + rest + quality))
    if how == "denied":
        source = before + said("不", marker) + will + said(zh, key)
        return close(draw, (source, it + verb + said("not", marker) + rest + quality))
    return close(draw, (before + will + said(zh, key) + said("吗", marker), verb + it + rest + quality), "?")


def _rain(draw: Draw) -> Sentence:
    clause, how = _rain_clause(draw, draw.choose(("past", "future", "progressive"))), draw.weigh(_HOW)
    return spoken(draw, clause._replace(negative=how == "denied"), how == "asked")


def _rain_clause(draw: Draw, aspect: str) -> Clause:
    (zh, en), key = draw.choose(_FALL), draw.key()
    time = time_for(draw, {"progressive": "now", "past": "recent", "future": "soon"}[aspect])
    where_source, where_target = _in_a_city(draw) if draw.chance(0.5) else ((), ())
    predicate = Predicate((), said(zh, key), (), verb_forms(en), key, where_target, apart=False)
    return Clause(Nominal(where_source, said("it", key), ()), predicate, aspect, time=time)


def _in_a_city(draw: Draw) -> Sentence:
    place, key = draw.choose([place for place in PLACES if place.en[0].isupper()]), draw.key()
    return said(place.zh, key), said(f"in {place.en}", key)


def condition(draw: Draw) -> Sentence:
    """如果明天下雨，我会去图书馆。 If it rains tomorrow, I will go to the library."""
    key, comma, fall = draw.key(), draw.key(), draw.key()
    (zh, en), time, how = draw.choose(_FALL), time_for(draw, "soon"), "denied" if draw.chance(0.3) else "said"
    clause = event_clause(draw, person(draw), "future", how, timed=False)
    source, target = state(draw, clause._replace(adverb=None))
    opening = said("if", key) + said("it", fall) + said(en + "s", fall) + time.target + said(",", comma)
    return close(
        draw, (said("如果", key) + time.source + said(zh, fall) + said("，", comma) + source, opening + target)
    )


def contrast(draw: Draw) -> Sentence:
    """我喜欢猫，可是他不喜欢狗。 I like cats, but he does not like dogs."""
    first = person(draw)
    second = someone_else(draw, first)
    verb = next(verb for verb in VERBS if verb.zh == "喜欢")
    noun = draw.choose(verb.objects)
    alike = [other for other in verb.objects if other.kind == noun.kind]
    other = draw.choose(alike) if draw.chance(0.5) else noun
    draw.combine("喜欢", noun.zh)
    draw.combine("喜欢", other.zh)
    likes_first = draw.chance(0.6)
    one = state(draw, Clause(first, transitive(draw, verb, bare_noun(draw, noun)), "state", not likes_first))
    two = state(draw, Clause(second, transitive(draw, verb, bare_noun(draw, other)), "state", likes_first))
    comma, key = draw.key(), draw.key()
    source = one[0] + said("，", comma) + said("可是", key) + two[0]
    return close(draw, (source, one[1] + said(",", comma) + said("but", key) + two[1]))


def knowing(draw: Draw) -> Sentence:
    """我知道他昨天去了北京。 I know that he went to Beijing yesterday."""
    subject, key = person(draw), draw.key()
    aspect, how = draw.choose(("past", "future", "skill", "state")), "denied" if draw.chance(0.2) else "said"
    clause = event_clause(draw, someone_else(draw, subject), aspect, how)
    source, target = state(draw, clause._replace(adverb=None))
    predicate = Predicate((), said("知道", key), source, verb_forms("know"), key, said("that", key) + target)
    return close(draw, state(draw, Clause(subject, predicate, "state")))


PHRASES = (
    (5.0, greeting),
    (1.5, parting),
    (4.0, request),
    (5.0, weather),
    (2.0, condition),
    (3.0, contrast),
    (2.0, knowing),
    (3.0, apple),
)
