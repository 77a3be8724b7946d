"""A second, plain implementation from the raw weights, in float64, split into parts as it goes: looks agree with it.

Two models, as unlike as can be: a post-norm translator with sinusoids, LayerNorm and biases, and a pre-norm language
model with rotary positions, RMSNorm and gates. All weights are random, those of the norms, too, so that nothing can
hide behind a 0 or a 1.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from pellucid.inspection.attention import weighted_values
from pellucid.inspection.labelled_array import Array
from pellucid.inspection.lens import logit_lens
from pellucid.inspection.look import Look
from pellucid.inspection.residual_decomposition import decompose_residual, direct_logit_attribution
from pellucid.inspection.score_decomposition import decompose_scores, scores_by_offset
from tests.generation.small_language_model import small_language_model
from tests.inspection.conftest import TARGET, TEXT, translator_of

CLOSE = 2e-5  # the model computes in float32
Parts = dict[str, Array]


def with_random_norms(model: Any) -> Any:
    """Return a copy of a model in which no norm is plain and no bias is 0."""
    model = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, weight in model.model.named_parameters():
            if weight.ndim == 1:
                weight.copy_(torch.randn(weight.shape, generator=generator) * 0.5 + ("norm.weight" in name))
    return model


@pytest.fixture(scope="module")
def weights_and_look_of_a_translator() -> tuple[Parts, Look]:
    model = with_random_norms(translator_of("post-norm"))
    return numbers_of(model), model.look(TEXT, target=TARGET)


@pytest.fixture(scope="module")
def weights_and_look_of_a_language_model() -> tuple[Parts, Look]:
    model = with_random_norms(small_language_model())
    return numbers_of(model), model.look("The cat ate")


def numbers_of(model: Any) -> Parts:
    return {name: weight.double().numpy() for name, weight in model.model.state_dict().items()}


def linear(w: Parts, name: str, x: Array) -> Array:
    return x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0.0)


def heads_of(x: Array, count: int) -> Array:
    return x.reshape(len(x), count, -1).transpose(1, 0, 2)


def softmax(x: Array) -> Array:
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return numpy.asarray(powers / powers.sum(-1, keepdims=True))


def log_softmax(x: Array) -> Array:
    return numpy.asarray(
        x - x.max(-1, keepdims=True) - numpy.log(numpy.exp(x - x.max(-1, keepdims=True)).sum(-1))[..., None]
    )


def sines(count: int, d_model: int) -> Array:
    encodings = numpy.zeros((count, d_model))
    for place in range(count):
        for i in range(0, d_model, 2):
            encodings[place, i], encodings[place, i + 1] = (
                f(place / 10000 ** (i / d_model)) for f in (numpy.sin, numpy.cos)
            )
    return encodings


def rotated(x: Array, base: float) -> Array:
    """Turn pairs (i, i + half) by position · base^(−2i/d), as complex numbers."""
    half = x.shape[-1] // 2
    rates = base ** (-2.0 * numpy.arange(half) / x.shape[-1])
    turn = numpy.exp(1j * numpy.arange(x.shape[-2])[:, None] * rates)
    z = (x[..., :half] + 1j * x[..., half:]) * turn
    return numpy.concatenate((z.real, z.imag), axis=-1)


def mixes(
    w: Parts, name: str, reads: Array, read: Array, heads: int, causal: bool, turn: Callable[[Array], Array]
) -> Parts:
    """Return what each head of an attention, and its bias, adds."""
    q, k = (turn(heads_of(linear(w, f"{name}.{part}", x), heads)) for part, x in (("query", reads), ("key", read)))
    scores = q @ k.transpose(0, 2, 1) / numpy.sqrt(q.shape[-1])
    if causal:
        scores = numpy.where(numpy.tril(numpy.ones(scores.shape[1:], dtype=bool)), scores, -numpy.inf)
    head_output = softmax(scores) @ heads_of(linear(w, f"{name}.value", read), heads)
    columns = numpy.split(w[f"{name}.output.weight"], heads, axis=1)
    added = {f"{name}.{head}": head_output[head] @ columns[head].T for head in range(heads)}
    if f"{name}.output.bias" in w:
        added[f"{name}.bias"] = numpy.tile(w[f"{name}.output.bias"], (len(reads), 1))
    return added


def through_layer_norm(w: Parts, name: str, parts: Parts) -> Parts:
    whole = numpy.sum(list(parts.values()), axis=0)
    scale = w[f"{name}.weight"] / numpy.sqrt(whole.var(-1, keepdims=True) + 1e-5)
    parts = {part: (x - x.mean(-1, keepdims=True)) * scale for part, x in parts.items()}
    shift = numpy.tile(w[f"{name}.bias"], (len(whole), 1))
    return {**parts, "norm shifts": parts.get("norm shifts", 0.0) + shift}


def whole(parts: Parts) -> Array:
    return numpy.asarray(numpy.sum(list(parts.values()), axis=0))


def unchanged(x: Array) -> Array:
    return x


def post_norm_stack(w: Parts, stack: str, parts: Parts, memory: Array | None) -> list[Parts]:
    """Return the parts of a stack's stream before its first block and after each."""
    found = [parts]
    for layer in range(2):
        name = f"{stack}.{layer}"
        x = whole(parts)
        parts = {**parts, **mixes(w, f"{name}.self_attention", x, x, 4, memory is not None, unchanged)}
        parts = through_layer_norm(w, f"{name}.self_attention_residual.norm", parts)
        if memory is not None:
            parts = {**parts, **mixes(w, f"{name}.cross_attention", whole(parts), memory, 4, False, unchanged)}
            parts = through_layer_norm(w, f"{name}.cross_attention_residual.norm", parts)
        hidden = numpy.maximum(linear(w, f"{name}.feed_forward.up_projection", whole(parts)), 0.0)
        parts = {**parts, f"{name}.feed_forward": linear(w, f"{name}.feed_forward.down_projection", hidden)}
        parts = through_layer_norm(w, f"{name}.feed_forward_residual.norm", parts)
        found.append(parts)
    return found


