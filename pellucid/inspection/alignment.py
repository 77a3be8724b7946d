"""Cross-attention as a word alignment, and how far each head is from known alignments."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy

from pellucid.errors import UserError
from pellucid.evaluation.alignment_error import alignment_error_rate
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.encoding import encode_translation, inspect_network
from pellucid.inspection.labelled_array import LabelledArray, numbered_axis
from pellucid.inspection.recording import RecordedRun, record_run
from pellucid.inspection.tokens import Token
from pellucid.plurals import pluralize

__all__ = ["AlignedPair", "HeadErrors", "attention_alignment", "head_errors", "word_spans"]


class AlignedPair(Protocol):
    """A sentence pair with a known word alignment; a pair of the demo language is one."""

    @property
    def source(self) -> str:
        """The source sentence."""

    @property
    def target(self) -> str:
        """The target sentence."""

    @property
    def source_words(self) -> Sequence[str]:
        """Its words, in order."""

    @property
    def target_words(self) -> Sequence[str]:
        """Its words, in order."""

    @property
    def alignment(self) -> Sequence[tuple[int, int]]:
        """Links between words, (source, target)."""


class HeadErrors(NamedTuple):
    """Alignment error rates of cross-attention heads.

    Attributes:
        heads: of each head, [layer heads]; 0 is perfect.
        mean: of the mean of all heads.
        guided: of the mean of the heads that training guided; None if there are none.
        best: (layer, head) with the lowest.
    """

    heads: LabelledArray
    mean: float
    guided: float | None
    best: tuple[int, int]


def attention_alignment(look: RecordedRun, heads: Sequence[tuple[int, int]] | None = None) -> LabelledArray:
    """Average cross-attention over some heads: where the decoder looked to predict each token, [next_tokens source].

    Row j belongs to the predicted token, not to the one that was read. Every row sums to 1.

    Args:
        look: at a translator, with the weights of cross-attention.
        heads: (layer, head) of the heads; unless given, those that training guided, or else all.

    Raises:
        UserError: if the model has no cross-attention, or a head does not exist.
    """
    chosen = tuple(look.inspected.alignment_heads if heads is None else heads)
    decoder = look.stack("decoder")
    count = len(decoder.blocks)
    if "cross_attention" not in decoder.sublayers:
        raise UserError(
            "a language model has no cross-attention", where="alignment", hint="Look at its self-attention instead."
        )
    layers = sorted({layer for layer, _ in chosen}) or list(range(count))
    if not all(0 <= layer < count for layer in layers):
        raise UserError(f"the decoder has {pluralize(count, 'layer')}, got heads {chosen}", where="heads", hint=_HEADS)
    names = (f"decoder.{layer}.cross_attention.weights" for layer in layers)
    weights = dict(zip(layers, look.require(*names), strict=True))
    count = len(weights[layers[0]])
    if not all(0 <= head < count for _, head in chosen):
        raise UserError(f"a layer has {pluralize(count, 'head')}, got heads {chosen}", where="heads", hint=_HEADS)
    rows = [weights[layer].values[head] for layer, head in chosen] or [w.values.mean(0) for w in weights.values()]
    values = numpy.mean(rows, axis=0)[: len(look.next_tokens)]
    axes = (look.next_token_axis(), look.token_axis("source", "source"))
    which = ", ".join(f"{layer}.{head}" for layer, head in chosen) or "all"
    meaning = f"cross-attention when a token was predicted, mean of heads: {which}"
    return LabelledArray("decoder.alignment", values, axes, "share", meaning)


def head_errors(model: TranslationModel, pairs: Sequence[AlignedPair]) -> HeadErrors:
    """Measure every cross-attention head against known alignments, with teacher forcing.

    A head links each target token to the source token with the highest weight, the end token excepted; links of tokens
    become links of the words they belong to. A few hundred pairs make the figures stable.

    Raises:
        UserError: if there are no pairs, or a word is not in its sentence.
    """
    if not pairs:
        raise UserError("there are no pairs to measure heads on", where="pairs", hint="Pass one pair at least.")
    shape = (model.model.config.decoder_layers, model.model.config.n_heads)
    all_heads = [(layer, head) for layer, head in numpy.ndindex(shape)]
    predicted: dict[tuple[int, int] | str, list[set[tuple[int, int]]]] = {}
    for pair in pairs:
        encoded = encode_translation(model, pair.source, pair.target)
        run = record_run(RecordedRun, inspect_network(model), encoded, ["decoder.*.cross_attention.weights"])
        links = partial(
            _strongest_links,
            run,
            source_words=_words_of_tokens(run.source, pair.source, pair.source_words),
            target_words=_words_of_tokens(run.next_tokens, pair.target, pair.target_words),
        )
        for head in all_heads:
            predicted.setdefault(head, []).append(links([head]))
        predicted.setdefault("mean", []).append(links(all_heads))
        if model.alignment_heads:
            predicted.setdefault("guided", []).append(links(model.alignment_heads))
    correct = [set(pair.alignment) for pair in pairs]
    rates = {which: alignment_error_rate(found, correct) for which, found in predicted.items()}
    values = numpy.array([rates[head] for head in all_heads]).reshape(shape)
    best = all_heads[int(values.argmin())]
    axes = (numbered_axis("layer", shape[0]), numbered_axis("heads", shape[1]))
    meaning = f"alignment error rate on {pluralize(len(pairs), 'pair')}"
    return HeadErrors(
        LabelledArray("decoder.head_errors", values, axes, "share", meaning), rates["mean"], rates.get("guided"), best
    )


def word_spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Find the start and end of each word in a text.

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
                hint="Give the words of the sentence in their order.",
            )
        at = start + len(word)
        spans.append((start, at))
    return spans


_HEADS = "Pass (layer, head) pairs; both count from 0."


def _words_of_tokens(tokens: Sequence[Token], text: str, words: Sequence[str]) -> list[int | None]:
    """Find the word of each token: the first whose characters it covers; None for special tokens."""
    spans = word_spans(text, words)
    found: list[int | None] = []
    for token in tokens:
        start, end = token.offsets
        overlapping = [i for i, (first, last) in enumerate(spans) if start < last and end > first]
        found.append(overlapping[0] if overlapping and not token.special else None)
    return found


def _strongest_links(
    run: RecordedRun,
    heads: Sequence[tuple[int, int]],
    source_words: Sequence[int | None],
    target_words: Sequence[int | None],
) -> set[tuple[int, int]]:
    links = set()
    for row, target_word in zip(attention_alignment(run, heads).values, target_words, strict=True):
        if target_word is None:
            continue
        source_word = source_words[int(row[:-1].argmax())] if len(row) > 1 else None
        if source_word is not None:
            links.add((source_word, target_word))
    return links
