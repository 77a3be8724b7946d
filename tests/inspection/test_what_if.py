"""An edit does what it says, and nothing else."""

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.look import Look
from pellucid.translator import Translator
from tests.inspection.conftest import TARGET, TEXT, translator_of


def test_no_edit_changes_nothing(any_translator: Translator) -> None:
    effect = any_translator.what_if(TEXT, target=TARGET).run()
    assert effect.change == 0
    assert all(not effect[name].values.any() for name in effect.before.names)
    assert effect.text_before == effect.text_after


def test_a_masked_token_reaches_nobody(any_translator: Translator) -> None:
    """Whatever stands in its place, all else is the same; its own row of weights is without it, too."""
    effect = any_translator.what_if(TEXT, target=TARGET).mask_token(2).run()
    other = any_translator.what_if(TEXT, target=TARGET).replace_token(2, 300).mask_token(2).run()
    numpy.testing.assert_allclose(effect.after.logits.values, other.after.logits.values, atol=1e-6)
    assert numpy.abs(effect["logits"].values).max() > 1e-4
    for name in effect.after.names:
        if name.endswith(".weights") and ("encoder" in name or "cross" in name):
            assert not effect.after[name].values[..., 2].any()
            numpy.testing.assert_allclose(effect.after[name].values.sum(-1), 1, atol=1e-6)
    assert effect.after.edits == (f"mask source token 2 {effect.before.source[2].display}",)


def test_a_masked_target_token_leaves_rows_without_anything_empty(any_translator: Translator) -> None:
    after = any_translator.what_if(TEXT, target=TARGET).mask_token(0, "target").run().after
    weights = after["decoder.0.self_attention.weights"].values
    assert not weights[:, 0].any()  # the first may look at itself alone
    numpy.testing.assert_allclose(weights[:, 1:].sum(-1), 1, atol=1e-6)
    assert all(numpy.isfinite(after[name].values).all() for name in after.names)


def test_what_is_masked_stays_masked_when_scores_are_sharpened(any_translator: Translator) -> None:
    name = "decoder.0.self_attention"
    masked = any_translator.what_if(TEXT, target=TARGET).mask_token(0, "target").mask_token(2, "target")
    weights = masked.temperature(name, 1e-4).run(what=[f"{name}.weights"]).after[f"{name}.weights"].values
    assert not weights[..., [0, 2]].any()
    assert not weights[:, 0].any()
    allowed = numpy.tril(numpy.ones(weights.shape[-2:], dtype=bool))
    assert not weights[:, ~allowed].any()


def test_dropping_heads_is_keeping_the_others(translator: Translator) -> None:
    name = "encoder.0.self_attention"
    dropped = translator.what_if(TEXT, target=TARGET).ablate_head(name, 1).ablate_head(name, 3).run().after
    kept = translator.what_if(TEXT, target=TARGET).keep_heads(name, [0, -2]).run().after
    assert numpy.array_equal(dropped.logits.values, kept.logits.values)
    assert not dropped[f"{name}.head_output"].values[[1, 3]].any()
    assert dropped[f"{name}.head_output"].values[[0, 2]].all()
    with pytest.raises(UserError, match="has 4 heads"):
        translator.what_if(TEXT).ablate_head(name, 4)
    with pytest.raises(UserError, match="no attention encoder"):
        translator.what_if(TEXT).ablate_head("encoder.7.self_attention", 0)


def test_a_whole_state_of_another_sentence_carries_its_output_over(translator: Translator) -> None:
    other = translator.look("12 Katzen! ab", target="The dog 12")
    plain = translator.what_if(TEXT, target="The dog 12")
    assert len(other.source) != len(plain.edited.source)
    with pytest.raises(UserError, match="Pass position and from_position"):
        plain.patch("encoder.1.residual.output", other).run()
    same = translator.look("Der Hund schläft. 火", target=TARGET)
    assert len(same.source) == len(translator.look(TEXT, target=TARGET).source)
    patched = translator.what_if(TEXT, target=TARGET).patch("encoder.output", same).run()
    numpy.testing.assert_allclose(patched.after.logits.values, same.logits.values, atol=1e-5)


def test_one_state_is_patched_at_its_place_alone(translator: Translator) -> None:
    other = translator.look("12 Katzen!", target=TARGET)
    name = "encoder.0.residual.output"
    effect = translator.what_if(TEXT, target=TARGET).patch(name, other, position=3, from_position=1).run()
    assert numpy.array_equal(effect.after[name].values[3], other[name].values[1])
    changed = numpy.abs(effect[name].values).sum(-1) > 0
    assert changed.tolist() == [i == 3 for i in range(len(changed))]
    with pytest.raises(UserError, match="position 99 is out of range"):
        translator.what_if(TEXT).patch(name, other, position=3, from_position=99)


def test_zeroing_at_one_place_and_at_all(translator: Translator) -> None:
    name = "decoder.0.feed_forward.output"
    at_one = translator.what_if(TEXT, target=TARGET).zero(name, -1).run()
    assert not at_one.after[name].values[-1].any()
    assert not at_one["logits"].values[:-1].any()  # no position sees a later one
    assert at_one["logits"].values[-1].any()
    assert not translator.what_if(TEXT, target=TARGET).zero(name).run().after[name].values.any()
    with pytest.raises(UserError, match="Did you mean decoder"):
        translator.what_if(TEXT).zero("decoder.0.feed_forward.outptu")


