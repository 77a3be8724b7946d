"""The decoder-only model: its equation, its cache, padding, packing, taps, parameters, files."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from pellucid.errors import UserError
from pellucid.layers.masks import causal
from pellucid.layers.position_scheme import PositionScheme
from pellucid.layers.rotary import rotary_frequencies, scaled_frequencies
from pellucid.layers.taps import SelectiveTap
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig, RotaryScaling
from pellucid.models.parameter_count import count_parameters
from pellucid.models.weights import load_decoder_only, save_weights

POSITIONS = get_args(PositionScheme)
SIZES: dict[str, Any] = {"d_model": 16, "n_heads": 4, "d_ff": 24, "n_layers": 2, "max_positions": 64}
IDS = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [9, 3, 9, 4, 1, 2, 5]])


def built(pad_id: int | None = 0, vocab_size: int = 13, **choices: Any) -> DecoderOnly:
    """Return a small model with random weights everywhere, so that no zero bias or unit scale hides a fault."""
    model = DecoderOnly(DecoderOnlyConfig(**{**SIZES, **choices}), vocab_size, pad_id).eval()
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=random)
    return model


def assert_close(one: Tensor, other: Tensor, which: object = "") -> None:
    """Allow for float32 rounding of logits of size about 1 to 10: the cache sums in another order."""
    torch.testing.assert_close(one, other, atol=5e-5, rtol=5e-5, msg=lambda text: f"{which} {text}")


def extended(model: DecoderOnly, ids: Tensor, parts: Sequence[int], padding: Tensor | None = None) -> Tensor:
    """Return the logits of a text that is given in parts, one after another."""
    cache = model.start_cache(room=2, padding=padding)
    return torch.cat([model.logits(model.extend(part, cache)) for part in ids.split(list(parts), dim=1)], dim=1)


CHOICES: dict[str, list[Any]] = {
    "norm": ["layernorm", "rmsnorm"],
    "norm_placement": ["pre", "post"],
    "activation": ["relu", "gelu", "gelu_tanh", "swiglu"],
    "n_kv_heads": [None, 2],
    "d_head": [None, 6],
    "qk_norm": [True, False],
    "bias": [True, False],
    "tie_embeddings": [True, False],
}


@pytest.mark.parametrize("positions", POSITIONS)
@torch.inference_mode()
def test_cached_is_uncached_for_every_choice(positions: str) -> None:
    values = list(itertools.product(*CHOICES.values()))
    for choice in values[:: 5 if positions == "rope" else 17]:  # steps without a common factor with the choices' counts
        choices = dict(zip(CHOICES, choice, strict=True), positions=positions, n_layers=1)
        model = built(**choices)
        assert_close(extended(model, IDS, (4, 1, 2)), model(IDS), choices)


@pytest.mark.parametrize("positions", POSITIONS)
@settings(max_examples=15)
@given(parts=st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_any_split_of_a_text_gives_the_same(positions: str, parts: list[int]) -> None:
    ids = torch.randint(1, 13, (2, sum(parts)), generator=torch.Generator().manual_seed(len(parts)))
    with torch.inference_mode():
        model = built(positions=positions, n_kv_heads=2)
        assert_close(extended(model, ids, parts), model(ids))


@pytest.mark.parametrize("positions", POSITIONS)
@torch.inference_mode()
def test_texts_of_unequal_lengths_give_what_they_give_alone(positions: str) -> None:
    model = built(positions=positions)
    short = IDS[1:, :4]
    padded = torch.cat((IDS[:1], torch.cat((torch.zeros(1, 3, dtype=torch.long), short), dim=1)))
    found = extended(model, padded, (2, 3, 2), padding=torch.tensor([0, 3]))
    assert found.isfinite().all()
    assert_close(found[0], model(IDS[:1])[0])
    assert_close(found[1, 3:], model(short)[0])


@pytest.mark.parametrize("positions", POSITIONS)
@torch.inference_mode()
def test_padding_behind_a_text_changes_nothing_and_is_finite(positions: str) -> None:
    model = built(positions=positions)
    found = model(torch.tensor([[5, 7, 0, 0], [5, 7, 3, 2]]))
    assert found.isfinite().all()
    assert_close(found[0, :2], model(torch.tensor([[5, 7]]))[0])
    assert model(torch.zeros(1, 3, dtype=torch.long)).isfinite().all()  # nothing but padding


@torch.inference_mode()
def test_without_a_padding_id_every_id_is_a_token() -> None:
    model = built(pad_id=None)
    zero, other = model(torch.tensor([[0, 5]])), model(torch.tensor([[1, 5]]))
    assert not torch.allclose(zero[0, 1], other[0, 1])


@pytest.mark.parametrize("positions", POSITIONS)
@torch.inference_mode()
def test_a_future_token_changes_no_past_logits(positions: str) -> None:
    model = built(positions=positions)
    changed = IDS.clone()
    changed[:, 4] = 11
    assert torch.equal(model(IDS)[:, :4], model(changed)[:, :4])
    assert not torch.allclose(model(IDS)[:, 4:], model(changed)[:, 4:])


@pytest.mark.parametrize("positions", POSITIONS)
@torch.inference_mode()
def test_documents_side_by_side_in_a_window_are_what_each_is_alone(positions: str) -> None:
    model = built(positions=positions)
    first, second = torch.tensor([[3, 4, 5]]), torch.tensor([[9, 8, 7, 6]])
    piece = torch.tensor([0, 0, 0, 1, 1, 1, 1])
    may_attend = causal(7) & (piece[:, None] == piece)[None, None]
    where = torch.tensor([[0, 1, 2, 0, 1, 2, 3]])
    found = model(torch.cat((first, second), dim=1), may_attend=may_attend, positions=where)
    assert_close(found[:, :3], model(first))
    assert_close(found[:, 3:], model(second))


@torch.inference_mode()
def test_a_layer_is_the_papers_equation() -> None:
    """One pre-norm block without positions, worked out by hand: x + attention(norm x), then + feed-forward(norm x)."""
    model = built(n_layers=1, positions="none", norm="layernorm", activation="relu", bias=True, tie_embeddings=False)
    weights = dict(model.named_parameters())

    def linear(name: str, x: Tensor) -> Tensor:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normed(name: str, x: Tensor) -> Tensor:
        scaled = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embedding.weight"][IDS]
    y = normed("decoder.0.self_attention_residual.norm", x)
    q, k, v = (linear(f"decoder.0.self_attention.{part}", y).unflatten(-1, (4, 4)).transpose(1, 2)
               for part in ("query", "key", "value"))  # fmt: skip
    scores = (q @ k.transpose(-1, -2) / 2).masked_fill(~causal(7), -math.inf)
    head_output = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
    x = x + linear("decoder.0.self_attention.output", head_output)
    y = normed("decoder.0.feed_forward_residual.norm", x)
    hidden = linear("decoder.0.feed_forward.up_projection", y).relu()
    x = x + linear("decoder.0.feed_forward.down_projection", hidden)
    assert_close(model(IDS), normed("decoder_norm", x) @ weights["output_embedding.weight"].T)


@torch.inference_mode()
def test_heads_are_normalised_before_they_are_turned() -> None:
    """The mean square of a head is that of its norm's weight, before the turn and after, which keeps lengths."""
    seen: dict[str, Tensor] = {}
    model = built(qk_norm=True, norm_epsilon=1e-12)
    for name, weight in model.named_parameters():
        if name.endswith("query_norm.weight"):
            weight.fill_(1.0)
    model(IDS, seen.setdefault)
    query = seen["decoder.1.self_attention.query"]
    torch.testing.assert_close(query.square().mean(-1), torch.ones(query.shape[:-1]), atol=1e-5, rtol=1e-5)


