import math

import pytest
import torch

from pellucid.errors import UserError
from pellucid.generation.attention_alignment import attention_alignments
from pellucid.generation.text_splitting import TextSplitter
from pellucid.generation.translation import Alternative, best_combinations
from pellucid.layers.taps import SelectiveTap
from pellucid.translator import Translator
from tests.generation.small_translator import small_tokenizer, small_translator

TEXTS = [
    "那只猫昨天吃了三条鱼。",
    "",
    "The cat ate 12 fish.",
    "   ",
    "Hund",
    "The cat ate three fish yesterday.",
    "\t\n",
]


def test_as_many_texts_come_back_in_their_order_and_blank_ones_as_they_are(translator: Translator) -> None:
    found = translator.translate(TEXTS)
    assert [one.text for one in found] == [translator.translate(text).text for text in TEXTS]
    for text, one in zip(TEXTS, found, strict=True):
        if not text.strip():
            assert (one.text, one.score, one.confidence, one.warnings) == (text, 0.0, 1.0, ())
    assert translator.translate([]) == []


@pytest.mark.parametrize("batch_tokens", [1, 40, 4096])
def test_the_size_of_batches_changes_nothing(translator: Translator, batch_tokens: int) -> None:
    one_way = translator.translate(TEXTS, n_best=2)
    other = translator.translate(TEXTS, n_best=2, batch_tokens=batch_tokens)
    assert [[one.text for one in found.n_best] for found in one_way] == [[one.text for one in f.n_best] for f in other]
    assert [found.score for found in one_way] == pytest.approx([found.score for found in other], abs=1e-5)


def test_lines_within_a_text_stay_lines(translator: Translator) -> None:
    text = "Hund\n\n The cat.\r\nHund\n"
    lines = [translator.translate(line).text for line in ["Hund", " The cat.", "Hund"]]
    assert translator.translate(text).text == f"{lines[0]}\n\n{lines[1]}\r\n{lines[2]}\n"


def test_confidence_is_the_geometric_mean_of_token_probabilities(translator: Translator) -> None:
    found = translator.translate("The cat ate 12 fish.")
    assert found.score == pytest.approx(math.log(found.confidence))
    assert 0 < found.confidence <= 1


def test_a_prefix_begins_the_translation(translator: Translator) -> None:
    assert translator.translate("Hund", prefix="The cat").text.startswith("The cat")
    found = translator.translate(["Hund", "", "cat"], prefix=["The", "x", "12"])
    assert [one.text[:3] for one in found][::2] == ["The", found[2].text[:3]]
    assert found[2].text.startswith("12")
    with pytest.raises(UserError, match="2 texts, but 1 prefix"):
        translator.translate(["a", "b"], prefix=["c"])


def test_alignment_weights_are_those_of_the_step_that_chose_the_token(translator: Translator) -> None:
    text = "The cat ate 12 fish."
    found = translator.translate(text, alignment=True)
    ids = [*translator.source_tokenizer.encode(text), 2]
    target = [1, *translator.target_tokenizer.encode(found.text)]
    seen: list[torch.Tensor] = []

    def record(name: str, weights: torch.Tensor) -> torch.Tensor:
        seen.append(weights)
        return weights

    tap = SelectiveTap(["decoder.0.cross_attention.weights"], record)
    translator.model(torch.tensor([ids]), torch.tensor([target]), tap)
    assert found.alignment
    assert len(found.source_tokens) == len(ids) - 1
    [weights] = attention_alignments(translator.model, [ids], [target[1:]], translator.special_tokens)
    assert torch.allclose(weights, seen[0].mean(1)[0, :-1], atol=1e-5)
    assert weights.sum(1).tolist() == pytest.approx([1.0] * len(weights), abs=1e-5)
    assert {link.target for link in found.alignment} == set(range(len(found.tokens)))
    assert translator.translate(text).alignment is None
    assert translator.translate(" ", alignment=True).alignment == ()


def test_chosen_heads_are_the_ones_averaged(translator: Translator) -> None:
    ids, target = [20, 30, 40, 2], [50, 60]
    every = attention_alignments(translator.model, [ids], [target], translator.special_tokens)[0]
    heads = [
        attention_alignments(translator.model, [ids], [target], translator.special_tokens, [(0, h)])[0] for h in (0, 1)
    ]
    assert torch.allclose((heads[0] + heads[1]) / 2, every, atol=1e-6)


