"""Edits that reach beyond a text, do not fit, or would make a view show what is not so."""

import copy
from typing import Any

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.attention import score_products
from pellucid.inspection.edit_commands import apply_edits
from pellucid.inspection.views.catalogue import build_view
from pellucid.inspection.views.view import ViewRequest
from pellucid.translator import Translator
from tests.generation.small_language_model import small_language_model
from tests.inspection.conftest import TARGET, TEXT, translator_of


def test_a_position_that_a_text_does_not_have_is_refused(translator: Translator) -> None:
    run = translator.what_if(TEXT, target=TARGET)
    other = translator.look("Hund", target=TARGET)
    with pytest.raises(UserError, match=r"the source has \d+ tokens, counted from 0; got 99"):
        run.zero("encoder.output", 99)
    with pytest.raises(UserError, match=r"the target has \d+ tokens, counted from 0; got -99"):
        run.zero("decoder.0.residual.output", -99)
    with pytest.raises(UserError, match="got 99"):
        run.patch("encoder.output", other, 99, 0)


@pytest.mark.parametrize("verb", ["mask", "zero", "patch"])
def test_a_place_that_a_later_edit_took_away_is_said(translator: Translator, verb: str) -> None:
    run = translator.what_if("Der Hund schläft.", target=TARGET)
    place = len(run.edited.source) - 1
    changed = {
        "mask": lambda: run.mask_token(place),
        "zero": lambda: run.zero("encoder.output", place),
        "patch": lambda: run.patch("encoder.output", translator.look(TEXT, target=TARGET), place, 0),
    }[verb]()
    with pytest.raises(UserError, match=f"cannot edit position {place}"):
        changed.edit_source("3").run()


def test_a_position_from_the_end_is_that_token_while_the_model_writes_on() -> None:
    model = small_language_model()
    run = model.what_if("The cat ate")
    last = len(run.encoded.target) - 1
    from_end, from_start = (run.zero("decoder.0.residual.output", place).run() for place in (-1, last))
    assert from_end.text_after == from_start.text_after
    assert from_end.after.edits == from_start.after.edits


@pytest.mark.parametrize("name", ["decoder.0.residual.output", "decoder.1.self_attention.scores", "logits"])
@pytest.mark.parametrize("place", [None, 1])
def test_numbers_of_a_text_are_carried_over_while_the_model_writes_on(name: str, place: int | None) -> None:
    model = small_language_model()
    other = model.look("ate cat The")
    run = model.what_if("The cat ate")
    assert (len(other.target), other.encoded.target != run.encoded.target) == (len(run.encoded.target), True)
    effect = run.patch(name, other, place).run()
    assert effect.text_after is not None
    chosen: Any = slice(None) if place is None else place
    numpy.testing.assert_array_equal(
        effect.after[name].values[..., chosen, :], other[name].values[..., chosen, :].astype(numpy.float32)
    )


def test_rows_of_another_length_are_refused(translator: Translator) -> None:
    other = translator.look(TEXT + " " + TEXT, target=TARGET)
    run = translator.what_if(TEXT, target=TARGET)
    with pytest.raises(UserError, match=r"scores is \[4, 1, \d+\] in this run, \[4, 1, \d+\] in the other"):
        run.patch("decoder.0.cross_attention.scores", other, 1).run()
    with pytest.raises(UserError, match=r"encoder.output is \[\d+, 16\] in this run, \[\d+, 16\] in the other"):
        run.patch("encoder.output", other).run()
    with pytest.raises(UserError, match=r"in this run, .* in the other"):
        run.patch("encoder.output", other["decoder.0.cross_attention.query"], 1).run()


def test_a_model_whose_training_diverged_is_not_taken_for_a_mistake_of_the_look() -> None:
    model = copy.deepcopy(small_language_model())
    with torch.no_grad():
        dict(model.model.named_parameters())["decoder.1.self_attention.query.weight"].fill_(torch.nan)
    look = model.look("The cat ate")
    with pytest.raises(UserError, match=r"decoder\.1\.self_attention\.query\.weight of the model has"):
        look.check()
    rank = build_view(ViewRequest(look), "effective-rank").arrays[0].values
    assert numpy.isfinite(rank).tolist() == [True, True, False]


def test_what_is_patched_in_is_a_look(translator: Translator) -> None:
    several = translator.look([TEXT, "Hund"], target=TARGET)
    for other in ("Hund", several):
        with pytest.raises(UserError, match="expected a look at another text"):
            translator.what_if(TEXT, target=TARGET).patch("encoder.output", other, 0)  # type: ignore[arg-type]


def test_one_head_can_be_kept(translator: Translator) -> None:
    run = translator.what_if(TEXT, target=TARGET)
    kept = apply_edits(
        run, ["keep_heads decoder.0.cross_attention 2"], lambda text, what: translator.look(text, what=what)
    )
    head_output = kept.run(write=False).after["decoder.0.cross_attention.head_output"].values
    assert [bool(numpy.any(head)) for head in head_output] == [False, False, True, False]


def test_without_positions_no_view_shows_any() -> None:
    alibi = translator_of("alibi").what_if(TEXT, target=TARGET).remove_positions().run(write=False).after
    rope = translator_of("rope").what_if(TEXT, target=TARGET).remove_positions().run(write=False).after
    for look in (alibi, rope):
        with pytest.raises(UserError, match="positions were removed"):
            build_view(ViewRequest(look), "score-parts")
    products = score_products(alibi, "encoder.0.self_attention", 1, 2).values.sum(-1)
    numpy.testing.assert_allclose(products, alibi["encoder.0.self_attention.scores"].values[:, 1, 2], atol=1e-6)


def test_views_of_a_plain_run_refuse_an_edited_one(translator: Translator, tmp_path: Any) -> None:
    look = translator.what_if(TEXT, target=TARGET).mask_token(0).run(write=False).after
    for name in ("training-dynamics", "beam-search", "teacher-forcing"):
        with pytest.raises(UserError, match="unedited"):
            build_view(ViewRequest(look, model=translator, folder=tmp_path), name)
