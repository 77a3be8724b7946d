"""Clauses: a subject and a predicate with an aspect, as an affirmative or negative statement or as a question.

Chinese marks aspect with particles around an uninflected verb (了, 过, 在) and forms a question with 吗; English
inflects the verb, adds auxiliaries and inverts them. A time phrase precedes the verb in Chinese and ends the clause in
English.
"""

from collections.abc import Callable
from typing import NamedTuple

from pellucid.demo.english import VerbForms
from pellucid.demo.lexicon import TIMES, Time
from pellucid.demo.noun_phrases import NounPhrase
from pellucid.demo.words import SentenceRng, Word, Words, tag

__all__ = [
    "MARKS",
    "MOODS",
    "Clause",
    "Predicate",
    "TimePhrase",
    "be_form",
    "choose_time",
    "do_form",
    "make_statement",
    "make_wh_question",
    "make_yes_no_question",
    "time_phrase",
]

MARKS = {"affirmative": ".", "negative": ".", "question": "?"}  # the punctuation mark of each mood
MOODS = ((6.0, "affirmative"), (2.0, "negative"), (2.0, "question"))  # the moods of a sentence and their weights


class TimePhrase(NamedTuple):
    """A time phrase in both languages."""

    source: Words
    target: Words


class Predicate(NamedTuple):
    """Verb, object and adjuncts in both languages, before the verb is marked for aspect.

    Attributes:
        before: Chinese, in front of the verb: 在公园, 坐火车, 给妈妈.
        verb: the Chinese verb.
        object: the Chinese object.
        forms: the forms of the English verb, with its particle.
        key: the alignment key of the verb.
        after: English, behind the verb: object, place, manner.
        separable: 了 goes between verb and object (买了一本书); otherwise after both (跑步了, 买书了).
    """

    before: Words
    verb: Words
    object: Words
    forms: VerbForms
    key: int
    after: Words
    separable: bool = True


class Clause(NamedTuple):
    """A subject and what it does, when, and in which aspect.

    Attributes:
        aspect: past, experience, already, future, wish, skill, habit, state or progressive.
        adverb: (Chinese, English), such as 也 and also; in affirmative statements only.
    """

    subject: NounPhrase
    predicate: Predicate
    aspect: str
    negative: bool = False
    time: TimePhrase | None = None
    adverb: tuple[str, str] | None = None


class _Inflection(NamedTuple):
    """The words that an aspect adds, and `main`, the English verb; a question moves the first of `auxiliaries`."""

    before: Words = ()
    suffix: Words = ()
    auxiliaries: Words = ()
    main: Words = ()
    end: Words = ()


def choose_time(rng: SentenceRng, tense: str) -> TimePhrase:
    """Choose a time phrase for past, future, habit or now."""
    return time_phrase(rng, rng.choose(TIMES[tense]))


def time_phrase(rng: SentenceRng, time: Time) -> TimePhrase:
    """Make the words of a time from the lexicon."""
    keys = [rng.new_key() for _ in time.parts]
    source = tuple(word for (zh, _), key in zip(time.parts, keys, strict=True) for word in tag(zh, key))
    return TimePhrase(
        source, tuple(word for (_, en), key in zip(time.parts, keys, strict=True) for word in tag(en, key))
    )


def do_form(subject: NounPhrase, *keys: int) -> Words:
    """Make `do` or `does`."""
    return tag("does" if _third_singular(subject) else "do", *keys)


def be_form(subject: NounPhrase, *keys: int) -> Words:
    """Make `am`, `are` or `is`."""
    singular = "am" if subject.person == 1 else "is" if subject.person == 3 else "are"
    return tag("are" if subject.is_plural else singular, *keys)


def make_statement(rng: SentenceRng, clause: Clause) -> tuple[Words, Words]:
    """Make a statement, without its full stop."""
    inflection = _ASPECTS[clause.aspect](rng, clause, None)
    adverb_source, adverb_target = _adverb(rng, clause)
    first, rest = inflection.auxiliaries[:1], inflection.auxiliaries[1:]
    target = (
        clause.subject.target + first + adverb_target + rest + inflection.main + clause.predicate.after + inflection.end
    )
    return _chinese(rng, clause, inflection, adverb_source), target + _when(clause)


def make_yes_no_question(rng: SentenceRng, clause: Clause) -> tuple[Words, Words]:
    """Make a yes–no question with 吗, without its question mark."""
    key = rng.new_key()
    inflection = _ASPECTS[clause.aspect](rng, clause, (key,))
    return _chinese(rng, clause, inflection, ()) + tag("吗", key), _inverted(clause, inflection)


def make_wh_question(rng: SentenceRng, clause: Clause, lead: Words, inserted: Words = ()) -> tuple[Words, Words]:
    """Make a question with a question word, without its question mark.

    Chinese keeps the question word in the place of the answer: the clause contains it, or it is `inserted` after the
    subject (为什么). English puts it first: `lead`.
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
    """Order the words of the Chinese clause; the time phrase follows the subject, or may come first (`early`)."""
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


# The alignment keys of the word that asks: none if a question word asks, and None in a statement.
QuestionKeys = tuple[int, ...] | None


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
    # Before a place, which brings a 在 itself, 正 alone marks the progressive.
    at_place = clause.predicate.before[:1] and clause.predicate.before[0].text == "在"
    # A relative clause without a subject takes the longer form 正在.
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
