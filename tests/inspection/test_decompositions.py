"""Parts add up to their whole, on every architecture; where a split is not defined, that is said."""

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection import attention, positional_encodings
from pellucid.inspection.lens import layer_logits, logit_lens
from pellucid.inspection.look import Look
from pellucid.inspection.residual_decomposition import decompose_residual, direct_logit_attribution
from pellucid.inspection.residual_streams import effective_rank, token_identity
from pellucid.inspection.score_decomposition import FOUR_PARTS, decompose_scores, explained_variance, scores_by_offset
from tests.inspection.conftest import TARGET, TEXT, translator_of

SPLIT = ["sinusoidal", "post-norm", "post-norm, rmsnorm, no bias", "learned, grouped, rmsnorm"]


@pytest.mark.parametrize("choice", SPLIT)
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_four_parts_sum_to_the_score(choice: str, stack: str) -> None:
    look = translator_of(choice).look(TEXT, target=TARGET)
    parts = decompose_scores(look, f"{stack}.0.self_attention")
    assert tuple(parts.parts) == FOUR_PARTS
    assert parts.error < 1e-5 * max(1.0, float(numpy.abs(parts.scores.values).max()))
    shares = explained_variance(parts, look.mask(f"{stack}.0.self_attention"))
    numpy.testing.assert_allclose(shares.values.sum(-1), 1, atol=1e-9)


def test_the_norm_s_shift_and_biases_belong_to_content() -> None:
    """With embeddings of zero, content is what shift and biases alone give: the same for every token."""
    translator = translator_of("sinusoidal")
    with torch.no_grad():
        kept = translator.model.target_embedding.weight.clone()
        translator.model.target_embedding.weight.zero_()
        look = translator.look(TEXT, target=TARGET)
        parts = decompose_scores(look, "encoder.0.self_attention").parts
        content = parts["content_content"].values
        translator.model.target_embedding.weight.copy_(kept)
    numpy.testing.assert_allclose(content, numpy.broadcast_to(content[:, :1, :1], content.shape), atol=1e-12)
    assert numpy.abs(content).max() > 1e-3


def test_the_position_part_depends_on_positions_alone_but_for_the_scale() -> None:
    """Post-norm: the first layer reads the plain sum, so position · position is the same for every sentence."""
    translator = translator_of("post-norm")
    one, other = (translator.look(text, target=TARGET) for text in ("Der Hund", "12 Katzen!"))
    a, b = (
        decompose_scores(look, "encoder.0.self_attention").parts["position_position"].values for look in (one, other)
    )
    count = min(a.shape[1], b.shape[1])
    numpy.testing.assert_allclose(a[:, :count, :count], b[:, :count, :count], atol=1e-12)


def test_alibi_s_bias_is_a_part_of_its_own_in_any_layer() -> None:
    look = translator_of("alibi").look(TEXT, target=TARGET)
    parts = decompose_scores(look, "encoder.1.self_attention").parts
    assert set(parts) == {"content", "bias"}
    distance = numpy.abs(numpy.arange(len(look.source))[:, None] - numpy.arange(len(look.source)))
    numpy.testing.assert_allclose(parts["bias"].values[1], -(2.0**-4) * distance, atol=1e-7)
    assert look.encoder[1].heads[1].scores.bias.shape == distance.shape


def test_where_the_split_is_not_defined_it_says_why() -> None:
    look = translator_of("sinusoidal").look(TEXT, target=TARGET)
    with pytest.raises(UserError, match="only the first layer reads embeddings"):
        decompose_scores(look, "encoder.1.self_attention")
    with pytest.raises(UserError, match="earlier attention has mixed"):
        decompose_scores(look, "decoder.0.cross_attention")
    with pytest.raises(UserError, match="they rotate them"):
        decompose_scores(translator_of("rope").look(TEXT, target=TARGET), "encoder.0.self_attention")
    with pytest.raises(UserError, match="no positions, so all of it is content"):
        decompose_scores(translator_of("none").look(TEXT, target=TARGET), "encoder.0.self_attention")