def test_taps_record_all_and_a_tapped_run_is_an_untapped_one() -> None:
    model, seen = built(positions="learned"), dict[str, Tensor]()
    with torch.inference_mode():
        logits = model(IDS, seen.setdefault)
        assert torch.equal(logits, model(IDS))
        assert list(seen)[:2] == ["embedding.token", "embedding.position"]
        assert list(seen)[-2:] == ["decoder.output", "logits"]
        assert seen["decoder.1.self_attention.weights"].shape == (2, 4, 7, 7)
        steps = dict[str, Tensor]()
        cache = model.start_cache()
        for part in IDS.split([6, 1], dim=1):
            steps = {}
            model.extend(part, cache, steps.setdefault)
        assert_close(steps["decoder.1.self_attention.weights"], seen["decoder.1.self_attention.weights"][:, :, 6:])


@torch.inference_mode()
def test_a_tap_changes_what_the_model_goes_on_with() -> None:
    model = built()
    silenced = SelectiveTap(["decoder.0.self_attention.output"], lambda name, x: torch.zeros_like(x))
    with torch.no_grad():
        model.decoder[0].get_parameter("self_attention.output.weight").zero_()
    expected = model(IDS)
    assert_close(built()(IDS, silenced), expected)


@torch.inference_mode()
def test_rows_are_chosen_and_copied_and_a_cache_is_cut() -> None:
    model = built(positions="learned")
    cache = model.start_cache()
    model.extend(IDS[:, :4], cache)
    cache.select(torch.tensor([1, 1, 0]))
    assert_close(model.logits(model.extend(IDS[[1, 1, 0], 4:], cache)), model(IDS[[1, 1, 0]])[:, 4:])
    cache.truncate(2)
    assert cache.length == 2
    assert_close(model.logits(model.extend(IDS[[1, 1, 0], 2:], cache)), model(IDS[[1, 1, 0]])[:, 2:])
    assert cache.nbytes > 0


