"""The whole model: what must change nothing, what must change something."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pellucid.errors import UserError
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

Build = Callable[..., EncoderDecoder]

POSITIONS: list[dict[str, Any]] = [
    {"positions": "sinusoidal", "cross_positions": "none", "norm_placement": "post"},
    {"positions": "learned", "cross_positions": "none", "activation": "gelu"},
    {"positions": "rope", "cross_positions": "rope", "n_kv_heads": 2},
    {"positions": "alibi", "cross_positions": "none", "norm": "rmsnorm", "activation": "swiglu"},
    {"positions": "none", "cross_positions": "rope", "bias": False},
]


def assert_close(one: Tensor, other: Tensor) -> None:
    """Allow for sums of 16 to 24 products of size about 1, in another order when a neighbour changes the shapes."""
    torch.testing.assert_close(one, other, atol=2e-5, rtol=2e-5)


sentences = st.lists(st.integers(1, 12), min_size=1, max_size=9)


def padded(rows: list[list[int]], more: int = 0) -> Tensor:
    width = max(map(len, rows)) + more
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


@pytest.mark.parametrize("choices", POSITIONS, ids=lambda c: c["positions"])
@settings(max_examples=15)
@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4), st.integers(0, 3), st.randoms())
def test_batch_order_and_padding_change_nothing(
    build: Build, choices: dict[str, Any], pairs: list[tuple[list[int], list[int]]], more: int, random: Any
) -> None:
    model = MODELS.setdefault(str(choices), build(**choices))
    random.shuffle(pairs)
    together = model(padded([s for s, _ in pairs], more), padded([t for _, t in pairs], more))
    for row, (source, target) in enumerate(pairs):
        alone = model(torch.tensor([source]), torch.tensor([target]))[0]
        assert_close(together[row, : len(target)], alone)


MODELS: dict[str, EncoderDecoder] = {}


@pytest.mark.parametrize("choices", POSITIONS, ids=lambda c: c["positions"])
def test_a_state_has_no_gradient_to_later_target_tokens(build: Build, choices: dict[str, Any]) -> None:
    """∂ state_t / ∂ row_s = 0, exactly, for s > t; and not 0 for s ≤ t."""
    model = build(**choices)
    with torch.no_grad():
        memory = model.encode(torch.tensor([[4, 5, 6]]))
    for t in range(4):
        rows: list[Tensor] = []

        def watch(name: str, x: Tensor, rows: list[Tensor] = rows) -> Tensor:
            if name != "embedding.target":
                return x
            rows.append(x.detach().requires_grad_())
            return rows[0]

        model.decode(torch.tensor([[1, 7, 8, 9, 2]]), memory, watch)[0, t].square().sum().backward()
        assert rows[0].grad is not None
        assert rows[0].grad[0].any(dim=1).tolist() == [s <= t for s in range(5)]


@pytest.mark.parametrize("choices", POSITIONS, ids=lambda c: c["positions"])
def test_padding_of_the_source_gets_no_gradient(build: Build, choices: dict[str, Any]) -> None:
    model = build(**choices)
    rows: list[Tensor] = []

    def watch(name: str, x: Tensor) -> Tensor:
        if name != "embedding.source":
            return x
        rows.append(x.detach().requires_grad_())
        return rows[0]

    memory = model.encode(torch.tensor([[4, 5, 0, 0]]), watch)
    model.decode(torch.tensor([[1, 7]]), memory).square().sum().backward()
    assert rows[0].grad is not None
    assert rows[0].grad[0].any(dim=1).tolist() == [True, True, False, False]


@settings(max_examples=15)
@given(order=st.permutations(range(6)))
def test_without_positions_the_encoder_does_not_see_order(build: Build, order: list[int]) -> None:
    ids = torch.tensor([[3, 4, 5, 6, 7, 0]])
    model = MODELS.setdefault("no order", build(positions="none"))
    assert_close(model.encode(ids).states[:, order], model.encode(ids[:, order]).states)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rope", "alibi"])
def test_with_positions_the_encoder_sees_order(build: Build, positions: str) -> None:
    ids, order = torch.tensor([[3, 4, 5, 6, 7, 8]]), [2, 0, 1, 5, 4, 3]
    model = build(positions=positions)
    assert not torch.allclose(model.encode(ids).states[:, order], model.encode(ids[:, order]).states, atol=1e-2)


@pytest.mark.parametrize(("cross_positions", "blind"), [("none", True), ("rope", False)])
def test_only_rotary_cross_attention_sees_where_a_source_token_stands(
    build: Build, cross_positions: str, blind: bool
) -> None:
    """The encoder of this model sees no order, so that whatever the decoder sees of it comes from cross-attention."""
    model = build(positions="none", cross_positions=cross_positions)
    target = torch.tensor([[1, 9, 10]])
    one, other = model(torch.tensor([[3, 4, 5]]), target), model(torch.tensor([[5, 3, 4]]), target)
    assert torch.allclose(one, other, atol=2e-5) is blind


def test_dropout_is_off_in_eval_and_on_in_training(build: Build) -> None:
    quiet, noisy = build(), build(dropout=0.4, attention_dropout=0.4)
    source, target = torch.tensor([[3, 4, 5]]), torch.tensor([[1, 6, 7]])
    assert torch.equal(quiet(source, target), noisy(source, target))
    torch.manual_seed(1)
    noisy.train()
    assert not torch.allclose(noisy(source, target), noisy(source, target))


@pytest.mark.parametrize("tied", ["all", "output", "none"])
def test_tied_matrices_are_one_and_others_are_not(build: Build, tied: str) -> None:
    model = build(tie_embeddings=tied)
    assert (model.source_embedding is model.target_embedding) is (tied == "all")
    assert (model.output_embedding is model.target_embedding) is (tied != "none")
    names = [name for name, _ in model.named_parameters() if "embedding" in name]
    assert len(names) == {"all": 1, "output": 2, "none": 3}[tied]


def test_two_vocabularies_have_their_own_sizes() -> None:
    config = EncoderDecoderConfig(d_model=16, d_ff=16, tie_embeddings="output")
    model = EncoderDecoder(config, 40, 9, pad_id=0)
    assert model(torch.tensor([[39]]), torch.tensor([[8, 1]])).shape == (1, 2, 9)
    with pytest.raises(UserError, match="40 source and 9 target") as caught:
        EncoderDecoder(EncoderDecoderConfig(tie_embeddings="all"), 40, 9, pad_id=0)
    assert "model.tie_embeddings" in caught.value.hint


def test_embeddings_are_multiplied_by_the_root_of_d_model_unless_told(build: Build) -> None:
    seen: dict[str, Tensor] = {}
    for scaled in (True, False):
        model = build(scale_embeddings=scaled)
        model.encode(torch.tensor([[3]]), lambda name, x: seen.setdefault(name, x))
        row = model.source_embedding.weight[3]
        torch.testing.assert_close(seen.pop("embedding.source")[0, 0], row * 4 if scaled else row)


@pytest.mark.parametrize("choices", POSITIONS, ids=lambda c: c["positions"])
def test_sentences_longer_than_the_first_tables_work(build: Build, choices: dict[str, Any]) -> None:
    source = torch.arange(300)[None] % 12 + 1
    logits = build(**choices)(source, source)
    assert logits.isfinite().all()
    early = build(**choices)(source, source[:, :50])
    torch.testing.assert_close(logits[:, :50], early, atol=1e-4, rtol=1e-4)


def test_learned_positions_end_with_an_error_that_says_how_to_go_on(build: Build) -> None:
    model = build(positions="learned", learned_positions=8)
    with pytest.raises(UserError, match=r"9 tokens.*8 learned positions"):
        model.encode(torch.ones(1, 9, dtype=torch.long))


@pytest.mark.parametrize("choices", POSITIONS, ids=lambda c: c["positions"])
def test_the_model_runs_in_bfloat16(build: Build, choices: dict[str, Any]) -> None:
    """Half precision of every number: the logits are near those of float32, relative to their spread."""
    source, target = torch.tensor([[3, 4, 5, 0]]), torch.arange(300)[None] % 12 + 1
    wide = build(**choices)(source, target)
    narrow = build(**choices).bfloat16()(source, target)
    assert narrow.dtype == torch.bfloat16
    assert (narrow - wide).abs().mean() < 0.1 * wide.std()