def embedded(w: Parts, side: str, ids: tuple[int, ...]) -> Parts:
    rows = w[f"{side}_embedding.weight"][list(ids)] * 4.0  # √d_model
    return {f"embedding.{side}": rows, f"embedding.{side}_position": sines(len(ids), 16)}


def streams_of_translator(w: Parts, look: Look) -> tuple[list[Parts], list[Parts]]:
    encoder = post_norm_stack(w, "encoder", embedded(w, "source", look.encoded.source), None)
    decoder = post_norm_stack(w, "decoder", embedded(w, "target", look.encoded.target), whole(encoder[-1]))
    return encoder, decoder


def rms(x: Array) -> Array:
    return numpy.asarray(numpy.sqrt((x**2).mean(-1, keepdims=True) + 1e-5))


def streams_of_language_model(w: Parts, look: Look) -> list[Parts]:
    parts = {"embedding.token": w["embedding.weight"][list(look.encoded.target)]}
    found = [parts]
    for layer in range(2):
        name = f"decoder.{layer}"
        x = whole(parts) / rms(whole(parts)) * w[f"{name}.self_attention_residual.norm.weight"]
        parts = {**parts, **mixes(w, f"{name}.self_attention", x, x, 2, True, lambda x: rotated(x, 10000.0))}
        x = whole(parts) / rms(whole(parts)) * w[f"{name}.feed_forward_residual.norm.weight"]
        gate = linear(w, f"{name}.feed_forward.gate_projection", x)
        hidden = gate / (1 + numpy.exp(-gate)) * linear(w, f"{name}.feed_forward.up_projection", x)
        parts = {**parts, f"{name}.feed_forward": linear(w, f"{name}.feed_forward.down_projection", hidden)}
        found.append(parts)
    return found


def assert_parts(look: Look, stack: str, residual_streams: list[Parts]) -> None:
    for layers, expected in enumerate(residual_streams):
        given = decompose_residual(look, stack, layers)
        assert set(given.parts.labels("part")) == set(expected)
        for name, values in expected.items():
            numpy.testing.assert_allclose(given.parts.at(part=name).values, values, atol=CLOSE, err_msg=name)
        numpy.testing.assert_allclose(given.stream.values, whole(expected), atol=CLOSE)


def assert_read_out(look: Look, logits: list[Array]) -> None:
    """Compare lens and logits with what each layer says."""
    next_tokens = list(look.encoded.next_tokens)
    numpy.testing.assert_allclose(look.logits.values, logits[-1], atol=5 * CLOSE)
    found = logit_lens(look)
    for layer, expected in enumerate(logits):
        log_probs = log_softmax(expected)
        ours = found.next_log_probs.values[layer][: len(next_tokens)]
        numpy.testing.assert_allclose(ours, log_probs[range(len(next_tokens)), next_tokens], atol=5 * CLOSE)
        numpy.testing.assert_allclose(found.top_log_probs.values[layer, :, 0], log_probs.max(-1), atol=5 * CLOSE)
        entropy = -(numpy.exp(log_probs) * log_probs).sum(-1)
        numpy.testing.assert_allclose(found.entropy.values[layer], entropy, atol=5 * CLOSE)