@pytest.mark.parametrize("name", ["encoder.1.self_attention", "decoder.0.cross_attention"])
def test_a_rotary_score_is_a_function_of_the_offset(name: str) -> None:
    look = translator_of("rope").look(TEXT, target=TARGET)
    scores = look[f"{name}.scores"].values
    for query, key in ((3, 1), (2, 5)):
        curve = scores_by_offset(look, name, query, key, range(-6, 7))
        numpy.testing.assert_allclose(curve.at(offset=str(query - key)).values, scores[:, query, key], atol=2e-5)
    with pytest.raises(UserError, match="uses no positions"):
        scores_by_offset(translator_of("none").look(TEXT, target=TARGET), name, 0, 0)


def test_products_and_mixtures_sum_to_what_the_model_used(any_look: Look) -> None:
    for name in ("encoder.0.self_attention", "decoder.1.cross_attention"):
        products = attention.score_products(any_look, name, 2, 4).values.sum(-1)
        bias = attention.position_bias(any_look, any_look.attention(name))
        products = products if bias is None else products + bias.numpy()[:, 2, 4]
        numpy.testing.assert_allclose(products, any_look[f"{name}.scores"].values[:, 2, 4], atol=2e-5)
        mix = attention.weighted_values(any_look, name, 3)
        numpy.testing.assert_allclose(mix.values.sum(1), any_look[f"{name}.head_output"].values[:, 3], atol=2e-5)


def test_covering_counts_the_heaviest_keys(look: Look) -> None:
    weights = look["decoder.1.cross_attention.weights"].values
    for mass in (0.5, 0.9, 1.0):
        counts = attention.keys_for_mass(look, "decoder.1.cross_attention", mass).values
        for head, query in numpy.ndindex(counts.shape):
            row = sorted(weights[head, query], reverse=True)
            assert sum(row[: counts[head, query]]) >= mass - 2e-6
            assert sum(row[: counts[head, query] - 1]) < mass
    with pytest.raises(UserError, match="mass is a share"):
        attention.keys_for_mass(look, "decoder.1.cross_attention", 0)


def test_special_tokens_share_is_labelled_and_not_renormalised(look: Look) -> None:
    share = attention.special_token_weight(look, "encoder.0.self_attention")
    assert share.labels("key")[-1].endswith("⟨end⟩")
    weights = look["encoder.0.self_attention.weights"].values
    # Means in float32, summed in another order.
    numpy.testing.assert_allclose(share.values[:, -1], weights[:, :, -1].mean(1), rtol=1e-6)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_contributions_sum_to_the_stream_at_every_depth(any_look: Look, stack: str) -> None:
    for layers in range(3):
        given = decompose_residual(any_look, stack, layers)
        assert given.error < 2e-5 * max(1.0, float(numpy.abs(given.stream.values).max()))
    names = given.parts.axes[0].labels
    assert f"{stack}.1.self_attention.3" in names
    assert f"{stack}.0.feed_forward" in names
    with pytest.raises(UserError, match="has 2 layers"):
        decompose_residual(any_look, stack, 3)


def test_direct_effects_sum_to_the_logit(any_look: Look) -> None:
    logits = any_look["logits"].values
    numpy.testing.assert_allclose(direct_logit_attribution(any_look, 40).values.sum(0), logits[:, 40], atol=1e-4)
    both = direct_logit_attribution(any_look, 40, other=41).values.sum(0)
    numpy.testing.assert_allclose(both, logits[:, 40] - logits[:, 41], atol=1e-4)
    next_tokens = list(any_look.encoded.next_tokens)
    own = logits[numpy.arange(len(next_tokens)), next_tokens]
    numpy.testing.assert_allclose(direct_logit_attribution(any_look).values.sum(0), own, atol=1e-4)
    with pytest.raises(UserError, match="not in the vocabulary"):
        direct_logit_attribution(any_look, 10**6)


