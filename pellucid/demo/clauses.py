"""Clauses: subject and predicate joined under an aspect, stated, denied or asked.

Chinese marks aspect with particles around a verb that never changes (了, 过, 在) and asks by adding 吗; English changes
the verb, brings in auxiliaries and turns them round. Time stands before the verb in Chinese and at the end in English.
"""

from collections.abc import Callable
from typing import NamedTuple

from pellucid.demo.english import VerbForms
from pellucid.demo.lexicon import TIMES, Time
from pellucid.demo.nominals import Nominal
from pellucid.demo.words import Draw, Word, Words, said

__all__ = ["Clause", "Predicate", "TimePhrase", "ask", "ask_openly", "be", "do", "phrase_of", "state", "time_for"]


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
    apart: bool = True


class Clause(NamedTuple):
    """Who does what, when, under which aspect.

    Attributes:
        aspect: past, experience, already, future, wish, skill, habit, state or progressive.
        adverb: 也, 都, 常常, 总是: (Chinese, English), in statements that deny nothing.
    """

    subject: Nominal
    predicate: Predicate
    aspect: str
    negative: bool = False
    time: TimePhrase | None = None
    adverb: tuple[str, str] | None = None


class _Marked(NamedTuple):
    """What an aspect adds. `auxiliaries`: English, the first of which moves in a question; `main`: the English verb."""

    before: Words = ()
    suffix: Words = ()
    auxiliaries: Words = ()
    main: Words = ()
    end: Words = ()


def time_for(draw: Draw, tense: str) -> TimePhrase:
    """Return a time phrase that goes with past, future, habit or now."""
    return phrase_of(draw, draw.choose(TIMES[tense]))


def phrase_of(draw: Draw, time: Time) -> TimePhrase:
    """Return a time of the lexicon as words."""
    keys = [draw.key() for _ in time.parts]
    source = tuple(word for (zh, _), key in zip(time.parts, keys, strict=True) for word in said(zh, key))
    return TimePhrase(
        source, tuple(word for (_, en), key in zip(time.parts, keys, strict=True) for word in said(en, key))
    )


def do(subject: Nominal, *keys: int) -> Words:
    """Return `do` or `does`."""
    return said("does" if _third_singular(subject) else "do", *keys)


def be(subject: Nominal, *keys: int) -> Words:
    """Return `am`, `are` or `is`."""
    singular = "am" if subject.person == 1 else "is" if subject.person == 3 else "are"
    return said("are" if subject.many else singular, *keys)


def state(draw: Draw, clause: Clause) -> tuple[Words, Words]:
    """Return the clause as a statement, without its full stop."""
    marked = _ASPECTS[clause.aspect](draw, clause, None)
    adverb_source, adverb_target = _adverb(draw, clause)
    first, rest = marked.auxiliaries[:1], marked.auxiliaries[1:]
    target = clause.subject.target + first + adverb_target + rest + marked.main + clause.predicate.after + marked.end
    return _chinese(draw, clause, marked, adverb_source), target + _when(clause)


def ask(draw: Draw, clause: Clause) -> tuple[Words, Words]:
    """Return the clause as a yes–no question with 吗, without its question mark."""
    key = draw.key()
    marked = _ASPECTS[clause.aspect](draw, clause, (key,))
    return _chinese(draw, clause, marked, ()) + said("吗", key), _turned(clause, marked)


def ask_openly(draw: Draw, clause: Clause, lead: Words, inserted: Words = ()) -> tuple[Words, Words]:
    """Return the clause asked with a question word, without its question mark.

    Chinese leaves the question word where the answer will stand: the clause holds it already, or it is `inserted` after
    the subject (为什么). English puts it first: `lead`.
    """
    marked = _ASPECTS[clause.aspect](draw, clause, ())
    return _chinese(draw, clause, marked, inserted, early=False), lead + _turned(clause, marked)


def _turned(clause: Clause, marked: _Marked) -> Words:
    first, rest = marked.auxiliaries[:1], marked.auxiliaries[1:]
    return first + clause.subject.target + rest + marked.main + clause.predicate.after + marked.end + _when(clause)


def _when(clause: Clause) -> Words:
    return clause.time.target if clause.time else ()


def _chinese(draw: Draw, clause: Clause, marked: _Marked, adverb: Words, *, early: bool = True) -> Words:
    """Order the Chinese clause; time may open it (`early`) or follow the subject."""
    when = clause.time.source if clause.time else ()
    opens = bool(when) and early and draw.chance(0.3)
    predicate = clause.predicate
    verb = (
        predicate.verb + marked.suffix + predicate.object
        if predicate.apart
        else predicate.verb + predicate.object + marked.suffix
    )
    subject = when + clause.subject.source if opens else clause.subject.source + when
    return subject + adverb + marked.before + predicate.before + verb