def test_a_long_line_is_translated_in_parts_and_its_score_is_that_of_all(translator: Translator) -> None:
    text = "The cat ate fish. Der Hund schläft. The cat ate three fish yesterday."
    parts = [
        translator.translate(part)
        for part in ("The cat ate fish.", "Der Hund schläft.", "The cat ate three fish yesterday.")
    ]
    longest = max(len(translator.source_tokenizer.encode(part)) for part in text.split(". "))
    found = translator.translate(text, split_above=longest + 1, n_best=2)
    assert found.text == " ".join(part.text for part in parts)
    assert found.log_prob == pytest.approx(sum(part.log_prob for part in parts), abs=1e-4)
    assert found.n_best[1].score <= found.score


def test_a_length_to_split_at_beyond_learned_positions_is_refused() -> None:
    translator = small_translator(positions="learned", learned_positions=20)
    assert translator.translate("The cat.", split_above=19).text
    with pytest.raises(UserError, match="split_above: 20 tokens"):
        translator.translate("The cat.", split_above=20)


def test_combinations_of_parts_are_the_best_there_are() -> None:
    parts = [
        [Alternative("a", -0.1, -0.2, 2), Alternative("b", -0.5, -1.0, 2)],
        [Alternative("c", -1.0, -1.0, 1), Alternative("d", -1.1, -3.3, 3)],
    ]
    found = best_combinations(parts, 4, 0.0)
    assert [which for which, *_ in found] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert [score for _, score, _, _ in found] == pytest.approx([-1.2, -2.0, -3.5, -4.3])
    assert [tokens for *_, tokens in found] == [3, 3, 5, 5]
    assert best_combinations(parts, 1, 1.0)[0][1] == pytest.approx(-1.2 / 3)


def test_a_cut_translation_says_so(translator: Translator) -> None:
    found = translator.translate("The cat ate 12 fish.", max_length_extra=1, min_length=1)
    assert len(found.tokens) == 1 or "truncated" not in {notice.kind for notice in found.warnings}
    cut = translator.translate("The cat ate 12 fish.", min_length=9)
    assert "truncated" in {notice.kind for notice in cut.warnings}


def test_settings_are_checked(translator: Translator) -> None:
    with pytest.raises(UserError, match="beam"):
        translator.translate("a", beam=0)
    with pytest.raises(UserError, match="beem"):
        translator.translate("a", beem=3)
    with pytest.raises(UserError, match="n_best 3 needs a beam at least as wide, got beam 2"):
        translator.translate("a", beam=2, n_best=3)
    assert len(translator.translate("Hund", n_best=3).n_best) == 3
    with pytest.raises(UserError, match="expected a text"):
        translator.translate([b"bytes"])  # type: ignore[list-item]


def test_placeholder_ids_come_out_as_their_values_or_are_put_in_by_alignment() -> None:
    for copies in (True, False):
        translator = small_translator(copies_placeholders=copies)
        found = translator.translate("The {name} ate <b>three fish</b> of %s.")
        for placeholder in ("{name}", "<b>", "</b>", "%s"):
            assert found.text.count(placeholder) == 1
        assert found.text.index("<b>") < found.text.index("</b>")


def test_the_model_sees_placeholders_as_ids_if_it_can_and_not_at_all_if_not() -> None:
    tokenizer = small_tokenizer()
    part = TextSplitter(tokenizer, 50, True, 10).part("The {a} ate {b} and {a}", numbered=True)
    seen = [number for number in part.ids if number in tokenizer.placeholder_ids]
    assert seen == [tokenizer.placeholder_ids[n] for n in (0, 1, 0)]
    unseen = TextSplitter(tokenizer, 50, True, 0).part("The {a} ate {b} and {a}", numbered=True)
    assert unseen.ids[:-1] == tuple(tokenizer.encode("The ate and"))
    text = TextSplitter(tokenizer, 50, False, 10).part("The {a}", numbered=True)
    assert text.ids[:-1] == tuple(tokenizer.encode("The {a}"))
    assert TextSplitter(tokenizer, 50, True, 10).part("{a} %s", numbered=True).ids == ()
