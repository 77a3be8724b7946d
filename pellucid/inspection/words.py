"""Words inside a model: neighbours of an embedding, of a state in its sentence, and senses that come apart by layer."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy
import torch

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.look import Look
from pellucid.inspection.recorded_run import InspectedModel
from pellucid.inspection.residual_streams import residual_streams
from pellucid.inspection.structure import find_stack
from pellucid.plurals import pluralize

__all__ = [
    "Occurrence",
    "Senses",
    "embedding_map",
    "embedding_neighbours",
    "occurrences",
    "senses",
    "state_neighbours",
]

LookAt = Callable[[str], Look]
"""Looks at one text, recording its residual stream at least: `lambda text: model.look(text, target=text)`."""


class Occurrence(NamedTuple):
    """A word where it stands.

    Attributes:
        text: its sentence.
        start, end: its characters there.
        states: of its tokens, their mean, before the first layer and after each, [layer d_model].
    """

    text: str
    start: int
    end: int
    states: Array


def embedding_neighbours(
    inspected: InspectedModel, token: int, count: int = 10, stack_name: str = "encoder"
) -> LabelledArray:
    """Return the tokens whose embeddings have the highest cosine with a token's, best first, [token].

    Args:
        subject: of a look.
        token: an id.
        count: how many.
        stack_name: whose embedding matrix: encoder or decoder.
    """
    rows = find_stack(inspected.model, stack_name).embedding.weight.detach().double().cpu()
    if not 0 <= token < len(rows):
        raise UserError(
            f"id {token} is not in the vocabulary of {len(rows)} ids",
            where="token",
            hint="Pass an id of the model's tokenizer.",
        )
    rows = torch.nn.functional.normalize(rows, dim=-1)
    cosines = rows @ rows[token]
    cosines[token] = -torch.inf
    best = cosines.topk(min(count, len(rows) - 1))
    tokenizer = inspected.target_tokenizer if stack_name == "decoder" else inspected.source_tokenizer
    assert tokenizer is not None
    names = tuple(tokenizer.pieces_from_ids([i])[0].display for i in best.indices.tolist())
    own = tokenizer.pieces_from_ids([token])[0].display
    return LabelledArray(
        f"{stack_name}.embedding_neighbours", best.values.numpy(), (Axis("token", names),), "cosine",
        f"cosine with the embedding of {own}",
    )  # fmt: skip


def occurrences(look_at: LookAt, texts: Sequence[str], word: str, stack_name: str = "encoder") -> list[Occurrence]:
    """Return every place where a word stands in some texts, with its states.

    A word is what is spelt so, wherever it stands: also within another, as in Chinese, which writes no spaces.

    Args:
        look_at: looks at a text.
        texts: a corpus.
        word: its spelling.
        stack_name: encoder or decoder.
    """
    found = []
    for text in texts:
        starts = _starts(text, word)
        if not starts:
            continue
        look = look_at(text)
        states = residual_streams(look, stack_name).values
        tokens = look.tokens_on(look.stack(stack_name).side)
        for start in starts:
            end = start + len(word)
            own = [t.position for t in tokens if not t.special and t.offsets[0] < end and t.offsets[1] > start]
            if own:
                found.append(Occurrence(text, start, end, states[:, own].mean(1)))
    return found


def state_neighbours(
    look_at: LookAt, text: str, word: str, corpus: Mapping[str, Sequence[str]], layer: int = -1, count: int = 10
) -> list[tuple[str, Occurrence, float]]:
    """Return the words of a corpus whose states, each in its sentence, are most like a word's in its own.

    Args:
        look_at: looks at a text.
        text: the sentence of the word that is asked about.
        word: that word; where it stands several times, the first place counts.
        corpus: for each sentence the words in it that may be neighbours.
        layer: after which block; 0 is before the first, −1 after the last.
        count: how many.

    Returns:
        Word, place, and cosine of the states; best first.

    Raises:
        UserError: if the word does not stand in the text.
    """
    places = occurrences(look_at, [text], word)
    if not places:
        raise UserError(
            f"the word {word!r} does not stand in {text!r}",
            where="word",
            hint="Choose a word of the text, written as it is there.",
        )
    own = _direction(places[0].states[layer])
    found = []
    for sentence, words in corpus.items():
        look = look_at(sentence)
        for other in dict.fromkeys(words):
            for one in occurrences(lambda _, look=look: look, [sentence], other):  # type: ignore[misc]
                if (sentence, one.start) != (text, places[0].start):
                    found.append((other, one, float(own @ _direction(one.states[layer]))))
    return sorted(found, key=lambda neighbour: -neighbour[2])[:count]


class Senses(NamedTuple):
    """How far the senses of a word are told apart, layer by layer.

    Attributes:
        same: mean cosine of two places of one sense, [layer].
        different: mean cosine of two places of different senses, [layer].
        nearest: share of places whose most similar other place has their own sense, [layer].
    """

    same: LabelledArray
    different: LabelledArray
    nearest: LabelledArray


def senses(look_at: LookAt, word: str, sentences: Mapping[str, Sequence[str]], stack_name: str = "encoder") -> Senses:
    """Measure by layer whether a word's state tells its sense: 苹果 the fruit and 苹果 the company.

    One embedding serves all senses: before the first layer only positions tell places apart.

    Args:
        look_at: looks at a text.
        word: as it is spelt.
        sentences: for each sense some sentences with the word.
        stack_name: encoder or decoder.

    Raises:
        UserError: for fewer than two senses, or a sense with fewer than two places.
    """
    places = {sense: occurrences(look_at, texts, word, stack_name) for sense, texts in sentences.items()}
    if len(places) < 2 or any(len(found) < 2 for found in places.values()):
        counts = ", ".join(f"{sense} {pluralize(len(found), 'place')}" for sense, found in places.items())
        raise UserError(
            f"two senses with two places of {word!r} each are needed; there are: {counts or 'none'}",
            where="sentences",
            hint="Give at least two sentences for each of two senses.",
        )
    states = numpy.stack([one.states for found in places.values() for one in found], axis=1)  # [layer place d_model]
    which = numpy.repeat(numpy.arange(len(places)), [len(found) for found in places.values()])
    same_sense = which[:, None] == which
    others = ~numpy.eye(len(which), dtype=bool)
    rows: list[tuple[float, float, float]] = []
    for layer in states:
        unit = numpy.stack([_direction(state) for state in layer])
        cosine = unit @ unit.T
        nearest = numpy.where(others, cosine, -numpy.inf).argmax(1)
        rows.append(
            (cosine[same_sense & others].mean(), cosine[~same_sense].mean(), float((which[nearest] == which).mean()))
        )
    axis = Axis("layer", ("input", *map(str, range(len(states) - 1))))
    columns = numpy.array(rows).T
    meanings = (
        "cosine of two places of one sense",
        "cosine of two places of different senses",
        "nearest has the same sense",
    )
    return Senses(
        *(
            LabelledArray(f"{stack_name}.senses.{name}", column, (axis,), unit, f"{word}: {meaning}")
            for name, column, unit, meaning in zip(
                Senses._fields, columns, ("cosine", "cosine", "share"), meanings, strict=True
            )
        )
    )


def embedding_map(
    inspected: InspectedModel, ids: Sequence[int], stack_name: str = "encoder"
) -> tuple[LabelledArray, tuple[float, float]]:
    """Return where tokens lie on the plane in which their embeddings differ most, [token axis], and what it holds.

    Two dimensions cannot hold what hundreds do: the second value is the share of the variance on each axis.

    Args:
        subject: of a look.
        ids: the tokens.
        stack_name: whose embedding matrix.
    """
    rows = find_stack(inspected.model, stack_name).embedding.weight.detach().double().cpu()[list(ids)]
    rows = rows - rows.mean(0)
    u, s, _ = torch.linalg.svd(rows, full_matrices=False)
    places = (u[:, :2] * s[:2]).numpy()
    total = float((s**2).sum()) or 1.0
    tokenizer = inspected.target_tokenizer if stack_name == "decoder" else inspected.source_tokenizer
    assert tokenizer is not None
    names = tuple(tokenizer.pieces_from_ids([i])[0].display for i in ids)
    shares = [float(x**2) / total for x in s[:2]]
    array = LabelledArray(
        f"{stack_name}.embedding_map", places, (Axis("token", names), numbered_axis("axis", places.shape[1])), "–",
        "principal components of the embeddings",
    )  # fmt: skip
    return array, (shares[0], shares[1] if len(shares) > 1 else 0.0)


def _direction(x: Array) -> Array:
    length = float(numpy.linalg.norm(x))
    return x.astype(numpy.float64) / (length or 1.0)


def _starts(text: str, word: str) -> list[int]:
    if not word:
        raise UserError(
            "there is no word to look for",
            where="word",
            hint="Pass the word to look for.",
        )
    starts, at = [], text.find(word)
    while at >= 0:
        starts.append(at)
        at = text.find(word, at + len(word))
    return starts
