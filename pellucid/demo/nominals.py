"""Noun phrases: pronouns, names, kin, and nouns with determiner, number, measure word and adjective."""

from typing import NamedTuple

from pellucid.demo.english import plural
from pellucid.demo.lexicon import ADJECTIVES, KIN, NAMES, NOUNS, NUMBERS, SURNAMES, TITLES, Adjective, Noun
from pellucid.demo.words import Draw, Words, said

__all__ = [
    "PRONOUNS", "Nominal", "a_noun", "any_noun", "asked_person", "bare_noun", "counted_noun", "kin", "name",
    "owned_noun", "owner", "person", "pointed_noun", "pronoun", "the_noun", "third_person", "titled_name",
]  # fmt: skip


class Nominal(NamedTuple):
    """A noun phrase in both languages.

    Attributes:
        target: as a subject.
        target_object: as an object; differs for pronouns.
        person: 1, 2 or 3.
        many: grammatical plural in English.
        about: what it refers to, to keep a sentence from naming it twice.
    """

    source: Words
    target: Words
    target_object: Words
    person: int = 3
    many: bool = False
    about: str = ""


class _Pronoun(NamedTuple):
    zh: str
    subject: str
    object: str
    possessive: str
    person: int
    many: bool
    about: str


PRONOUNS: tuple[_Pronoun, ...] = (
    _Pronoun("我", "I", "me", "my", 1, False, "first"),
    _Pronoun("你", "you", "you", "your", 2, False, "second"),
    _Pronoun("他", "he", "him", "his", 3, False, "he"),
    _Pronoun("她", "she", "her", "her", 3, False, "she"),
    _Pronoun("我们", "we", "us", "our", 1, True, "first"),
    _Pronoun("你们", "you", "you", "your", 2, True, "second"),
    _Pronoun("他们", "they", "them", "their", 3, True, "they"),
)
_ADJECTIVES_OF: dict[str, tuple[Adjective, ...]] = {
    noun.zh: tuple(adjective for adjective in ADJECTIVES if adjective.attributive and noun in adjective.nouns)
    for noun in NOUNS
}


def pronoun(draw: Draw) -> Nominal:
    """Return one of 我, 你, 他, 她, 我们, 你们, 他们."""
    word, key = draw.choose(PRONOUNS), draw.key()
    return Nominal(
        said(word.zh, key), said(word.subject, key), said(word.object, key), word.person, word.many, word.about
    )


def name(draw: Draw) -> Nominal:
    """Return a given or full name."""
    (zh, en), key = draw.choose(NAMES), draw.key()
    return third_person(said(zh, key), said(en, key), about=zh)


def titled_name(draw: Draw) -> Nominal:
    """Return a surname with its title, which stands after it in Chinese and before it in English: 王先生, Mr Wang."""
    (surname_zh, surname_en), (title_zh, title_en) = draw.choose(SURNAMES), draw.choose(TITLES)
    surname, title = draw.key(), draw.key()
    return third_person(
        said(surname_zh, surname) + said(title_zh, title),
        said(title_en, title) + said(surname_en, surname),
        about=surname_zh,
    )


def kin(draw: Draw) -> Nominal:
    """Return somebody's relative or friend, without 的: 我妈妈, my mother."""
    whose, (zh, en), whose_key, key = draw.choose(PRONOUNS[:4]), draw.choose(KIN), draw.key(), draw.key()
    source, target = said(whose.zh, whose_key) + said(zh, key), said(whose.possessive, whose_key) + said(en, key)
    return third_person(source, target, about=whose.about + zh)


def person(draw: Draw) -> Nominal:
    """Return somebody who can be called by a pronoun, a name, or as a relative."""
    return draw.weigh(((5.0, pronoun), (2.0, name), (1.0, titled_name), (3.0, kin)))(draw)


def _adjective_for(draw: Draw, noun: Noun, *, short: bool = False, share: float = 0.45) -> Adjective | None:
    """Return an adjective that goes before the noun, or now and then (1 − share) none."""
    options = [adjective for adjective in _ADJECTIVES_OF[noun.zh] if adjective.short or not short]
    return draw.choose(options) if options and draw.chance(share) else None


def counted_noun(draw: Draw, noun: Noun, *, share: float = 0.45) -> Nominal:
    """Return two or more: 三本书, three books; 两杯茶, two cups of tea."""
    (zh, en), key = draw.choose(NUMBERS if draw.chance(0.4) else NUMBERS[:4]), draw.key()
    return _measured(
        draw, noun, said(zh, key), said(en, key), key, many=True, adjective=_adjective_for(draw, noun, share=share)
    )


def a_noun(draw: Draw, noun: Noun, *, share: float = 0.45) -> Nominal:
    """Return one: 一只猫, a cat; 一双鞋, a pair of shoes."""
    key = draw.key()
    return _measured(
        draw, noun, said("一", key), said("a", key), key, many=False, adjective=_adjective_for(draw, noun, share=share)
    )


