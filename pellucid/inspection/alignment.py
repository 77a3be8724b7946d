"""Which head knows which word answers which: cross-attention against known alignments."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy

from pellucid.errors import UserError
from pellucid.evaluation.alignment_error import alignment_error_rate
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.tokens import Token
from pellucid.plurals import pluralize
from pellucid.translator import Translator

__all__ = ["AlignedPair", "HeadErrors", "alignment", "head_errors", "word_spans"]


class AlignedPair(Protocol):
    """A sentence, its translation, and which word answers which; a pair of the demo language is one."""

    @property
    def source(self) -> str:
        """As it is written."""
        ...

    @property
    def target(self) -> str:
        """As it is written."""
        ...

    @property
    def source_words(self) -> Sequence[str]:
        """In their order."""
        ...

    @property
    def target_words(self) -> Sequence[str]:
        """In their order."""
        ...

    @property
    def alignment(self) -> Sequence[tuple[int, int]]:
        """Of words: (source, target)."""
        ...


class HeadErrors(NamedTuple):
    """How far each head's strongest links are from the true ones.

    Attributes:
        heads: alignment error rate, [layer heads]; 0 is perfect.
        mean: of the mean of all heads of all layers.
        guided: of the mean of the heads that training guided; None if there are none.
        best: (layer, head) of the lowest.
    """

    heads: LabelledArray
    mean: float
    guided: float | None
    best: tuple[int, int]


def alignment(look: RecordedRun, heads: Sequence[tuple[int, int]] | None = None) -> LabelledArray:
    """Return where the decoder looked in the source to write each token, the mean of some heads, [following source].

    Row j is of the token that was to be written, not of the one that was read. Nothing is left out of a row: it sums to
    1.

    Args:
        look: at a translator, with the cross-attention's weights.
        heads: (layer, head) of the heads; those that training guided, or, if there are none, all.

    Raises:
        UserError: if the model has no cross-attention, or a head does not exist.
    """
    chosen = tuple(look.inspected.alignment_heads if heads is None else heads)
    blocks = len(look.stack("decoder").blocks)
    if "cross_attention" not in look.stack("decoder").sublayers:
        raise UserError(
            "a language model has no cross-attention",
            where="alignment",
            hint="Look at a translator.",
        )
    layers = sorted({layer for layer, _ in chosen}) or list(range(blocks))
    if not all(0 <= layer < blocks for layer in layers):
        raise UserError(
            f"the decoder has {pluralize(blocks, 'layer')}, got heads {chosen}",
            where="heads",
            hint="Pass heads as (layer, head) pairs, counted from 0.",
        )
    weights = dict(zip(layers, look.require(*(f"decoder.{n}.cross_attention.weights" for n in layers)), strict=True))
    count = len(weights[layers[0]])
    if not all(0 <= head < count for _, head in chosen):
        raise UserError(
            f"a layer has {pluralize(count, 'head')}, got heads {chosen}",
            where="heads",
            hint="Pass heads as (layer, head) pairs, counted from 0.",
        )
    rows = [weights[layer].values[head] for layer, head in chosen] or [w.values.mean(0) for w in weights.values()]
    values = numpy.mean(rows, axis=0)[: len(look.next_tokens)]
    axes = (
        Axis("next_tokens", tuple(token.display for token in look.next_tokens)),
        look.token_axis("source", "source"),
    )
    which = ", ".join(f"{layer}.{head}" for layer, head in chosen) or "all"
    meaning = f"weight of cross-attention when a token was about to be written, mean of heads: {which}"
    return LabelledArray("decoder.alignment", values, axes, "share", meaning)


def head_errors(translator: Translator, pairs: Sequence[AlignedPair]) -> HeadErrors:
    """Measure every cross-attention head against known alignments (teacher forcing).

    A head links each target token to the source token it looks at most, the end apart; links of tokens become links of
    the words they belong to.

    Args:
        translator: any.
        pairs: with their true alignment; a few hundred make the figures stable.

    Raises:
        UserError: for no pairs, or words that do not stand in their sentence.
    """
    if not pairs:
        raise UserError(
            "there are no pairs to measure heads on",
            where="pairs",
            hint="Pass at least one sentence pair with its alignment.",
        )
    shape = (len(list(translator.model.decoder_blocks())), translator.model.config.n_heads)
    predicted: dict[tuple[int, ...] | str, list[set[tuple[int, int]]]] = {}
    for pair in pairs:
        look = translator.look(pair.source, target=pair.target, what=["decoder.*.cross_attention.weights"])
        where = (
            _word_of(look.source, pair.source, pair.source_words),
            _word_of(look.next_tokens, pair.target, pair.target_words),
        )
        for place in numpy.ndindex(shape):
            predicted.setdefault(place, []).append(_links(alignment(look, [(place[0], place[1])]).values, *where))
        every = [(layer, head) for layer, head in numpy.ndindex(shape)]
        predicted.setdefault("mean", []).append(_links(alignment(look, every).values, *where))
        if translator.alignment_heads:
            predicted.setdefault("guided", []).append(_links(alignment(look).values, *where))
    sure = [set(pair.alignment) for pair in pairs]
    rates = {which: alignment_error_rate(found, sure) for which, found in predicted.items()}
    values = numpy.array([[rates[layer, head] for head in range(shape[1])] for layer in range(shape[0])])
    axes = (numbered_axis("layer", shape[0]), numbered_axis("heads", shape[1]))
    best = numpy.unravel_index(int(values.argmin()), shape)
    meaning = f"alignment error rate on {pluralize(len(pairs), 'pair')}"
    return HeadErrors(
        LabelledArray("decoder.head_errors", values, axes, "share", meaning),
        rates["mean"],
        rates.get("guided"),
        (int(best[0]), int(best[1])),
    )


def word_spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each word stands in a text, start and end, in order.

    Raises:
        UserError: if a word does not come after the one before it.
    """
    spans, at = [], 0
    for word in words:
        start = text.find(word, at)
        if start < 0:
            raise UserError(
                f"the word {word!r} does not stand in {text!r} after the one before it",
                where="words",
                hint="List the words in the order in which they occur in the sentence.",
            )
        at = start + len(word)
        spans.append((start, at))
    return spans


def _word_of(tokens: Sequence[Token], text: str, words: Sequence[str]) -> list[int | None]:
    """Return the word that each token belongs to: the first whose characters it covers; None for special ones."""
    spans = word_spans(text, words)
    found: list[int | None] = []
    for token in tokens:
        start, end = token.offsets
        inside = [i for i, (first, last) in enumerate(spans) if start < last and end > first]
        found.append(inside[0] if inside and not token.special else None)
    return found


def _links(weights: Array, source: Sequence[int | None], target: Sequence[int | None]) -> set[tuple[int, int]]:
    links = set()
    for row, word in zip(weights, target, strict=True):
        if word is None:
            continue
        looked = source[int(row[:-1].argmax())] if len(row) > 1 else None
        if looked is not None:
            links.add((looked, word))
    return links
