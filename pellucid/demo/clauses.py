"""Clauses: subject and predicate joined under an aspect, stated, denied or asked.

Chinese marks aspect with particles around a verb that never changes (了, 过, 在) and asks by adding 吗; English changes
the verb, brings in auxiliaries and turns them round. Time stands before the verb in Chinese and at the end in English.
"""

from collections.abc import Callable
from typing import NamedTuple

from pellucid.demo.english import VerbForms
from pellucid.demo.lexicon import TIMES, Time
from pellucid.demo.noun_phrases import NounPhrase
from pellucid.demo.words import SentenceRng, Word, Words, tag

__all__ = [
    "Clause",
    "Predicate",
    "TimePhrase",
    "be_form",
    "choose_time_phrase",
    "do_form",
    "make_statement",
    "make_wh_question",
    "make_yes_no_question",
    "time_phrase",
]


class TimePhrase(NamedTuple):
    """When, in both languages."""

    source: Words
    target: Words


class Predicate(NamedTuple):
    """Verb, object and adjuncts in both languages, before aspect has marked the verb.

    Attributes:
        before: Chinese, in front of the verb: 在公园, 坐火车, 给妈妈.
        verb: the Chinese verb.
        object: the Chinese object.
        forms: the English verb, with its particle.
        key: the verb's key, in both languages.
        after: English, behind the verb: object, place, manner.
        apart: 了 stands between verb and object (买了一本书); otherwise behind both (跑步了, 买书了).
    """

    before: Words
    verb: Words
    object: Words
    forms: VerbForms
    key: int
    after: Words
    separable: bool = True


class Clause(NamedTuple):
    """Who does what, when, under which aspect.

    Attributes:
        aspect: past, experience, already, future, wish, skill, habit, state or progressive.
        adverb: 也, 都, 常常, 总是: (Chinese, English), in statements that deny nothing.
    """

    subject: NounPhrase
    predicate: Predicate
    aspect: str
    negative: bool = False
    time: TimePhrase | None = None
    adverb: tuple[str, str] | None = None


class _Inflection(NamedTuple):
    """What an aspect adds. `auxiliaries`: English, the first of which moves in a question; `main`: the English verb."""

    before: Words = ()
    suffix: Words = ()
    auxiliaries: Words = ()
    main: Words = ()
    end: Words = ()


def choose_time_phrase(rng: SentenceRng, tense: str) -> TimePhrase:
    """Return a time phrase that goes with past, future, habit or now."""
    return time_phrase(rng, rng.choose(TIMES[tense]))


def time_phrase(rng: SentenceRng, time: Time) -> TimePhrase:
    """Return a time of the lexicon as words."""
    keys = [rng.new_key() for _ in time.parts]
    source = tuple(word for (zh, _), key in zip(time.parts, keys, strict=True) for word in tag(zh, key))
    return TimePhrase(
        source, tuple(word for (_, en), key in zip(time.parts, keys, strict=True) for word in tag(en, key))
    )


def do_form(subject: NounPhrase, *keys: int) -> Words:
    """Return `do_form` or `does`."""
    return tag("does" if _third_singular(subject) else "do_form", *keys)


def be_form(subject: NounPhrase, *keys: int) -> Words:
    """Return `am`, `are` or `is`."""
    singular = "am" if subject.person == 1 else "is" if subject.person == 3 else "are"
    return tag("are" if subject.is_plural else singular, *keys)


def make_statement(rng: SentenceRng, clause: Clause) -> tuple[Words, Words]:
    """Return the clause as a statement, without its full stop."""
    inflection = _ASPECTS[clause.aspect](rng, clause, None)
    adverb_source, adverb_target = _adverb(rng, clause)
    first, rest = inflection.auxiliaries[:1], inflection.auxiliaries[1:]
    target = (
        clause.subject.target + first + adverb_target + rest + inflection.main + clause.predicate.after + inflection.end
    )
    return _chinese(rng, clause, inflection, adverb_source), target + _when(clause)


def make_yes_no_question(rng: SentenceRng, clause: Clause) -> tuple[Words, Words]:
    """Return the clause as a yes–no question with 吗, without its question mark."""
    key = rng.new_key()
    inflection = _ASPECTS[clause.aspect](rng, clause, (key,))
    return _chinese(rng, clause, inflection, ()) + tag("吗", key), _inverted(clause, inflection)


def make_wh_question(rng: SentenceRng, clause: Clause, lead: Words, inserted: Words = ()) -> tuple[Words, Words]:
    """Return the clause asked with a question word, without its question mark.

    Chinese leaves the question word where the answer will stand: the clause holds it already, or it is `inserted` after
    the subject (为什么). English puts it first: `lead`.
    """
    inflection = _ASPECTS[clause.aspect](rng, clause, ())
    return _chinese(rng, clause, inflection, inserted, early=False), lead + _inverted(clause, inflection)


def _inverted(clause: Clause, inflection: _Inflection) -> Words:
    first, rest = inflection.auxiliaries[:1], inflection.auxiliaries[1:]
    return (
        first + clause.subject.target + rest + inflection.main + clause.predicate.after + inflection.end + _when(clause)
    )


def _when(clause: Clause) -> Words:
    return clause.time.target if clause.time else ()


