"""Noun phrases: pronouns, names, kin, and nouns with determiner, number, measure word and adjective."""

from typing import NamedTuple

from pellucid.demo.english import plural
from pellucid.demo.lexicon import ADJECTIVES, KIN, NAMES, NOUNS, NUMBERS, SURNAMES, TITLES, Adjective, Noun
from pellucid.demo.words import SentenceRng, Words, tag

__all__ = [
    "PRONOUNS",
    "NounPhrase",
    "any_noun",
    "attach_relative_clause",
    "bare_noun",
    "counted_noun",
    "demonstrative_noun",
    "indefinite_noun",
    "kin",
    "name",
    "non_first_person",
    "owner",
    "person",
    "possessed_noun",
    "pronoun",
    "third_person",
    "titled_name",
]


class NounPhrase(NamedTuple):
    """A noun phrase in both languages.

    Attributes:
        target: as a subject.
        target_object: as an object; differs for pronouns.
        person: 1, 2 or 3.
        is_plural: grammatical plural in English.
        referent: what it refers to, so that a sentence does not name it twice.
    """

    source: Words
    target: Words
    target_object: Words
    person: int = 3
    is_plural: bool = False
    referent: str = ""


class _Pronoun(NamedTuple):
    zh: str
    subject: str
    object: str
    possessive: str
    person: int
    is_plural: bool
    referent: str


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


def pronoun(rng: SentenceRng) -> NounPhrase:
    """Choose a personal pronoun: 我, 你, 他, 她, 我们, 你们, 他们."""
    word, key = rng.choose(PRONOUNS), rng.new_key()
    return NounPhrase(
        tag(word.zh, key), tag(word.subject, key), tag(word.object, key), word.person, word.is_plural, word.referent
    )


def name(rng: SentenceRng) -> NounPhrase:
    """Choose a given or full name."""
    (zh, en), key = rng.choose(NAMES), rng.new_key()
    return third_person(tag(zh, key), tag(en, key), referent=zh)


def titled_name(rng: SentenceRng) -> NounPhrase:
    """Make a surname with a title, which follows it in Chinese and precedes it in English: 王先生, Mr Wang."""
    (surname_zh, surname_en), (title_zh, title_en) = rng.choose(SURNAMES), rng.choose(TITLES)
    surname, title = rng.new_key(), rng.new_key()
    return third_person(
        tag(surname_zh, surname) + tag(title_zh, title),
        tag(title_en, title) + tag(surname_en, surname),
        referent=surname_zh,
    )


def kin(rng: SentenceRng) -> NounPhrase:
    """Make somebody's relative or friend, without 的: 我妈妈, my mother."""
    whose, (zh, en), whose_key, key = rng.choose(PRONOUNS[:4]), rng.choose(KIN), rng.new_key(), rng.new_key()
    source, target = tag(whose.zh, whose_key) + tag(zh, key), tag(whose.possessive, whose_key) + tag(en, key)
    return third_person(source, target, referent=whose.referent + zh)


def person(rng: SentenceRng) -> NounPhrase:
    """Make a person: a pronoun, a name or a relative."""
    return rng.weighted(((5.0, pronoun), (2.0, name), (1.0, titled_name), (3.0, kin)))(rng)


def _adjective_for(rng: SentenceRng, noun: Noun, *, short: bool = False, share: float = 0.45) -> Adjective | None:
    """Choose an adjective for the noun with probability `share`, if it has any."""
    options = [adjective for adjective in _ADJECTIVES_OF[noun.zh] if adjective.short or not short]
    return rng.choose(options) if options and rng.chance(share) else None


def counted_noun(rng: SentenceRng, noun: Noun, *, share: float = 0.45) -> NounPhrase:
    """Make a noun phrase with a number above one: 三本书, three books; 两杯茶, two cups of tea."""
    (zh, en), key = rng.choose(NUMBERS if rng.chance(0.4) else NUMBERS[:4]), rng.new_key()
    adjective = _adjective_for(rng, noun, share=share)
    return _measured(rng, noun, tag(zh, key), tag(en, key), key, is_plural=True, adjective=adjective)


def indefinite_noun(rng: SentenceRng, noun: Noun, *, share: float = 0.45) -> NounPhrase:
    """Make an indefinite noun phrase: 一只猫, a cat; 一双鞋, a pair of shoes."""
    key, adjective = rng.new_key(), _adjective_for(rng, noun, share=share)
    return _measured(rng, noun, tag("一", key), tag("a", key), key, is_plural=False, adjective=adjective)


def demonstrative_noun(
    rng: SentenceRng, noun: Noun, *, share: float = 0.45, one: bool = False, near: bool | None = None
) -> NounPhrase:
    """Make a demonstrative noun phrase: 那只猫, 这两条鱼, 那些花; `one` keeps it singular."""
    close_by = rng.chance(0.5) if near is None else near
    key, adjective = rng.new_key(), _adjective_for(rng, noun, share=share)
    zh, singular, several = ("这", "this", "these") if close_by else ("那", "that", "those")
    amount = "one" if one else rng.weighted(((6.0, "one"), (2.0, "number"), (1.0, "some")))
    if amount == "some" and not noun.unit:
        key_noun = rng.new_key()
        source, target = _modified(rng, noun, adjective, key_noun, is_plural=True)
        return third_person(tag(zh + "些", key) + source, tag(several, key) + target, is_plural=True)
    if amount == "number":
        (number_zh, number_en), number = rng.choose(NUMBERS[:5]), rng.new_key()
        source, target = tag(zh, key) + tag(number_zh, number), tag(several, key) + tag(number_en, number)
        return _measured(rng, noun, source, target, number, is_plural=True, adjective=adjective)
    return _measured(rng, noun, tag(zh, key), tag(singular, key), key, is_plural=False, adjective=adjective)