@torch.inference_mode()
def test_learned_positions_end_with_the_context() -> None:
    model = built(positions="learned", max_positions=6)
    with pytest.raises(UserError, match="7 tokens"):
        model(IDS)
    cache = model.start_cache()
    model.extend(IDS[:, :6], cache)
    with pytest.raises(UserError, match="7 tokens"):
        model.extend(IDS[:, 6:], cache)


def test_low_frequencies_are_slowed_and_high_ones_stay() -> None:
    """Llama 3.1: factor 8, 1 and 4 turns within 8,192 positions; the three ranges by their definition."""
    plain = rotary_frequencies(128, 500_000.0)
    slowed = scaled_frequencies(plain, 8.0, 1.0, 4.0, 8192)
    turns = 8192 * plain / (2 * math.pi)
    assert torch.equal(slowed[turns > 4], plain[turns > 4])
    assert torch.equal(slowed[turns < 1], plain[turns < 1] / 8)
    between = (turns > 1) & (turns < 4)
    share = (turns[between] - 1) / 3
    torch.testing.assert_close(slowed[between], share * plain[between] + (1 - share) * plain[between] / 8)
    assert between.any()


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"tie_embeddings": False, "bias": True, "norm": "layernorm", "positions": "learned", "norm_placement": "post"},
        {"n_kv_heads": 2, "d_head": 6, "qkv_bias": True, "qk_norm": True},
        {"activation": "relu", "bias": True},
    ],
)
def test_the_parameters_are_as_many_as_counted(choices: dict[str, Any]) -> None:
    model = built(**choices)
    assert count_parameters(model.config, 13) == sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"d_model": 18}, "set n_heads to one of 1, 2, 3, 6, 9, 18, or give d_head"),
        ({"n_kv_heads": 3}, "set n_kv_heads to one of 1, 2, 4"),
        ({"d_head": 5}, "heads of even width"),
        ({"positions": "sinusoidal", "d_model": 9, "n_heads": 3}, "even d_model"),
        ({"positions": "alibi", "rope_scaling": {"factor": 8, "original_positions": 64}}, "leave it out"),
        ({"rope_scaling": {"factor": 8, "original_positions": 64, "low_frequency": 5}}, "not below high_frequency"),
        ({"layers": 3}, "Extra inputs"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        DecoderOnlyConfig(**{**SIZES, **choices})


def test_a_model_comes_back_from_its_files(tmp_path: Path) -> None:
    scaling = RotaryScaling(factor=4, original_positions=16)
    model = built(rope_scaling=scaling, tie_embeddings=False)
    save_weights(model, tmp_path / "model.safetensors")
    config = {"model": model.config.model_dump(mode="json"), "vocab_size": 13, "pad_id": 0}
    with torch.inference_mode():
        assert torch.equal(load_decoder_only(config, tmp_path / "model.safetensors")(IDS), model(IDS))
    with pytest.raises(UserError, match="pad_id is missing"):
        without = {name: value for name, value in config.items() if name != "pad_id"}
        load_decoder_only(without, tmp_path / "model.safetensors")
    with pytest.raises(UserError, match=r"embedding\.weight has shape \[13, 16\], expected \[14, 16\]"):
        load_decoder_only({**config, "vocab_size": 14}, tmp_path / "model.safetensors")
