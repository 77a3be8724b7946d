import pytest
import sacrebleu

from pellucid.errors import UserError
from pellucid.evaluation.translation_metrics import bleu_tokenization, compare_systems, score_translations

REFERENCES = [f"the {n} cats sat on mat number {n} and slept" for n in range(60)]
GOOD = [line.replace("slept", "dozed") if n % 5 == 0 else line for n, line in enumerate(REFERENCES)]
BAD = [line.replace("cats sat", "dog was") for line in REFERENCES]


def test_scores_are_those_of_sacrebleu_with_its_signature() -> None:
    scores = score_translations(GOOD, REFERENCES, "en")
    assert scores.bleu == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score
    assert scores.chrf == sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score
    assert "tok:13a" in scores.signatures["bleu"]
    assert "nc:6" in scores.signatures["chrf"]


def test_chinese_is_split_into_characters_by_its_own_tokenization() -> None:
    assert bleu_tokenization("zh-Hans") == "zh"
    assert bleu_tokenization("de") == bleu_tokenization(None) == "13a"
    scores = score_translations(["那只猫昨天吃了三条鱼。"], ["那只猫今天吃了三条鱼。"], "zh")
    assert "tok:zh" in scores.signatures["bleu"]
    assert scores.bleu > 50


def test_the_bootstrap_tells_a_better_system_from_an_equal_one() -> None:
    better = compare_systems(BAD, GOOD, REFERENCES, "en", samples=200)
    assert better["bleu"].second > better["bleu"].first
    assert better["bleu"].interval[0] > 0
    assert better["bleu"].p < 0.05
    equal = compare_systems(GOOD, list(GOOD), REFERENCES, "en", samples=200)
    assert max(map(abs, equal["chrf"].interval)) == 0
    assert equal["chrf"].p == 1.0


def test_the_scores_compared_are_the_corpus_scores() -> None:
    found = compare_systems(BAD, GOOD, REFERENCES, "en", samples=10)
    assert found["bleu"].first == pytest.approx(sacrebleu.corpus_bleu(BAD, [REFERENCES]).score)
    assert found["chrf"].second == pytest.approx(sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score)


def test_counts_that_differ_are_refused() -> None:
    with pytest.raises(UserError, match="60 references"):
        score_translations(GOOD[:-1], REFERENCES, "en")
    with pytest.raises(UserError, match="nothing"):
        score_translations([], [], "en")