def pointed_noun(
    draw: Draw, noun: Noun, *, share: float = 0.45, one: bool = False, near: bool | None = None
) -> Nominal:
    """Return what is pointed at: 那只猫, 这两条鱼, 那些花; only `one` if wanted, `near` or far if it matters."""
    close_by, key, adjective = (
        draw.chance(0.5) if near is None else near,
        draw.key(),
        _adjective_for(draw, noun, share=share),
    )
    zh, singular, several = ("这", "this", "these") if close_by else ("那", "that", "those")
    amount = "one" if one else draw.weigh(((6.0, "one"), (2.0, "number"), (1.0, "some")))
    if amount == "some" and not noun.unit:
        key_noun = draw.key()
        source, target = _modified(draw, noun, adjective, key_noun, many=True)
        return third_person(said(zh + "些", key) + source, said(several, key) + target, many=True)
    if amount == "number":
        (number_zh, number_en), number = draw.choose(NUMBERS[:5]), draw.key()
        return _measured(
            draw,
            noun,
            said(zh, key) + said(number_zh, number),
            said(several, key) + said(number_en, number),
            number,
            many=True,
            adjective=adjective,
        )
    return _measured(draw, noun, said(zh, key), said(singular, key), key, many=False, adjective=adjective)


def owned_noun(draw: Draw, noun: Noun, *, share: float = 0.2) -> Nominal:
    """Return somebody's: 我的猫, 小明的书, 我妈妈的新手机, 我的两只猫."""
    source, target = owner(draw)
    if not noun.unit and draw.chance(0.1):
        counted = counted_noun(draw, noun, share=0.0)
        return third_person(source + counted.source, target + counted.target, many=True)
    noun_source, noun_target = _modified(
        draw, noun, _adjective_for(draw, noun, short=True, share=share), draw.key(), many=False
    )
    return third_person(source + noun_source, target + noun_target, many=noun.many)


def asked_person(draw: Draw) -> Nominal:
    """Return a person one may ask about: anybody but the speaker."""
    while (somebody := person(draw)).person == 1:
        pass
    return somebody


def owner(draw: Draw) -> tuple[Words, Words]:
    """Return 我的, my; 小明的, Xiaoming's."""
    return draw.weigh(((6.0, _pronoun_owner), (2.0, _named_owner)))(draw)


def bare_noun(draw: Draw, noun: Noun) -> Nominal:
    """Return the kind as such: 猫, cats; 茶, tea."""
    source, target = _modified(draw, noun, None, draw.key(), many=not noun.unit)
    return third_person(source, target, many=noun.many or not noun.unit)


def any_noun(draw: Draw, noun: Noun, *, one: bool = False) -> Nominal:
    """Return what is denied or asked for: 书, any books (or with `one`: a book); 茶, any tea."""
    key = draw.key()
    single = one and not noun.unit
    source, target = _modified(draw, noun, None, key, many=not single and not noun.unit)
    return third_person(source, said("a" if single else "any", key) + target, many=not single)


def the_noun(draw: Draw, noun: Noun, clause_source: Words, clause_target: Words) -> Nominal:
    """Return the noun that a relative clause singles out; 的 is the clause's last word.

    The noun is bare (我买的书), pointed at (我买的那本书) or counted (我买的两本书): the book, the two books.
    """
    form, article = draw.weigh(((3.0, "bare"), (4.0, "pointed"), (1.0, "counted"))), draw.key()
    key = draw.key()
    if form == "bare":
        source, target = _modified(draw, noun, None, key, many=False)
        nominal = third_person(source, said("the", key) + target, many=noun.many)
    elif form == "pointed":
        nominal = _measured(draw, noun, said("那", article), said("the", article), article, many=False, adjective=None)
    else:
        (zh, en), number = draw.choose(NUMBERS[:5]), draw.key()
        nominal = _measured(
            draw, noun, said(zh, number), said("the", number) + said(en, number), number, many=True, adjective=None
        )
    return third_person(clause_source + nominal.source, nominal.target + clause_target, many=nominal.many)


def third_person(source: Words, target: Words, *, many: bool = False, about: str = "") -> Nominal:
    """Return a noun phrase that is neither speaker nor hearer."""
    return Nominal(source, target, target, 3, many, about or "".join(word.text for word in source))


def _pronoun_owner(draw: Draw) -> tuple[Words, Words]:
    whose, key = draw.choose(PRONOUNS), draw.key()
    return said(whose.zh, key) + said("的", key), said(whose.possessive, key)


def _named_owner(draw: Draw) -> tuple[Words, Words]:
    whose, key = draw.weigh(((2.0, name), (1.0, titled_name), (2.0, kin)))(draw), draw.key()
    return whose.source + said("的", key), whose.target + said("'s", key)


def _measured(
    draw: Draw, noun: Noun, zh: Words, en: Words, counter: int, *, many: bool, adjective: Adjective | None
) -> Nominal:
    """Join determiner or number, measure word and noun; where English has no unit, it goes with the `counter`."""
    key = draw.key()
    if not noun.unit:
        source, target = _modified(draw, noun, adjective, key, many=many)
        return third_person(zh + said(noun.measure, counter) + source, en + target, many=many)
    unit = draw.key()
    source, target = _modified(draw, noun, adjective, key, many=False)
    english_unit = said(plural(noun.unit) if many else noun.unit, unit) + said("of", unit)
    return third_person(zh + said(noun.measure, unit) + source, en + english_unit + target, many=many)


def _modified(draw: Draw, noun: Noun, adjective: Adjective | None, key: int, *, many: bool) -> tuple[Words, Words]:
    source, target = said(noun.zh, key), said(plural(noun.en) if many and not noun.many else noun.en, key)
    if adjective is None:
        return source, target
    quality = draw.key()
    draw.combine(adjective.zh, noun.zh)
    modifier = said(adjective.zh, quality) + (() if adjective.short else said("的", quality))
    return modifier + source, said(adjective.en, quality) + target