def test_a_few_names_are_enough_for_contributions() -> None:
    translator = translator_of("sinusoidal")
    whole = translator.look(TEXT, target=TARGET)
    few = translator.look(
        TEXT, target=TARGET, what=["embedding.*", "*.head_output", "*.feed_forward.output", "*.residual.*put"]
    )
    assert few.nbytes < whole.nbytes / 3
    assert numpy.array_equal(decompose_residual(few).parts.values, decompose_residual(whole).parts.values)


def test_the_lens_uses_each_layer_s_own_norm_and_ends_in_the_output(any_look: Look) -> None:
    numpy.testing.assert_allclose(layer_logits(any_look, 2).numpy(), any_look["logits"].values, atol=2e-5)
    state = torch.from_numpy(any_look["decoder.0.residual.output"].values)
    stack = any_look.stack("decoder")
    with torch.inference_mode():
        expected = any_look.model.logits(stack.norm(state)).numpy()  # type: ignore[operator]
    numpy.testing.assert_allclose(layer_logits(any_look, 1).numpy(), expected, atol=2e-5)
    found = logit_lens(any_look, top=3)
    assert found.top.shape == (3, len(any_look.target), 3)
    log_probs = torch.from_numpy(any_look["logits"].values).log_softmax(-1).numpy()
    assert found.top.values[-1, :, 0].tolist() == log_probs.argmax(-1).tolist()
    next_tokens = [log_probs[i, number] for i, number in enumerate(any_look.encoded.next_tokens)]
    numpy.testing.assert_allclose(found.next_log_probs.values[-1], next_tokens, atol=1e-4)
    numpy.testing.assert_allclose(found.entropy.values[-1], -(numpy.exp(log_probs) * log_probs).sum(-1), atol=1e-4)


def test_a_word_is_itself_before_the_first_layer_when_nothing_is_added() -> None:
    look = translator_of("none").look(TEXT, target=TARGET)
    found = token_identity(look, "encoder")
    numpy.testing.assert_allclose(found.cosine.values[0], 1, atol=1e-6)
    assert (found.rank.values[0] == 1).all()
    assert found.cosine.axes[0].labels == ("input", "0", "1")


def test_effective_rank_lies_between_one_and_the_number_of_tokens(any_look: Look) -> None:
    ranks = effective_rank(any_look, "encoder").values
    assert (ranks >= 1).all()
    assert (ranks <= min(len(any_look.source), 16)).all()


def test_codes_move_by_a_rotation_and_their_products_see_distance_only() -> None:
    model = translator_of("sinusoidal").model
    shift = positional_encodings.measure_shift(model, 5, 200)
    assert shift.error < 1e-11
    assert 1e-9 < shift.float32_error < 1e-4
    assert shift.determinant == pytest.approx(1)
    assert positional_encodings.measure_shift(model, -3, 50).error < 1e-11
    score_products = positional_encodings.products_by_offset(model, 50).values
    numpy.testing.assert_allclose(score_products[1], score_products[2], atol=1e-5)
    frequencies = positional_encodings.sinusoid_frequencies(model).values
    numpy.testing.assert_allclose(score_products[0], [numpy.cos(frequencies * k).sum() for k in range(50)], atol=1e-5)
    distances = positional_encodings.encoding_distances(model, 50).values
    assert distances[~numpy.eye(50, dtype=bool)].min() > 0.1


def test_what_is_asked_of_positions_that_a_model_does_not_have_is_said() -> None:
    rope, learned, alibi = (translator_of(c).model for c in ("rope", "learned, grouped, rmsnorm", "alibi"))
    angles = positional_encodings.attention_positions(rope, 10)
    assert angles.values[3, 0] == pytest.approx(3)
    assert positional_encodings.encodings(learned, 10).shape == (10, 16)
    assert positional_encodings.attention_positions(alibi, 10).values.tolist() == [0.25, 0.0625, 0.015625, 0.00390625]
    with pytest.raises(UserError, match="adds no position encodings"):
        positional_encodings.encodings(rope, 10)
    with pytest.raises(UserError, match="not sinusoidal: learned"):
        positional_encodings.shift_matrix(learned, 1)
    with pytest.raises(UserError, match="no position scheme acts in attention"):
        positional_encodings.attention_positions(translator_of("sinusoidal").model, 10)
