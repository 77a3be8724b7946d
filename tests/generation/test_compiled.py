"""The compiled decoder beside the model in PyTorch, whose numbers it must give."""

from typing import Any, get_args

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pellucid.errors import UserError
from pellucid.generation.compiled.decoder import CompiledDecoder
from pellucid.generation.compiled.packing import pack
from pellucid.generation.compiled.program import Program, compile_model
from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig, RotaryScaling

VOCAB = 53
IDS = [7, 3, 52, 0, 11, 11, 30, 4, 9, 1, 45, 2, 8, 19, 27, 33, 5, 6, 40, 21, 17, 50, 29, 13, 10, 22, 38, 44]
IDS += [51, 16, 3, 7, 12, 24, 36, 48]  # more than pass through at once

# Rounding: sums of some hundred products in float32, in another order.
CLOSE: Any = {"rtol": 1e-4, "atol": 1e-4}

SHAPES: dict[str, dict[str, Any]] = {
    "Llama": {"n_kv_heads": 2},
    "Llama 3": {"rope_scaling": RotaryScaling(factor=8.0, original_positions=16), "tie_embeddings": False},
    "Qwen2": {"qkv_bias": True, "n_kv_heads": 1},
    "Qwen3": {"qk_norm": True, "d_head": 20, "n_kv_heads": 2},
    "GPT-2": {"positions": "learned", "norm": "layernorm", "activation": "gelu_tanh", "bias": True},
    "exact GELU, ALiBi": {"positions": "alibi", "norm": "layernorm", "activation": "gelu", "bias": True},
    "the paper's": {"positions": "sinusoidal", "norm": "layernorm", "norm_placement": "post", "activation": "relu"},
    "no positions, scaled": {"positions": "none", "scale_embeddings": True, "tie_embeddings": False},
}
UNPAIRED = set(get_args(PositionScheme)) - {shape.get("positions", "rope") for shape in SHAPES.values()}
SHAPES |= {scheme: {"positions": scheme} for scheme in sorted(UNPAIRED)}


def small_model(**choices: Any) -> DecoderOnly:
    """Return a model with all its weights drawn, sizes that fill no lane evenly among them."""
    settings = {"d_model": 24, "n_heads": 4, "d_ff": 50, "n_layers": 2, "max_positions": 64} | choices
    model = DecoderOnly(DecoderOnlyConfig(**settings), VOCAB, None).eval()
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.3, generator=random)
    return model


def expected_logits(model: DecoderOnly, ids: list[int]) -> numpy.ndarray[Any, Any]:
    with torch.inference_mode():
        logits: numpy.ndarray[Any, Any] = model(torch.tensor([ids]))[0, -1].numpy()
    return logits


@pytest.fixture(scope="module")
def llama() -> DecoderOnly:
    return small_model(n_kv_heads=2)


@pytest.fixture(scope="module")
def program(llama: DecoderOnly) -> Program:
    return compile_model(llama, "int8")


@pytest.mark.parametrize("choices", SHAPES.values(), ids=SHAPES.keys())
def test_it_gives_the_logits_of_the_model(choices: dict[str, Any]) -> None:
    model = small_model(**choices)
    decoder = CompiledDecoder(compile_model(model, "float32"))
    numpy.testing.assert_allclose(decoder.prefill([IDS])[0], expected_logits(model, IDS), **CLOSE)
    numpy.testing.assert_allclose(decoder.step([20])[0], expected_logits(model, [*IDS, 20]), **CLOSE)
    numpy.testing.assert_allclose(decoder.prefill([[3]])[0], expected_logits(model, [3]), **CLOSE)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_with_rounded_weights_it_gives_the_logits_of_the_model_with_these_weights(precision: Any) -> None:
    model = small_model(n_kv_heads=2, d_model=80, d_head=16, d_ff=150)  # rows of one block, of two, of three
    decoder = CompiledDecoder(compile_model(model, precision))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.copy_(rounded(weight, precision))
    numpy.testing.assert_allclose(decoder.prefill([IDS])[0], expected_logits(model, IDS), **CLOSE)


def rounded(weight: torch.Tensor, precision: str) -> torch.Tensor:
    if precision == "bfloat16":
        return weight.bfloat16().float()
    scales = [block.abs().amax(1, keepdim=True) / 127 for block in weight.split(64, dim=1)]
    blocks = zip(weight.split(64, dim=1), scales, strict=True)
    return torch.cat([(block / scale).round() * scale for block, scale in blocks], dim=1)