def possessed_noun(rng: SentenceRng, noun: Noun, *, share: float = 0.2) -> NounPhrase:
    """Make a noun phrase with an owner: 我的猫, 小明的书, 我妈妈的新手机, 我的两只猫."""
    source, target = owner(rng)
    if not noun.unit and rng.chance(0.1):
        counted = counted_noun(rng, noun, share=0.0)
        return third_person(source + counted.source, target + counted.target, is_plural=True)
    adjective = _adjective_for(rng, noun, short=True, share=share)
    noun_source, noun_target = _modified(rng, noun, adjective, rng.new_key(), is_plural=False)
    return third_person(source + noun_source, target + noun_target, is_plural=noun.is_plural)


def non_first_person(rng: SentenceRng) -> NounPhrase:
    """Make a person other than the speaker, as subject of a question."""
    while (somebody := person(rng)).person == 1:
        pass
    return somebody


def owner(rng: SentenceRng) -> tuple[Words, Words]:
    """Make an owner: 我的, my; 小明的, Xiaoming's."""
    return rng.weighted(((6.0, _pronoun_owner), (2.0, _named_owner)))(rng)


def bare_noun(rng: SentenceRng, noun: Noun) -> NounPhrase:
    """Make a generic noun phrase: 猫, cats; 茶, tea."""
    source, target = _modified(rng, noun, None, rng.new_key(), is_plural=not noun.unit)
    return third_person(source, target, is_plural=noun.is_plural or not noun.unit)


def any_noun(rng: SentenceRng, noun: Noun, *, one: bool = False) -> NounPhrase:
    """Make the object of a negation or a question: 书, any books (or with `one`: a book); 茶, any tea."""
    key = rng.new_key()
    single = one and not noun.unit
    source, target = _modified(rng, noun, None, key, is_plural=not single and not noun.unit)
    return third_person(source, tag("a" if single else "any", key) + target, is_plural=not single)


def attach_relative_clause(rng: SentenceRng, noun: Noun, clause_source: Words, clause_target: Words) -> NounPhrase:
    """Attach a relative clause, which ends in 的, to a noun.

    The noun is bare (我买的书), demonstrative (我买的那本书) or counted (我买的两本书): the book, the two books.
    """
    form, article = rng.weighted(((3.0, "bare"), (4.0, "pointed"), (1.0, "counted"))), rng.new_key()
    key = rng.new_key()
    if form == "bare":
        source, target = _modified(rng, noun, None, key, is_plural=False)
        nominal = third_person(source, tag("the", key) + target, is_plural=noun.is_plural)
    elif form == "pointed":
        nominal = _measured(
            rng, noun, tag("那", article), tag("the", article), article, is_plural=False, adjective=None
        )
    else:
        (zh, en), number = rng.choose(NUMBERS[:5]), rng.new_key()
        nominal = _measured(
            rng, noun, tag(zh, number), tag("the", number) + tag(en, number), number, is_plural=True, adjective=None
        )
    return third_person(clause_source + nominal.source, nominal.target + clause_target, is_plural=nominal.is_plural)


def third_person(source: Words, target: Words, *, is_plural: bool = False, referent: str = "") -> NounPhrase:
    """Make a noun phrase of the third person."""
    return NounPhrase(source, target, target, 3, is_plural, referent or "".join(word.text for word in source))


def _pronoun_owner(rng: SentenceRng) -> tuple[Words, Words]:
    whose, key = rng.choose(PRONOUNS), rng.new_key()
    return tag(whose.zh, key) + tag("的", key), tag(whose.possessive, key)


def _named_owner(rng: SentenceRng) -> tuple[Words, Words]:
    whose, key = rng.weighted(((2.0, name), (1.0, titled_name), (2.0, kin)))(rng), rng.new_key()
    return whose.source + tag("的", key), whose.target + tag("'s", key)


def _measured(
    rng: SentenceRng, noun: Noun, zh: Words, en: Words, counter: int, *, is_plural: bool, adjective: Adjective | None
) -> NounPhrase:
    """Join determiner or number, measure word and noun; `counter` keys a measure word that English lacks."""
    key = rng.new_key()
    if not noun.unit:
        source, target = _modified(rng, noun, adjective, key, is_plural=is_plural)
        return third_person(zh + tag(noun.measure, counter) + source, en + target, is_plural=is_plural)
    unit = rng.new_key()
    source, target = _modified(rng, noun, adjective, key, is_plural=False)
    english_unit = tag(plural(noun.unit) if is_plural else noun.unit, unit) + tag("of", unit)
    return third_person(zh + tag(noun.measure, unit) + source, en + english_unit + target, is_plural=is_plural)


def _modified(
    rng: SentenceRng, noun: Noun, adjective: Adjective | None, key: int, *, is_plural: bool
) -> tuple[Words, Words]:
    source, target = tag(noun.zh, key), tag(plural(noun.en) if is_plural and not noun.is_plural else noun.en, key)
    if adjective is None:
        return source, target
    quality = rng.new_key()
    rng.combine(adjective.zh, noun.zh)
    modifier = tag(adjective.zh, quality) + (() if adjective.short else tag("的", quality))
    return modifier + source, tag(adjective.en, quality) + target
