"""How often a model's attention agrees with the true word alignment."""

from collections.abc import Sequence
from itertools import pairwise

from pellucid.demo.language import DemoPair, spans

__all__ = ["count_correct_alignments"]

_SPACE = "▁"


def count_correct_alignments(
    pair: DemoPair,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    weights: Sequence[tuple[int, int, float]],
) -> tuple[int, int]:
    """Count the target tokens whose strongest source token belongs to a word that their own word translates.

    Args:
        pair: a sentence pair whose source was translated exactly to its target.
        source_tokens: the tokens of the source, with `▁` for a space.
        target_tokens: the tokens of the target, likewise.
        weights: (source token, target token, weight) links.

    Returns:
        The number of correct tokens and of all tokens; 0 and 0 if the tokens do not spell the sentences (pieces of
        characters).
    """
    source, target = _token_spans(source_tokens, pair.source), _token_spans(target_tokens, pair.target)
    if source is None or target is None:
        return 0, 0
    source_words, target_words = spans(pair.source, pair.source_words), spans(pair.target, pair.target_words)
    true = [(source_words[i], target_words[j]) for i, j in pair.alignment]
    strongest: dict[int, tuple[float, int]] = {}
    for i, j, weight in weights:
        strongest[j] = max(strongest.get(j, (-1.0, 0)), (weight, i))
    correct = sum(
        any(_overlap(source[i], source_word) and _overlap(target[j], target_word) for source_word, target_word in true)
        for j, (_, i) in strongest.items()
    )
    return correct, len(strongest)


def _token_spans(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    """Find the span of each token in the text, leaving out the space that a tokenizer may put at the front."""
    text_of_tokens = "".join(tokens).replace(_SPACE, " ")
    added = len(text_of_tokens) - len(text_of_tokens.removeprefix(" ")) if not text.startswith(" ") else 0
    if text_of_tokens[added:] != text:
        return None
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    return [(max(first - added, 0), max(last - added, 0)) for first, last in pairwise(ends)]


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
