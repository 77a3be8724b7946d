"""Looking in changes nothing, changing a number changes the rest, and the table of names is the truth."""

import importlib.util
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from pellucid.inspection.taps import code_location, tap_names
from pellucid.layers.taps import SelectiveTap, TapInfo
from pellucid.models.decoder_only import DECODER_ONLY_TAPS, DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import ENCODER_DECODER_TAPS, EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

Build = Callable[..., EncoderDecoder]

SOURCE, TARGET = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]]), torch.tensor([[1, 9, 2], [1, 10, 11]])
CHOICES: list[dict[str, Any]] = [
    {},
    {"norm_placement": "post", "positions": "sinusoidal", "cross_positions": "none"},
    {"positions": "alibi", "n_kv_heads": 2, "activation": "swiglu", "norm": "rmsnorm"},
    {"positions": "none", "bias": False, "tie_embeddings": "none", "activation": "gelu"},
]
NAME = re.compile(
    r"(encoder|decoder)\.\d+\.(self_attention|cross_attention|feed_forward|residual)\.[a-z_]+"
    r"|(encoder|decoder)\.output|embedding\.(source|target)(_position)?|logits"
)


def recorded(model: EncoderDecoder) -> dict[str, Tensor]:
    seen: dict[str, Tensor] = {}

    def record(name: str, x: Tensor) -> Tensor:
        assert name not in seen
        seen[name] = x
        return x

    model(SOURCE, TARGET, record)
    return seen


def add(noise: Tensor, name: str, x: Tensor) -> Tensor:
    return x + noise


@pytest.fixture(scope="module")
def make_taps() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_taps", Path(__file__).parents[2] / "docs" / "make_taps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@torch.inference_mode()
def test_recorded_is_untapped_bit_for_bit(build: Build, choices: dict[str, Any]) -> None:
    model = build(**choices)
    seen = recorded(model)
    assert torch.equal(seen["logits"], model(SOURCE, TARGET))
    memory = model.encode(SOURCE)
    assert torch.equal(seen["encoder.output"], memory.states)
    assert torch.equal(seen["decoder.output"], model.decode(TARGET, memory))


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@torch.inference_mode()
def test_names_follow_the_grammar_and_do_not_depend_on_the_choices(build: Build, choices: dict[str, Any]) -> None:
    names = list(recorded(build(**choices)))
    assert [name for name in names if not NAME.fullmatch(name)] == []
    assert names == list(recorded(build()))


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@torch.inference_mode()
def test_every_number_can_be_changed_and_the_output_follows(build: Build, choices: dict[str, Any]) -> None:
    model = build(**choices)
    plain = model(SOURCE, TARGET)
    random = torch.Generator().manual_seed(1)
    for name, number in recorded(model).items():
        noise = torch.randn(number.shape or (16,), generator=random)  # a single 0 stands for no codes
        patch = SelectiveTap([name], partial(add, noise))
        assert not torch.equal(model(SOURCE, TARGET, patch), plain), name


@torch.inference_mode()
def test_a_number_that_is_changed_is_the_one_that_is_used(build: Build) -> None:
    """With a head's weights put on the second source token alone, its mix is the second value, exactly."""
    model = build()
    seen: dict[str, Tensor] = {}

    def look_at_second(name: str, x: Tensor) -> Tensor:
        if name == "decoder.1.cross_attention.weights":
            x = torch.zeros_like(x).index_fill(-1, torch.tensor([1]), 1.0)
        return seen.setdefault(name, x)

    model(SOURCE, TARGET, look_at_second)
    value, head_output = seen["decoder.1.cross_attention.value"], seen["decoder.1.cross_attention.head_output"]
    assert torch.equal(head_output, value[:, :, 1:2].expand_as(head_output))


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@torch.inference_mode()
def test_weights_are_distributions_over_what_may_be_seen(build: Build, choices: dict[str, Any]) -> None:
    seen = recorded(build(**choices))
    for name, weights in seen.items():
        if name.endswith(".weights"):
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]), atol=1e-6, rtol=0)
            if "encoder" in name or "cross" in name:
                assert (weights[1, :, :, 2:] == 0).all()  # the second source has two tokens
            else:
                assert (weights.triu(1) == 0).all()


@torch.inference_mode()
def test_pre_norm_parts_sum_to_the_stream_exactly(build: Build) -> None:
    seen = recorded(build())
    for stack, parts in (("encoder", ["self_attention"]), ("decoder", ["self_attention", "cross_attention"])):
        x = seen[f"embedding.{'source' if stack == 'encoder' else 'target'}"]
        x = x + seen[f"embedding.{'source' if stack == 'encoder' else 'target'}_position"]
        for layer in range(2):
            assert torch.equal(x, seen[f"{stack}.{layer}.residual.input"])
            for part in parts:
                x = x + seen[f"{stack}.{layer}.{part}.output"]
                assert torch.equal(x, seen[f"{stack}.{layer}.residual.after_{part}"])
            x = x + seen[f"{stack}.{layer}.feed_forward.output"]
            assert torch.equal(x, seen[f"{stack}.{layer}.residual.output"])


