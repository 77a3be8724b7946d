"""First weights: a function of the seed; cross-attention that hands on; rows that know their translations."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from pellucid.alignment.lexicon import FitReport, Lexicon
from pellucid.layers.taps import SelectiveTap
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.initialise import init_from_lexicon, init_identity_cross_attention, init_weights

Build = Callable[..., EncoderDecoder]


def weights(model: EncoderDecoder) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


@pytest.mark.parametrize("positions", ["rope", "learned"])
def test_weights_are_a_function_of_the_seed_alone(build: Build, positions: str) -> None:
    models = [build(seed=n, positions=positions, tie_embeddings="none") for n in range(3)]
    for model, seed in zip(models, (7, 7, 8), strict=True):
        torch.manual_seed(seed * 100 + len(models))
        init_weights(model, seed, residual_scale=0.5)
        init_identity_cross_attention(model, seed)
        torch.rand(3)
    one, same, other = map(weights, models)
    drawn = [name for name in one if "norm" not in name]
    assert all(torch.equal(one[name], same[name]) for name in drawn)
    assert [name for name in drawn if torch.equal(one[name], other[name]) and "bias" not in name] == []
    assert all((one[name] == 0).all() for name in drawn if "bias" in name)


def test_drawing_leaves_the_global_generator_alone(build: Build) -> None:
    model = build()
    torch.manual_seed(1)
    expected = torch.rand(2)
    torch.manual_seed(1)
    init_weights(model, 3, residual_scale=1.0)
    init_identity_cross_attention(model, 3)
    assert torch.equal(torch.rand(2), expected)


def test_matrices_are_drawn_as_glorot_says(build: Build) -> None:
    """Xavier-uniform: within ±√(6 / (fan in + fan out)), of variance 2 / (fan in + fan out)."""
    model = build(d_model=64, d_ff=128)
    init_weights(model, 1, residual_scale=0.5)
    for name, weight in weights(model).items():
        if name.endswith(("query.weight", "up_projection.weight")):
            bound = (6 / sum(weight.shape)) ** 0.5
            assert weight.abs().max() <= bound
            assert abs(weight.std().item() / (bound / 3**0.5) - 1) < 0.05  # of at least 4,096 numbers
        if name.endswith(("output.weight", "down_projection.weight")):
            assert weight.abs().max() <= 0.5 * (6 / sum(weight.shape)) ** 0.5


def test_embedding_rows_have_norm_about_one(build: Build) -> None:
    model = build(d_model=256, vocab_size=200)
    init_weights(model, 1, residual_scale=0.5)
    norms = model.target_embedding.weight.norm(dim=1)
    assert abs(norms.mean().item() - 1) < 0.02
    assert norms.std() < 0.1


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_output_times_value_is_the_identity_on_what_the_values_keep(build: Build, kv_heads: int) -> None:
    """With all heads O·V = 1; with fewer heads of values it is a projection of that many directions."""
    model = build(n_kv_heads=kv_heads)
    init_identity_cross_attention(model, 5)
    for block in model.decoder_blocks():
        attention = block.cross_attention
        value = attention.value.weight.view(kv_heads, 4, 16).repeat_interleave(4 // kv_heads, dim=0).flatten(0, 1)
        through = attention.output.weight @ value
        torch.testing.assert_close(through @ through, through, atol=1e-5, rtol=0)
        torch.testing.assert_close(through, through.T, atol=1e-5, rtol=0)
        assert abs(torch.trace(through).item() - 4 * kv_heads) < 1e-4
        if kv_heads == 4:
            torch.testing.assert_close(through, torch.eye(16), atol=1e-5, rtol=0)
    ways = [block.cross_attention.value.weight for block in model.decoder_blocks()]
    assert not torch.allclose(ways[0], ways[1], atol=0.1)


def test_what_is_attended_to_arrives_as_it_is(build: Build) -> None:
    model = build()
    init_weights(model, 1, residual_scale=0.5)
    init_identity_cross_attention(model, 1)
    memory = model.encode(torch.tensor([[5]]))  # one token to look at
    seen: dict[str, Tensor] = {}
    names = [f"decoder.{n}.cross_attention.output" for n in range(2)]
    model.decode(torch.tensor([[1, 3]]), memory, SelectiveTap(names, lambda name, x: seen.setdefault(name, x)))
    for name in names:
        torch.testing.assert_close(seen[name], memory.states.expand(1, 2, 16), atol=1e-5, rtol=1e-5)


def lexicon(rows: list[dict[int, float]], target_vocab_size: int) -> Lexicon:
    """Return a lexicon of these rows, the last of them that of the empty word."""
    return Lexicon(
        row_starts=numpy.cumsum([0, *(len(row) for row in rows)], dtype=numpy.int64),
        columns=numpy.array([column for row in rows for column in row], dtype=numpy.int32),
        probabilities=numpy.array([p for row in rows for p in row.values()], dtype=numpy.float32),
        source_counts=numpy.ones(len(rows) - 1, dtype=numpy.int64),
        target_vocab_size=target_vocab_size,
        diagonal_tension=6.0,
        null_probability=0.08,
        report=FitReport(pairs=0, used=0, blank=0, long=0, sampled=0, target_tokens=0, log_likelihoods=()),
    )


# 0 translates to 3 and 4 and, hardly, to 1; 1 to 2; 2 has translations so many that none is likely; 3 has none at all.
ROWS: list[dict[int, float]] = [{1: 0.01, 3: 0.66, 4: 0.33}, {2: 0.5}, {j: 0.015 for j in range(5)}, {}, {}, {0: 0.9}]


def counts(*numbers: float) -> NDArray[numpy.float64]:
    return numpy.array(numbers, dtype=numpy.float64)


@pytest.mark.parametrize("tied", ["output", "none"])
def test_source_rows_start_as_mixtures_of_their_translations(tied: str) -> None:
    model = small(tie_embeddings=tied)
    before = weights(model)
    target = F.normalize(before["target_embedding.weight"], dim=1)
    source = F.normalize(before["source_embedding.weight"], dim=1)
    init_from_lexicon(model, lexicon(ROWS, 5), counts(1, 1, 1, 1, 1), counts(1, 1, 1, 1, 1))
    expected = torch.stack(
        (F.normalize(target[3] * 2 / 3 + target[4] / 3, dim=0), target[2], source[2], source[3], source[4])
    )
    torch.testing.assert_close(model.source_embedding.weight.detach(), expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(model.target_embedding.weight.detach(), target, atol=1e-6, rtol=1e-5)


def test_one_matrix_mixes_by_the_share_of_the_source() -> None:
    """Id 0 stands three times in the source and once in the target: three quarters mixture, one quarter its own."""
    model = small(tie_embeddings="all")
    own = F.normalize(weights(model)["target_embedding.weight"], dim=1)
    init_from_lexicon(model, lexicon(ROWS, 5), counts(3, 0, 1e9, 0, 5), counts(1, 8, 0, 0, 5))
    mixture = F.normalize(own[3] * 2 / 3 + own[4] / 3, dim=0)
    share = (3 + 1e-3) / (4 + 2e-3)
    expected = torch.stack((F.normalize(share * mixture + (1 - share) * own[0], dim=0), own[1], own[2], own[3], own[4]))
    # Counts are smoothed by 0.001, which moves id 1, never seen in the source, by one part in 8,000.
    torch.testing.assert_close(model.target_embedding.weight.detach(), expected, atol=5e-4, rtol=0)


@pytest.mark.parametrize("tied", ["all", "output", "none"])
def test_every_row_has_norm_one_and_a_source_token_votes_for_its_translation(tied: str) -> None:
    model = small(tie_embeddings=tied)
    init_from_lexicon(model, lexicon(ROWS, 5), counts(9, 9, 1e9, 0, 0), counts(0, 0, 0, 9, 9))
    for matrix in (model.source_embedding, model.target_embedding):
        torch.testing.assert_close(matrix.weight.norm(dim=1), torch.ones(5), atol=1e-5, rtol=0)
    votes = model.source_embedding.weight @ model.target_embedding.weight.T
    assert votes[0, [1, 2, 3, 4]].argmax() == 2  # id 3


def small(**choices: Any) -> EncoderDecoder:
    model = EncoderDecoder(EncoderDecoderConfig(d_model=16, d_ff=16, **choices), 5, 5, pad_id=0)
    init_weights(model, 2, residual_scale=0.5)
    return model
