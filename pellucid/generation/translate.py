"""Translate texts: split them, search for each part's translation, check it, and join the parts again."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from pellucid.generation.attention_alignment import attention_alignments, strongest_links
from pellucid.generation.batching import batch_by_length
from pellucid.generation.beam import CachedDecoder, Hypothesis, NewDecoder, Observer, beam_search
from pellucid.generation.checks import GenerationWarning, check_coverage, check_length, check_numbers, check_repetition
from pellucid.generation.generation_config import GenerationConfig
from pellucid.generation.placeholders import has_all_placeholders, insert_by_alignment, restore_placeholders
from pellucid.generation.text_splitting import Part
from pellucid.generation.translation import Alternative, Translation, join_translations, untranslated
from pellucid.generation.translation_model import TranslationModel
from pellucid.plurals import pluralize

__all__ = ["FoundTranslations", "OnProgress", "search", "translate_texts"]

OnProgress = Callable[[int], object]
"""Called with the number of items done since the last call."""


class FoundTranslations(NamedTuple):
    """The translations found for a part.

    Attributes:
        part: as the model read it in the end.
        n_best: the best hypotheses, best first.
    """

    part: Part
    n_best: list[Hypothesis]


def translate_texts(
    model: TranslationModel,
    texts: Sequence[str],
    prefixes: Sequence[str],
    config: GenerationConfig,
    *,
    alignment: bool = False,
    on_progress: OnProgress = lambda count: None,
) -> list[Translation]:
    """Translate texts, in order; blank ones are returned unchanged.

    Args:
        texts: any number; each is split into lines and, if those are long, at sentence ends.
        alignment: whether to compute which target token came from which source token.
        on_progress: called with the number of parts done since the last call.
    """
    splitter = model.text_splitter(config)
    split_texts = [splitter.split(text) for text in texts]
    parts = [part for split in split_texts for part in split.parts]
    starts = [
        model.target_tokenizer.encode(prefix) if prefix and number == 0 else []
        for split, prefix in zip(split_texts, prefixes, strict=True)
        for number in range(len(split.parts))
    ]
    translated = iter(_translate_parts(model, parts, starts, config, alignment, on_progress))
    return [
        join_translations(text, split, [next(translated) for _ in split.parts], config, alignment)
        for text, split in zip(texts, split_texts, strict=True)
    ]


def _translate_parts(
    model: TranslationModel,
    parts: Sequence[Part],
    prefixes: Sequence[Sequence[int]],
    config: GenerationConfig,
    alignment: bool,
    on_progress: OnProgress,
) -> Iterable[Translation]:
    translations = {i: untranslated(part.source, alignment) for i, part in enumerate(parts) if not part.ids}
    on_progress(len(translations))
    waiting = [i for i, part in enumerate(parts) if part.ids]
    budget = config.batch_tokens // config.beam
    lengths = [len(parts[i].ids) for i in waiting]
    for batch in batch_by_length(lengths, lambda rows, longest: rows * longest <= budget):
        chosen = [waiting[i] for i in batch]
        results = search(model, [parts[i] for i in chosen], config, [prefixes[i] for i in chosen])
        aligned = _align(model, results, alignment)
        for i, result, weights in zip(chosen, results, aligned, strict=True):
            translations[i] = _finish(model, result, weights, alignment)
        on_progress(len(batch))
    return (translations[i] for i in range(len(parts)))


def search(
    model: TranslationModel,
    parts: Sequence[Part],
    config: GenerationConfig,
    prefixes: Sequence[Sequence[int]] | None = None,
    *,
    observer: Observer | None = None,
    new_decoder: NewDecoder = CachedDecoder,
) -> list[FoundTranslations]:
    """Search for the best translations of parts, all in one batch.

    A part whose placeholders the model did not copy completely is translated again without showing them to the model.
    Each translation begins with the ids of its prefix.
    """
    prefixes = prefixes or [()] * len(parts)

    def searched(rows: Sequence[int]) -> list[list[Hypothesis]]:
        return beam_search(
            model.model,
            [parts[i].ids for i in rows],
            model.special_tokens,
            config,
            [prefixes[i] for i in rows],
            observer=observer,
            alignment_heads=model.alignment_heads,
            new_decoder=new_decoder,
        )

    n_best = searched(range(len(parts)))
    incomplete = [
        i
        for i, part in enumerate(parts)
        if part.numbered
        and not has_all_placeholders(part.protected, model.target_tokenizer.decode_segments(n_best[i][0].ids))
    ]
    if incomplete:
        splitter = model.text_splitter(config)
        parts = [
            splitter.part(part.source, numbered=False) if i in incomplete else part for i, part in enumerate(parts)
        ]
        for i, hypotheses in zip(incomplete, searched(incomplete), strict=True):
            n_best[i] = hypotheses
    return [FoundTranslations(part, hypotheses) for part, hypotheses in zip(parts, n_best, strict=True)]


def _align(
    model: TranslationModel, results: Sequence[FoundTranslations], alignment: bool
) -> list[list[Float[Tensor, "target source"]]]:
    """Compute the alignments that are needed: to insert placeholders into each hypothesis, or, if asked for, the best.

    The decoder reads the pairs once more for this, so nothing is computed that nobody needs.
    """
    counts = [len(n_best) if _inserts_placeholders(part) else int(alignment) for part, n_best in results]
    sources = [part.ids for (part, _), count in zip(results, counts, strict=True) for _ in range(count)]
    targets = [best.ids for (_, n_best), count in zip(results, counts, strict=True) for best in n_best[:count]]
    weights = iter(attention_alignments(model.model, sources, targets, model.special_tokens, model.alignment_heads))
    return [[next(weights) for _ in range(count)] for count in counts]


def _inserts_placeholders(part: Part) -> bool:
    return bool(part.protected.values) and not part.numbered


def _finish(
    model: TranslationModel, result: FoundTranslations, weights: Sequence[Tensor], alignment: bool
) -> Translation:
    """Turn the hypotheses of a part into text, and check the best one."""
    part, n_best = result
    source_pieces = model.source_tokenizer.pieces_from_ids(part.ids[:-1])
    alternatives, bare_texts = [], []
    for i, hypothesis in enumerate(n_best):
        segments = model.target_tokenizer.decode_segments(hypothesis.ids)
        text = restore_placeholders(segments, part.protected.values)
        if _inserts_placeholders(part):
            pieces = model.target_tokenizer.pieces_from_ids(hypothesis.ids)
            text = insert_by_alignment(part.protected, source_pieces, pieces, weights[i], text)
        bare_texts.append("".join(segment for segment in segments if isinstance(segment, str)))
        tokens = len(hypothesis.token_log_probs)
        alternatives.append(Alternative(text.strip(), hypothesis.score, hypothesis.log_prob, tokens))
    best, source_tokens = n_best[0], tuple(piece.display for piece in source_pieces)
    checks = [
        check_numbers(part.protected.bare, bare_texts[0]),
        check_repetition(part.ids, best.ids),
        check_length(len(part.ids) - 1, len(best.ids)),
        check_coverage(best.coverage, source_tokens) if best.coverage else None,
        None if best.ended else _truncated(best),
        _placed_by_alignment(part) if _inserts_placeholders(part) else None,
    ]
    return Translation(
        tuple(alternatives),
        source_tokens,
        tuple(piece.display for piece in model.target_tokenizer.pieces_from_ids(best.ids)),
        tuple(strongest_links(weights[0])) if alignment else None,
        tuple(warning for warning in checks if warning is not None),
    )


def _truncated(hypothesis: Hypothesis) -> GenerationWarning:
    length = pluralize(len(hypothesis.ids), "token")
    return GenerationWarning("truncated", f"truncated at the maximum length, {length}")


def _placed_by_alignment(part: Part) -> GenerationWarning:
    names = ", ".join(part.protected.values)
    return GenerationWarning("placeholder", f"placed by the alignment, not by the model: {names}")