def _adverb(draw: Draw, clause: Clause) -> tuple[Words, Words]:
    if clause.adverb is None:
        return (), ()
    key = draw.key()
    return said(clause.adverb[0], key), said(clause.adverb[1], key)


def _third_singular(subject: Nominal) -> bool:
    return subject.person == 3 and not subject.many


def _have(subject: Nominal, *keys: int) -> Words:
    return said("has" if _third_singular(subject) else "have", *keys)


Asking = (
    tuple[int, ...] | None
)  # None: a statement; otherwise the keys of the word that asks, none if it is a question word


def _past(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
    forms, verb, key = clause.predicate.forms, clause.predicate.key, draw.key()
    if clause.negative:
        return _Marked(said("没", key), auxiliaries=said("did not", key), main=said(forms.base, verb))
    if asking is not None:
        return _Marked(suffix=said("了", key), auxiliaries=said("did", key, *asking), main=said(forms.base, verb))
    return _Marked(suffix=said("了", key), main=said(forms.past, verb, key))


def _experience(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
    forms, key = clause.predicate.forms, draw.key()
    main, have, suffix = said(forms.participle, clause.predicate.key), _have(clause.subject, key), said("过", key)
    if clause.negative:
        never = draw.key()
        return _Marked(said("没", never), suffix, have + said("never", never), main)
    return _Marked((), suffix, have + (said("ever", *asking) if asking else ()), main)


def _already(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
    forms, key, adverb = clause.predicate.forms, draw.key(), draw.key()
    main = said(forms.participle, clause.predicate.key)
    if clause.negative:
        have_not = _have(clause.subject, key) + said("not", key)
        return _Marked(said("还", adverb) + said("没", key), (), have_not, main, said("yet", adverb))
    return _Marked(said("已经", adverb), said("了", key), _have(clause.subject, key) + said("already", adverb), main)


def _modal(modal: str) -> Callable[[Draw, Clause, Asking], _Marked]:
    def mark(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
        key, main = draw.key(), said(clause.predicate.forms.base, clause.predicate.key)
        if not clause.negative:
            return _Marked(said("会", key), (), said(modal, key, *(asking or ())), main)
        denial = draw.key()
        not_able = (Word("cannot", (key, denial)),) if modal == "can" else said(modal, key) + said("not", denial)
        return _Marked(said("不", denial) + said("会", key), (), not_able, main)

    return mark


def _wish(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
    key, infinitive = draw.key(), said(clause.predicate.forms.base, clause.predicate.key)
    if clause.negative:
        denial = draw.key()
        auxiliaries = do(clause.subject, denial) + said("not", denial)
        return _Marked(said("不", denial) + said("想", key), (), auxiliaries, said("want to", key) + infinitive)
    if asking is not None:
        return _Marked(said("想", key), (), do(clause.subject, *(asking or (key,))), said("want to", key) + infinitive)
    want = "wants to" if _third_singular(clause.subject) else "want to"
    return _Marked(said("想", key), (), (), said(want, key) + infinitive)


def _simple(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
    forms, verb = clause.predicate.forms, clause.predicate.key
    if clause.negative:
        key = draw.key()
        return _Marked(said("不", key), (), do(clause.subject, key) + said("not", key), said(forms.base, verb))
    if asking is not None:
        return _Marked((), (), do(clause.subject, *(asking or (verb,))), said(forms.base, verb))
    return _Marked((), (), (), said(forms.third if _third_singular(clause.subject) else forms.base, verb))


def _progressive(draw: Draw, clause: Clause, asking: Asking) -> _Marked:
    key, main = draw.key(), said(clause.predicate.forms.ing, clause.predicate.key)
    auxiliaries = be(clause.subject, key, *(asking or ()))
    if clause.negative:
        denial = draw.key()
        return _Marked(said("没", denial) + said("在", key), (), auxiliaries + said("not", denial), main)
    # Before a place, which has a 在 of its own, 正 alone says that it goes on.
    at_place = clause.predicate.before[:1] and clause.predicate.before[0].text == "在"
    # A relative clause without a subject takes the longer form.
    marker = "正" if at_place else "正在" if not clause.subject.source else draw.choose(("在", "正在"))
    return _Marked(said(marker, key), (), auxiliaries, main)


_ASPECTS: dict[str, Callable[[Draw, Clause, Asking], _Marked]] = {
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