@given(cuts=st.sets(st.integers(1, len(IDS) - 1)))
def test_any_division_of_a_text_gives_the_same_bits(program: Program, cuts: set[int]) -> None:
    whole = CompiledDecoder(program).prefill([IDS])
    decoder = CompiledDecoder(program)
    first, *others = zip([0, *sorted(cuts)], [*sorted(cuts), len(IDS)], strict=True)
    logits = decoder.prefill([IDS[first[0] : first[1]]])
    for start, stop in others:
        logits = decoder.extend([IDS[start:stop]])
    assert logits.tobytes() == whole.tobytes()


@given(texts=st.lists(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=40), min_size=1, max_size=6))
def test_neighbours_do_not_change_a_bit(program: Program, texts: list[list[int]]) -> None:
    decoder, alone = CompiledDecoder(program), CompiledDecoder(program)
    together = decoder.prefill(texts), decoder.step([len(text) for text in texts])
    for row, text in enumerate(texts):
        assert together[0][row].tobytes() == alone.prefill([text]).tobytes()
        assert together[1][row].tobytes() == alone.step([len(text)]).tobytes()


@given(rows=st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_any_of_the_texts_go_on_any_number_of_times(program: Program, rows: list[int]) -> None:
    texts = [IDS[:5], IDS[5:20], IDS[20:23], IDS[:5]]
    decoder, alone = CompiledDecoder(program), CompiledDecoder(program)
    decoder.prefill(texts)
    decoder.select(rows)
    logits = decoder.step([9] * len(rows))
    for row, number in enumerate(rows):
        alone.prefill([texts[number]])
        assert logits[row].tobytes() == alone.step([9]).tobytes()


def test_any_number_of_threads_gives_the_same_bits(program: Program) -> None:
    one, three = CompiledDecoder(program, threads=1), CompiledDecoder(program, threads=3)
    assert one.prefill([IDS, [5]]).tobytes() == three.prefill([IDS, [5]]).tobytes()
    assert one.step([4, 6]).tobytes() == three.step([4, 6]).tobytes()


def test_what_is_cut_off_is_forgotten(program: Program) -> None:
    decoder = CompiledDecoder(program)
    expected = decoder.prefill([IDS])
    decoder.extend([[1, 2, 3]])
    decoder.truncate(len(IDS) - 1)
    assert decoder.step(IDS[-1:]).tobytes() == expected.tobytes()


def test_the_cache_grows_with_the_text() -> None:
    model = small_model(max_positions=700)
    ids = [(7 * i) % VOCAB for i in range(600)]
    decoder = CompiledDecoder(compile_model(model, "float32"))
    decoder.prefill([ids[:200]])
    for number in ids[200:]:
        logits = decoder.step([number])
    numpy.testing.assert_allclose(logits[0], expected_logits(model, ids), **CLOSE)


def test_a_text_beyond_the_context_is_refused(program: Program) -> None:
    decoder = CompiledDecoder(program)
    decoder.prefill([IDS])
    with pytest.raises(UserError, match="65 tokens, the model reads 64"):
        decoder.extend([[1] * (65 - len(IDS))])


@pytest.mark.parametrize("ids", [[], [-1], [VOCAB]])
def test_an_id_that_is_none_is_refused(program: Program, ids: list[int]) -> None:
    with pytest.raises(UserError, match="expected ids below 53"):
        CompiledDecoder(program).prefill([ids])


@given(rows=st.integers(1, 9), columns=st.integers(1, 150), seed=st.integers(0, 99))
def test_eight_bits_are_off_by_half_a_step_at_most(rows: int, columns: int, seed: int) -> None:
    weight = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    weight[0] = 0
    packed = pack(weight, "int8")
    wide = packed.weights.transpose(0, 2, 1, 3).reshape(packed.groups * 4, -1)
    scales = packed.scales.transpose(0, 2, 1).reshape(packed.groups * 4, -1).repeat(64, axis=1)[:, : wide.shape[1]]
    restored = wide.astype(numpy.float32) * scales
    step = scales[:rows, :columns] * 0.5001  # a float's rounding more than half
    assert (numpy.abs(restored[:rows, :columns] - weight.numpy()) <= step).all()
    largest = [block.abs().amax(1).numpy() / 127 for block in weight[1:].split(64, dim=1)]
    numpy.testing.assert_allclose(scales[1:rows, ::64].T, largest, rtol=1e-6)
    assert not restored[rows:].any() and not restored[:, columns:].any()