def _chinese(rng: SentenceRng, clause: Clause, inflection: _Inflection, adverb: Words, *, early: bool = True) -> Words:
    """Order the Chinese clause; time may open it (`early`) or follow the subject."""
    when = clause.time.source if clause.time else ()
    opens = bool(when) and early and rng.chance(0.3)
    predicate = clause.predicate
    verb = (
        predicate.verb + inflection.suffix + predicate.object
        if predicate.separable
        else predicate.verb + predicate.object + inflection.suffix
    )
    subject = when + clause.subject.source if opens else clause.subject.source + when
    return subject + adverb + inflection.before + predicate.before + verb


def _adverb(rng: SentenceRng, clause: Clause) -> tuple[Words, Words]:
    if clause.adverb is None:
        return (), ()
    key = rng.new_key()
    return tag(clause.adverb[0], key), tag(clause.adverb[1], key)


def _third_singular(subject: NounPhrase) -> bool:
    return subject.person == 3 and not subject.is_plural


def _have(subject: NounPhrase, *keys: int) -> Words:
    return tag("has" if _third_singular(subject) else "have", *keys)


QuestionKeys = (
    tuple[int, ...] | None
)  # None: a statement; otherwise the keys of the word that asks, none if it is a question word


def _past(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
    forms, verb, key = clause.predicate.forms, clause.predicate.key, rng.new_key()
    if clause.negative:
        return _Inflection(tag("没", key), auxiliaries=tag("did not", key), main=tag(forms.base, verb))
    if question_keys is not None:
        return _Inflection(
            suffix=tag("了", key), auxiliaries=tag("did", key, *question_keys), main=tag(forms.base, verb)
        )
    return _Inflection(suffix=tag("了", key), main=tag(forms.past, verb, key))


def _experience(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
    forms, key = clause.predicate.forms, rng.new_key()
    main, have, suffix = tag(forms.participle, clause.predicate.key), _have(clause.subject, key), tag("过", key)
    if clause.negative:
        never = rng.new_key()
        return _Inflection(tag("没", never), suffix, have + tag("never", never), main)
    return _Inflection((), suffix, have + (tag("ever", *question_keys) if question_keys else ()), main)


def _already(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
    forms, key, adverb = clause.predicate.forms, rng.new_key(), rng.new_key()
    main = tag(forms.participle, clause.predicate.key)
    if clause.negative:
        have_not = _have(clause.subject, key) + tag("not", key)
        return _Inflection(tag("还", adverb) + tag("没", key), (), have_not, main, tag("yet", adverb))
    return _Inflection(tag("已经", adverb), tag("了", key), _have(clause.subject, key) + tag("already", adverb), main)


def _modal(modal: str) -> Callable[[SentenceRng, Clause, QuestionKeys], _Inflection]:
    def mark(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
        key, main = rng.new_key(), tag(clause.predicate.forms.base, clause.predicate.key)
        if not clause.negative:
            return _Inflection(tag("会", key), (), tag(modal, key, *(question_keys or ())), main)
        denial = rng.new_key()
        not_able = (Word("cannot", (key, denial)),) if modal == "can" else tag(modal, key) + tag("not", denial)
        return _Inflection(tag("不", denial) + tag("会", key), (), not_able, main)

    return mark


def _wish(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
    key, infinitive = rng.new_key(), tag(clause.predicate.forms.base, clause.predicate.key)
    if clause.negative:
        denial = rng.new_key()
        auxiliaries = do_form(clause.subject, denial) + tag("not", denial)
        return _Inflection(tag("不", denial) + tag("想", key), (), auxiliaries, tag("want to", key) + infinitive)
    if question_keys is not None:
        return _Inflection(
            tag("想", key), (), do_form(clause.subject, *(question_keys or (key,))), tag("want to", key) + infinitive
        )
    want = "wants to" if _third_singular(clause.subject) else "want to"
    return _Inflection(tag("想", key), (), (), tag(want, key) + infinitive)


def _simple(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
    forms, verb = clause.predicate.forms, clause.predicate.key
    if clause.negative:
        key = rng.new_key()
        return _Inflection(tag("不", key), (), do_form(clause.subject, key) + tag("not", key), tag(forms.base, verb))
    if question_keys is not None:
        return _Inflection((), (), do_form(clause.subject, *(question_keys or (verb,))), tag(forms.base, verb))
    return _Inflection((), (), (), tag(forms.third if _third_singular(clause.subject) else forms.base, verb))


def _progressive(rng: SentenceRng, clause: Clause, question_keys: QuestionKeys) -> _Inflection:
    key, main = rng.new_key(), tag(clause.predicate.forms.ing, clause.predicate.key)
    auxiliaries = be_form(clause.subject, key, *(question_keys or ()))
    if clause.negative:
        denial = rng.new_key()
        return _Inflection(tag("没", denial) + tag("在", key), (), auxiliaries + tag("not", denial), main)
    # Before a place, which has a 在 of its own, 正 alone says that it goes on.
    at_place = clause.predicate.before[:1] and clause.predicate.before[0].text == "在"
    # A relative clause without a subject takes the longer form.
    marker = "正" if at_place else "正在" if not clause.subject.source else rng.choose(("在", "正在"))
    return _Inflection(tag(marker, key), (), auxiliaries, main)


_ASPECTS: dict[str, Callable[[SentenceRng, Clause, QuestionKeys], _Inflection]] = {
    "past": _past,
    "experience": _experience,
    "already": _already,
    "future": _modal("will"),
    "skill": _modal("can"),
    "wish": _wish,
    "habit": _simple,
    "state": _simple,
    "progressive": _progressive,
}
