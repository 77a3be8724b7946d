"""How good translations are: BLEU and chrF by sacreBLEU, and whether one system is better than another."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from pellucid.errors import UserError
from pellucid.plurals import pluralize
from pellucid.randomness import generator

__all__ = ["Comparison", "CorpusScores", "bleu_tokenization", "compare_systems", "score_translations"]


class CorpusScores(NamedTuple):
    """BLEU and chrF of a whole test set, 0 to 100, and sacreBLEU's signatures, which say how they were computed."""

    bleu: float
    chrf: float
    signatures: dict[str, str]


class Comparison(NamedTuple):
    """One measure of two systems on the same test set.

    Attributes:
        first, second: the scores.
        interval: of second − first, the middle 95 % of the resampled differences.
        p: share of resampled test sets, both sides counted, on which the difference is as far from its mean as from 0.
    """

    first: float
    second: float
    interval: tuple[float, float]
    p: float


def bleu_tokenization(target_lang: str | None) -> str:
    """Return sacreBLEU's tokenization: `zh` for Chinese, characters where words are not spaced, else `13a`."""
    language = (target_lang or "").lower().replace("_", "-").split("-")[0]
    unspaced = {"zh": "zh", "cmn": "zh", "yue": "zh", "ja": "char", "th": "char", "km": "char", "lo": "char"}
    return unspaced.get(language, "13a")


def score_translations(translations: Sequence[str], references: Sequence[str], target_lang: str | None) -> CorpusScores:
    """Return BLEU and chrF of translations against one reference each.

    Args:
        target_lang: code of the target language; None if unknown, then BLEU splits words as for English.

    Raises:
        UserError: if there are none, or not as many of one as of the other.

    Source:
        Papineni et al. 2002; Popović 2015; Post 2018.
    """
    _check(translations, references)
    bleu, chrf = BLEU(tokenize=bleu_tokenization(target_lang)), CHRF()
    scores = bleu.corpus_score(list(translations), [list(references)]).score
    chrf_score = chrf.corpus_score(list(translations), [list(references)]).score
    signatures = {"bleu": str(bleu.get_signature()), "chrf": str(chrf.get_signature())}
    return CorpusScores(scores, chrf_score, signatures)


def compare_systems(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    target_lang: str | None,
    samples: int = 1000,
    seed: int = 1,
) -> dict[str, Comparison]:
    """Return, for `bleu` and `chrf`, whether two systems differ by more than the choice of test sentences explains.

    Args:
        first, second: translations of the same sentences by the two systems.
        target_lang: as in `score_translations`.
        samples: number of test sets drawn with replacement.

    Source:
        Koehn 2004 (paired bootstrap resampling); the p-value as in sacreBLEU.
    """
    _check(first, references)
    _check(second, references)
    draws = generator(seed, "paired bootstrap").integers(len(references), size=(samples, len(references)))
    found = {}
    for name, metric in (("bleu", BLEU(tokenize=bleu_tokenization(target_lang))), ("chrf", CHRF())):
        statistics = [_sentence_statistics(metric, list(system), list(references)) for system in (first, second)]
        whole = [float(metric._compute_score_from_stats(rows.sum(0).tolist()).score) for rows in statistics]
        resampled = [
            numpy.array([metric._compute_score_from_stats(rows[draw].sum(0).tolist()).score for draw in draws])
            for rows in statistics
        ]
        differences = resampled[1] - resampled[0]
        low, high = numpy.percentile(differences, [2.5, 97.5])
        spread = numpy.abs(differences - differences.mean())
        p = (int((spread >= abs(whole[1] - whole[0])).sum()) + 1) / (samples + 1)
        found[name] = Comparison(whole[0], whole[1], (float(low), float(high)), p)
    return found


def _sentence_statistics(metric: BLEU | CHRF, system: list[str], references: list[str]) -> NDArray[numpy.int64]:
    """Compute the metric's counts for each sentence, [sentences, counts]; sums of rows give corpus scores."""
    return numpy.array(metric._extract_corpus_statistics(system, [references]), dtype=numpy.int64)


def _check(translations: Sequence[str], references: Sequence[str]) -> None:
    if not references:
        raise UserError(
            "there is nothing to score", where="references", hint="Give at least one translation and its reference."
        )
    if len(translations) != len(references):
        raise UserError(
            f"{pluralize(len(translations), 'translation')}, but {pluralize(len(references), 'reference')}",
            where="translations, references",
            hint="Give one reference for each translation.",
        )
