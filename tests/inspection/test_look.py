"""A look holds the model's own numbers, labelled, and keeps what it promises on every architecture."""

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.encoding import encode_translation
from pellucid.inspection.look import Look
from pellucid.inspection.look_at import look_by_step
from pellucid.inspection.residual_decomposition import decompose_residual
from pellucid.translator import Translator
from tests.inspection.conftest import TARGET, TEXT, translator_of


def test_every_promise_is_kept_on_every_architecture(any_look: Look) -> None:
    checks = {check.name: check for check in any_look.check()}
    unchecked = {name for name, check in checks.items() if check.error is None}
    assert unchecked <= {"parts of a score add up to it"}
    assert max(check.error for check in checks.values() if check.error is not None) < 2e-5


def test_a_look_shows_what_the_model_computes(look: Look, translator: Translator) -> None:
    seen: dict[str, torch.Tensor] = {}
    with torch.inference_mode():
        source, target = torch.tensor([look.encoded.source]), torch.tensor([look.encoded.target])
        translator.model(source, target, seen.setdefault)
    assert set(seen) == set(look.names)
    for name, x in seen.items():
        shown = look[name].values
        assert numpy.array_equal(shown, x.numpy() if x.ndim == shown.ndim else x[0].numpy()), name


def test_arrays_say_what_they_are(look: Look) -> None:
    weights = look["decoder.1.cross_attention.weights"]
    assert [axis.name for axis in weights.axes] == ["heads", "query", "key"]
    assert weights.labels("key") == tuple(token.display for token in look.source)
    assert weights.labels("query")[0] == "⟨start⟩"
    assert weights.unit == "share"
    assert "each row sums to 1" in weights.meaning
    assert weights.code_location.startswith("pellucid/layers/attention.py:")
    assert 'tap("weights"' in weights.code_location
    assert numpy.asarray(weights).shape == weights.shape
    assert numpy.array_equal(weights.at(heads=2, key=0).values, weights.values[2, :, 0])
    assert weights[1, ..., -1].axes[0].name == "query"


def test_numbers_are_found_by_attribute_path(look: Look) -> None:
    weights = look.encoder[1].self_attention.weights
    assert weights is look["encoder.1.self_attention.weights"]
    head = look.encoder[-1].heads[3]
    assert numpy.array_equal(head.weights.values, weights.values[3])
    assert numpy.array_equal(look.decoder[0].cross_attention.heads[1].query.values,
                             look["decoder.0.cross_attention.query"].values[1])  # fmt: skip
    assert look.decoder.output is look["decoder.output"]
    assert len(look.encoder) == 2
    assert {"self_attention", "feed_forward", "residual", "heads"} <= set(dir(look.encoder[0]))
    assert "weights" in dir(head)
    with pytest.raises(AttributeError, match="has no wieghts"):
        head.wieghts  # noqa: B018
    with pytest.raises(IndexError, match="has 2 layers"):
        look.encoder[2]


def test_the_mask_is_found_beside_scores_and_weights(look: Look) -> None:
    attention = look.decoder[0].self_attention
    assert {"mask", "scores", "weights", "heads"} <= set(dir(attention))
    allowed = numpy.asarray(attention.mask)
    assert [axis.name for axis in attention.mask.axes] == ["query", "key"]
    assert numpy.array_equal(allowed, numpy.tril(numpy.ones_like(allowed)))
    assert numpy.array_equal(allowed > 0, (attention.weights.values > 0).all(0))
    assert numpy.array_equal(look.decoder[0].heads[2].mask.values, allowed)
    assert look.encoder[0].heads[1].mask.values.all()
    assert "mask" not in dir(look.decoder[0].feed_forward)


def test_score_parts_are_attributes_of_a_head_s_scores(look: Look) -> None:
    scores = look.encoder[0].heads[2].scores
    names = ("content_content", "content_position", "position_content", "position_position")
    total = sum(getattr(scores, name).values for name in names)
    numpy.testing.assert_allclose(total, scores.values, atol=1e-5)
    assert set(names) <= set(dir(scores))
    with pytest.raises(UserError, match="only the first layer reads embeddings"):
        look.encoder[1].heads[0].scores.content_content  # noqa: B018