def test_temperature_makes_weights_even_or_sharp(translator: Translator) -> None:
    name = "decoder.1.cross_attention"

    def greatest(value: float) -> float:
        after = translator.what_if(TEXT, target=TARGET).temperature(name, value, head=2).run().after
        return float(after[f"{name}.weights"].values[2].max(-1).mean())

    plain = translator.look(TEXT, target=TARGET)[f"{name}.weights"].values[2].max(-1).mean()
    assert greatest(100) < plain < greatest(0.01)
    assert greatest(1) == pytest.approx(float(plain), abs=1e-7)
    with pytest.raises(UserError, match="above 0"):
        translator.what_if(TEXT).temperature(name, 0)


def test_without_positions_the_encoder_sees_a_bag_of_tokens(any_translator: Translator) -> None:
    """Two tokens swapped: the same states, swapped."""
    plain = any_translator.what_if(TEXT, target=TARGET)
    ids = [token.id for token in any_translator.look(TEXT, target=TARGET).source]
    swapped = plain.replace_token(1, ids[4]).replace_token(4, ids[1])
    a = plain.remove_positions().run(what=["encoder.output"]).after["encoder.output"].values
    b = swapped.remove_positions().run(what=["encoder.output"]).after["encoder.output"].values
    order = list(range(len(ids)))
    order[1], order[4] = 4, 1
    numpy.testing.assert_allclose(b, a[order], atol=3e-5)


def test_replacing_and_editing_read_other_tokens(translator: Translator) -> None:
    replaced = translator.what_if(TEXT, target=TARGET).replace_token(-2, "!").run()
    assert replaced.after.source[-2].display == "!"
    changed = numpy.abs(replaced["encoder.0.residual.input"].values).sum(-1) > 0
    assert numpy.flatnonzero(changed).tolist() == [len(replaced.after.source) - 2]
    with pytest.raises(UserError, match="is 3 tokens"):
        translator.what_if(TEXT).replace_token(0, "水")
    edited = translator.what_if(TEXT, target=TARGET).edit_source("Katzen").run()
    alone = translator.look("Katzen", target=TARGET)
    assert numpy.array_equal(edited.after.logits.values, alone.logits.values)
    with pytest.raises(UserError, match="different lengths"):
        edited["encoder.output"]
    with pytest.raises(UserError, match="counted from 0; got 99"):
        translator.what_if(TEXT).mask_token(99)


def test_the_effect_on_outputs_is_told(translator: Translator) -> None:
    effect = translator.what_if(TEXT, target=TARGET).ablate_head("decoder.0.cross_attention", 0).run()
    log_probs = torch.from_numpy(effect.before.logits.values).double().log_softmax(-1).numpy()
    before = [log_probs[i, number] for i, number in enumerate(effect.before.encoded.next_tokens)]
    numpy.testing.assert_allclose(effect.log_probs.values[0], before)
    assert effect.change == pytest.approx(float(effect.log_probs.values[2].sum()))
    parts = effect.by_array()
    assert parts.values[0] >= parts.values[-1] == 0
    assert parts.at(name="encoder.output").values == 0
    masked = translator.what_if(TEXT, target=TARGET).mask_token(1).run().by_array()
    assert numpy.isfinite(masked.values).all()
    assert masked.values[0] < 10
    assert {"edits", "text_before", "text_after", "change", "log_probs"} == set(effect.as_dict())


def test_what_it_writes_by_itself_is_greedy_search(any_translator: Translator) -> None:
    effect = any_translator.what_if(TEXT, target=TARGET).run(what=["logits"])
    assert effect.text_before is not None
    assert effect.text_before.strip() == any_translator.translate(TEXT, beam=1).text


def test_an_edit_of_logits_reaches_what_is_written(translator: Translator) -> None:
    effect = translator.what_if(TEXT, target=TARGET).zero("logits").run(what=["logits"])
    assert not effect.after.logits.values.any()
    assert effect.text_after != effect.text_before
    quick = translator.what_if(TEXT, target=TARGET).zero("logits").run(what=["logits"], write=False)
    assert (quick.text_before, quick.text_after) == (None, None)
    assert quick.change == effect.change


def test_edits_of_one_number_are_made_one_after_the_other(translator: Translator) -> None:
    name = "encoder.0.self_attention"
    twice = translator.what_if(TEXT, target=TARGET).temperature(name, 2).temperature(name, 3).run().after
    once = translator.what_if(TEXT, target=TARGET).temperature(name, 6).run().after
    numpy.testing.assert_allclose(twice[f"{name}.weights"].values, once[f"{name}.weights"].values, atol=1e-6)


def test_an_edited_look_says_so_and_still_checks_what_holds() -> None:
    after = translator_of("rope").what_if(TEXT, target=TARGET).ablate_head("encoder.0.self_attention", 0).run().after
    assert "edited: ablate head 0" in repr(after)
    assert isinstance(after, Look)
    assert {c.name for c in after.check() if c.error is not None} == {"rows of weights sum to 1"}