@torch.inference_mode()
def test_post_norm_streams_are_the_normalised_sum_of_the_parts(build: Build) -> None:
    model = build(norm_placement="post")
    seen = recorded(model)
    for layer, block in enumerate(model.decoder_blocks()):
        x = seen[f"decoder.{layer}.residual.input"]
        for part, after in (
            ("self_attention", "after_self_attention"),
            ("cross_attention", "after_cross_attention"),
            ("feed_forward", "output"),
        ):
            around = getattr(block, f"{part}_residual")
            x = around.norm(x + seen[f"decoder.{layer}.{part}.output"])
            assert torch.equal(x, seen[f"decoder.{layer}.residual.{after}"])


@torch.inference_mode()
def test_only_the_asked_names_are_handed_over(build: Build) -> None:
    model = build()
    seen: dict[str, Tensor] = {}
    names = ["decoder.0.cross_attention.weights", "encoder.1.residual.output", "logits"]
    logits = model(SOURCE, TARGET, SelectiveTap(names, lambda name, x: seen.setdefault(name, x)))
    everything = recorded(model)
    assert sorted(seen) == sorted(names)
    assert all(torch.equal(seen[name], everything[name]) for name in names)
    assert torch.equal(logits, everything["logits"])


@torch.inference_mode()
def test_a_step_with_a_cache_taps_what_the_whole_target_taps(build: Build) -> None:
    """All but the keys and values of the source, which are looked up once; a single hypothesis sees its own past."""
    model = build()
    memory = model.encode(SOURCE)
    whole: dict[str, Tensor] = {}
    model.logits(model.decode(TARGET, memory, whole.setdefault), whole.setdefault)
    cache, last = model.start_cache(memory, 1), dict[str, Tensor]()
    for step in range(TARGET.shape[1]):
        last = {}
        model.logits(model.decode_step(TARGET[:, step : step + 1], cache, last.setdefault), last.setdefault)
    assert set(whole) - set(last) == {f"decoder.{n}.cross_attention.{kv}" for n in range(2) for kv in ("key", "value")}
    for name in ("decoder.1.self_attention.weights", "decoder.1.cross_attention.weights", "logits"):
        query = (slice(None),) * (whole[name].ndim - 2) + (slice(-1, None),)
        torch.testing.assert_close(last[name], whole[name][query], atol=2e-5, rtol=2e-5)


def test_the_table_of_taps_is_up_to_date(make_taps: ModuleType) -> None:
    assert make_taps.FILE.read_text(encoding="utf-8") == make_taps.render(), "run: python docs/make_taps.py"


SIZES = {"batch": 3, "heads": 4, "kv_heads": 2, "d_head": 6, "d_model": 24, "d_ff": 40, "vocab_size": 17}
SMALL: dict[str, Any] = {"d_model": 24, "n_heads": 4, "n_kv_heads": 2, "d_ff": 40, "positions": "sinusoidal"}


@torch.no_grad()
def run_translator() -> dict[str, Tensor]:
    """Every axis has a size of its own, so that a wrong or missing name of an axis shows."""
    config = EncoderDecoderConfig(encoder_layers=2, decoder_layers=2, cross_positions="none", **SMALL)
    seen: dict[str, Tensor] = {}
    model = EncoderDecoder(config, 17, 17, pad_id=0).eval()
    model(torch.ones(3, 7, dtype=torch.long), torch.ones(3, 5, dtype=torch.long), seen.setdefault)
    return seen


@torch.no_grad()
def run_language_model() -> dict[str, Tensor]:
    seen: dict[str, Tensor] = {}
    model = DecoderOnly(DecoderOnlyConfig(n_layers=2, **SMALL), 17, pad_id=0).eval()
    model(torch.ones(3, 7, dtype=torch.long), seen.setdefault)
    return seen


@pytest.mark.parametrize(
    ("run", "taps"), [(run_translator, ENCODER_DECODER_TAPS), (run_language_model, DECODER_ONLY_TAPS)]
)
def test_declared_taps_are_those_of_a_run_with_their_axes(
    run: Callable[[], dict[str, Tensor]], taps: tuple[TapInfo, ...]
) -> None:
    recorded, declared = run(), {tap.name: tap for tap in taps}
    assert len(declared) == len(taps)
    assert set(declared) == {re.sub(r"\.\d+\.", ".N.", name) for name in recorded}
    for name, x in recorded.items():
        axes = declared[re.sub(r"\.\d+\.", ".N.", name)].axes.split()
        query = 7 if run is run_language_model or name.startswith("encoder") else 5
        key = 7 if "cross_attention" in name else query
        sizes = {**SIZES, "source": 7, "target": 5, "query": query, "key": key}
        assert [sizes[axis] for axis in axes] == list(x.shape), name


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_every_tap_is_found_in_the_code(activation: str) -> None:
    translator = EncoderDecoder(EncoderDecoderConfig(**SMALL, activation=activation, cross_positions="none"), 17, 17, 0)
    language_model = DecoderOnly(DecoderOnlyConfig(**SMALL, activation=activation), 17, 0)
    for model in (translator, language_model):
        for name in tap_names(model):
            file, line = code_location(model, name).split("  ")
            path, number = file.split(":")
            assert line in (Path(__file__).parents[2] / path).read_text(encoding="utf-8").splitlines()[int(number) - 1]
            assert "tap(" in line
    hidden = code_location(translator, "decoder.1.feed_forward.hidden")
    assert ("silu" in hidden) == (activation == "swiglu")