def test_tokens_have_bytes_offsets_and_kind(look: Look) -> None:
    assert [token.special for token in look.source] == [False] * (len(look.source) - 1) + [True]
    assert b"".join(token.bytes for token in look.source).decode("utf-8") == TEXT
    water = look.source[-2]
    assert (water.display, TEXT[slice(*water.offsets)]) == ("水⟨B4⟩", "水")  # the last byte of a character
    assert [token.display for token in look.next_tokens[:-1]] == [token.display for token in look.target[1:]]
    assert look.next_tokens[-1].display == "⟨end⟩"


def test_its_own_translation_is_the_target_unless_given(translator: Translator) -> None:
    assert translator.look(TEXT, what=["logits"]).encoded.target_text.strip() == translator.translate(TEXT).text
    forced = translator.look(TEXT, prefix="The", what=["logits"])
    assert forced.encoded.target_text.startswith("The")


def test_only_what_is_asked_is_kept(translator: Translator) -> None:
    look = translator.look(TEXT, target=TARGET, what=["*.cross_attention.weights", "logits"])
    assert set(look.names) == {"decoder.0.cross_attention.weights", "decoder.1.cross_attention.weights", "logits"}
    with pytest.raises(UserError, match="was not recorded"):
        look["encoder.0.self_attention.scores"]
    with pytest.raises(UserError, match="no tap is called") as caught:
        translator.look(TEXT, what=["encoder.0.self_attention.wieghts"])
    assert caught.value.hint == "Did you mean encoder.0.self_attention.weights?"
    assert {check.name for check in look.check() if check.error is not None} >= {"rows of weights sum to 1"}


def test_a_batch_of_unequal_lengths_gives_what_each_gives_alone(any_translator: Translator) -> None:
    texts, targets = [TEXT, "Katzen!", "12"], [TARGET, "Cats ate.", "The dog 12"]
    looks = any_translator.look(texts, target=targets)
    for look, text, target in zip(looks, texts, targets, strict=True):
        alone = any_translator.look(text, target=target)
        assert alone.names == look.names
        for name in alone.names:
            numpy.testing.assert_allclose(look[name].values, alone[name].values, atol=2e-5, rtol=2e-5, err_msg=name)


def test_padding_is_labelled_and_finite(any_translator: Translator) -> None:
    looks = any_translator.look([TEXT, "Hi"], target=[TARGET, "a"])
    whole = looks["encoder.0.self_attention.weights"]
    assert [axis.name for axis in whole.axes] == ["batch", "heads", "query", "key"]
    filled = [token.padding for token in looks.source_tokens[1]]
    assert filled.index(True) == len(looks[1].source)
    assert (whole.values[1, :, :, filled.index(True) :] == 0).all()
    assert all(numpy.isfinite(looks[name].values).all() for name in looks[0].names)
    assert looks.tokens[1][-1].display == "⟨pad⟩"


def test_a_look_step_by_step_stitches_to_the_whole(any_translator: Translator, any_look: Look) -> None:
    whole, steps = look_by_step(any_translator, encode_translation(any_translator, TEXT, TARGET))
    assert len(steps) == len(any_look.target)
    for name in any_look.names:
        shown, expected = whole[name].values, any_look[name].values
        made = numpy.isfinite(shown)
        assert made.all() or name.endswith("self_attention.scores")
        numpy.testing.assert_allclose(shown[made], expected[made], atol=2e-5, rtol=2e-5, err_msg=name)
    assert steps[2]["decoder.0.self_attention.weights"].shape == (4, 1, 3)
    assert steps[2]["decoder.0.cross_attention.weights"].shape == (4, 1, len(any_look.source))


def test_a_look_outlives_training_but_derives_nothing_from_other_weights() -> None:
    translator = translator_of("none")
    look = translator.look(TEXT, target=TARGET)
    with torch.no_grad():
        translator.model.target_embedding.weight.mul_(1.0)
    assert look["logits"].values.size
    with pytest.raises(UserError, match="weights have changed"):
        decompose_residual(look)


def test_nothing_to_look_at_is_said(translator: Translator) -> None:
    with pytest.raises(UserError, match="nothing to translate"):
        translator.look("  ")
    with pytest.raises(UserError, match="what is a list of names"):
        translator.look(TEXT, what="logits")