def test_streams_of_a_post_norm_translator(weights_and_look_of_a_translator: tuple[Parts, Look]) -> None:
    w, look = weights_and_look_of_a_translator
    encoder, decoder = streams_of_translator(w, look)
    assert_parts(look, "encoder", encoder)
    assert_parts(look, "decoder", decoder)


def test_lens_and_effects_of_a_post_norm_translator(weights_and_look_of_a_translator: tuple[Parts, Look]) -> None:
    w, look = weights_and_look_of_a_translator
    _, decoder = streams_of_translator(w, look)
    rows = w["output_embedding.weight"]
    assert_read_out(look, [whole(parts) @ rows.T for parts in decoder])
    effect = direct_logit_attribution(look)
    for name, values in decoder[-1].items():
        expected = (values * rows[list(look.encoded.next_tokens)]).sum(-1)
        numpy.testing.assert_allclose(effect.at(part=name).values, expected, atol=5 * CLOSE, err_msg=name)


def test_score_parts_of_a_post_norm_translator(weights_and_look_of_a_translator: tuple[Parts, Look]) -> None:
    w, look = weights_and_look_of_a_translator
    for stack, side, ids in (("encoder", "source", look.encoded.source), ("decoder", "target", look.encoded.target)):
        content, position = embedded(w, side, ids).values()
        name = f"{stack}.0.self_attention"
        query, key = (
            {
                "content": heads_of(linear(w, f"{name}.{part}", content), 4),
                "position": heads_of(position @ w[f"{name}.{part}.weight"].T, 4),
            }
            for part in ("query", "key")
        )
        parts = decompose_scores(look, name).parts
        total = numpy.zeros(look[f"{name}.scores"].shape)
        for ours in query:
            for theirs in key:
                expected = query[ours] @ key[theirs].transpose(0, 2, 1) / 2.0  # √d_head
                numpy.testing.assert_allclose(parts[f"{ours}_{theirs}"].values, expected, atol=CLOSE)
                total += expected
        numpy.testing.assert_allclose(look[f"{name}.scores"].values, total, atol=CLOSE)


def test_streams_of_a_pre_norm_language_model(weights_and_look_of_a_language_model: tuple[Parts, Look]) -> None:
    w, look = weights_and_look_of_a_language_model
    assert_parts(look, "decoder", streams_of_language_model(w, look))


def test_lens_and_effects_of_a_pre_norm_language_model(
    weights_and_look_of_a_language_model: tuple[Parts, Look],
) -> None:
    w, look = weights_and_look_of_a_language_model
    residual_streams = streams_of_language_model(w, look)
    gain, rows = w["decoder_norm.weight"], w["embedding.weight"]
    assert_read_out(look, [whole(parts) / rms(whole(parts)) * gain @ rows.T for parts in residual_streams])
    next_tokens = list(look.encoded.next_tokens)
    effect = direct_logit_attribution(look)
    for name, values in residual_streams[-1].items():
        expected = ((values / rms(whole(residual_streams[-1])) * gain)[: len(next_tokens)] * rows[next_tokens]).sum(-1)
        numpy.testing.assert_allclose(effect.at(part=name).values, expected, atol=5 * CLOSE, err_msg=name)
    assert not effect.at(part="norm shifts").values.any()


def test_rotary_scores_by_distance(weights_and_look_of_a_language_model: tuple[Parts, Look]) -> None:

    w, look = weights_and_look_of_a_language_model
    first = streams_of_language_model(w, look)[0]["embedding.token"]
    x = first / rms(first) * w["decoder.0.self_attention_residual.norm.weight"]
    name = "decoder.0.self_attention"
    q, k = (heads_of(linear(w, f"{name}.{part}", x), 2) for part in ("query", "key"))
    at, of = 4, 2
    curve = scores_by_offset(look, name, at, of, [0, 2, 7])
    for place, offset in enumerate((0, 2, 7)):
        query = rotated(numpy.repeat(q[:, at : at + 1], offset + 1, axis=1), 10000.0)[:, offset]
        expected = (query * k[:, of]).sum(-1) / numpy.sqrt(8)
        numpy.testing.assert_allclose(curve.values[:, place], expected, atol=CLOSE)
    numpy.testing.assert_allclose(curve.values[:, 1], look[f"{name}.scores"].values[:, at, of], atol=CLOSE)
    weights = look[f"{name}.weights"].values
    mix = weighted_values(look, name, at).values
    values = heads_of(linear(w, f"{name}.value", x), 2)
    numpy.testing.assert_allclose(mix, weights[:, at, :, None] * values, atol=CLOSE)
