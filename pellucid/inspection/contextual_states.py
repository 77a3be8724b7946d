"""Words in context: occurrences with their states, neighbours of a state, and senses that separate layer by layer."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.recording import RecordedRun
from pellucid.inspection.residual_streams import residual_streams
from pellucid.plurals import pluralize

__all__ = ["Occurrence", "Senses", "StateNeighbour", "occurrences", "senses", "state_neighbours"]

LookAt = Callable[[str], RecordedRun]
"""Looks at one text and records its residual stream: `lambda text: model.look(text, target=text)`."""


class Occurrence(NamedTuple):
    """A word in a sentence.

    Attributes:
        start: first character of the word.
        end: character after its last.
        states: mean over its tokens, before the first layer and after each, [layer d_model].
    """

    text: str
    start: int
    end: int
    states: Array


class StateNeighbour(NamedTuple):
    """An occurrence that is similar to another, and the cosine of their states."""

    word: str
    occurrence: Occurrence
    cosine: float


class Senses(NamedTuple):
    """How well the senses of a word are separated, layer by layer.

    Attributes:
        same: mean cosine of two occurrences of one sense, [layer].
        different: mean cosine of two occurrences of different senses, [layer].
        nearest: share of occurrences whose most similar other occurrence has the same sense, [layer].
    """

    same: LabelledArray
    different: LabelledArray
    nearest: LabelledArray


def occurrences(look_at: LookAt, texts: Sequence[str], word: str, stack: str = "encoder") -> list[Occurrence]:
    """Find every occurrence of a word in some texts, with its states.

    An occurrence may be inside another word, as Chinese writes no spaces.
    """
    found = []
    for text in texts:
        starts = _starts(text, word)
        if not starts:
            continue
        look = look_at(text)
        states = residual_streams(look, stack).values
        tokens = look.tokens_on(look.stack(stack).side)
        for start in starts:
            end = start + len(word)
            own = [t.position for t in tokens if not t.special and t.offsets[0] < end and t.offsets[1] > start]
            if own:
                found.append(Occurrence(text, start, end, states[:, own].mean(1)))
    return found


def state_neighbours(
    look_at: LookAt, text: str, word: str, corpus: Mapping[str, Sequence[str]], layer: int = -1, count: int = 10
) -> list[StateNeighbour]:
    """Find the words of a corpus whose states in their sentences are most similar to a word's state in its own.

    Args:
        word: the word; its first occurrence counts.
        corpus: for each sentence, the words in it that may be neighbours.
        layer: after which block; 0 is before the first, −1 after the last.

    Returns:
        Neighbours, best first.

    Raises:
        UserError: if the word does not occur in the text.
    """
    found = occurrences(look_at, [text], word)
    if not found:
        raise UserError(f"the word {word!r} does not occur in {text!r}", where="word", hint="Check its spelling.")
    own = _unit(found[0].states[layer])
    neighbours = []
    look_once = lru_cache(maxsize=1)(look_at)  # one look at a sentence serves all its words
    for sentence, words in corpus.items():
        for other in dict.fromkeys(words):
            for occurrence in occurrences(look_once, [sentence], other):
                if (sentence, occurrence.start) != (text, found[0].start):
                    cosine = float(own @ _unit(occurrence.states[layer]))
                    neighbours.append(StateNeighbour(other, occurrence, cosine))
    return sorted(neighbours, key=lambda neighbour: -neighbour.cosine)[:count]


def senses(look_at: LookAt, word: str, sentences: Mapping[str, Sequence[str]], stack: str = "encoder") -> Senses:
    """Measure layer by layer whether a word's state tells its sense: 苹果 the fruit and 苹果 the company.

    One embedding serves all senses: before the first layer only positions distinguish occurrences.

    Args:
        sentences: for each sense, some sentences with the word.

    Raises:
        UserError: for fewer than two senses, or a sense with fewer than two occurrences.
    """
    found = {sense: occurrences(look_at, texts, word, stack) for sense, texts in sentences.items()}
    if len(found) < 2 or any(len(of_sense) < 2 for of_sense in found.values()):
        counts = ", ".join(f"{sense} {pluralize(len(of_sense), 'occurrence')}" for sense, of_sense in found.items())
        raise UserError(
            f"too few occurrences of {word!r}: {counts or 'none'}",
            where="sentences",
            hint="Give two senses at least, each with two occurrences.",
        )
    states = numpy.stack([one.states for of_sense in found.values() for one in of_sense], axis=1)
    sense_of = numpy.repeat(numpy.arange(len(found)), [len(of_sense) for of_sense in found.values()])
    same_sense = sense_of[:, None] == sense_of
    others = ~numpy.eye(len(sense_of), dtype=bool)
    rows: list[tuple[float, float, float]] = []
    for layer in states:  # [occurrence d_model]
        unit = numpy.stack([_unit(state) for state in layer])
        cosine = unit @ unit.T
        nearest = numpy.where(others, cosine, -numpy.inf).argmax(1)
        same_as_nearest = float((sense_of[nearest] == sense_of).mean())
        rows.append((cosine[same_sense & others].mean(), cosine[~same_sense].mean(), same_as_nearest))
    same, different, nearest_share = numpy.array(rows).T
    axes = (Axis("layer", ("input", *map(str, range(len(states) - 1)))),)
    name = f"{stack}.senses"
    return Senses(
        LabelledArray(f"{name}.same", same, axes, "cosine", f"{word}: two occurrences of one sense"),
        LabelledArray(f"{name}.different", different, axes, "cosine", f"{word}: two occurrences of different senses"),
        LabelledArray(f"{name}.nearest", nearest_share, axes, "share", f"{word}: the nearest has the same sense"),
    )


def _unit(x: Array) -> Array:
    length = float(numpy.linalg.norm(x))
    return x.astype(numpy.float64) / (length or 1.0)


def _starts(text: str, word: str) -> list[int]:
    if not word:
        raise UserError("there is no word to look for", where="word", hint="Pass a word.")
    return [found.start() for found in re.finditer(re.escape(word), text)]
