"""One step after another with a cache gives what the whole target at once gives, for every choice of the model."""

import itertools
from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pellucid.layers.cache import BeamCache
from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.encoder_decoder import EncoderDecoder, Memory

Build = Callable[..., EncoderDecoder]

SOURCE = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])


def assert_close(one: Tensor, other: Tensor, which: object = "") -> None:
    """Allow for float32 rounding of states of size about 1 to 10: the cache sums in another order."""
    torch.testing.assert_close(one, other, atol=5e-5, rtol=5e-5, msg=lambda text: f"{which} {text}")


def uncached(model: EncoderDecoder, memory: Memory, paths: list[Tensor]) -> Tensor:
    """Return the last state of each path, each computed anew and whole.

    The paths of all steps, [batch hypotheses step] of 1, 2, … tokens, are rows of one batch, filled up at the end.
    """
    batch, hypotheses, steps = paths[-1].shape
    rows = torch.cat([F.pad(path, (0, steps - path.shape[2])).flatten(0, 1) for path in paths])
    row_of_source = torch.arange(batch).repeat_interleave(hypotheses).repeat(steps)
    repeated = Memory(memory.states[row_of_source], memory.may_attend[row_of_source], memory.positions)
    states = model.decode(rows, repeated).view(steps, batch, hypotheses, steps, -1)
    return torch.stack([states[step, :, :, step] for step in range(steps)])


def search(model: EncoderDecoder, steps: int, hypotheses: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return cached and uncached states of all steps of a beam that changes its parents at random."""
    memory = model.encode(SOURCE)
    cache = model.start_cache(memory, hypotheses)
    path = torch.zeros(len(SOURCE), hypotheses, 0, dtype=torch.long)
    cached, paths = [], []
    for step in range(steps):
        if step:
            parents = torch.randint(hypotheses, path.shape[:2], generator=random)
            path = path.gather(1, parents[..., None].expand_as(path))
            cache.reorder(parents)
        ids = torch.randint(1, 13, path.shape[:2], generator=random)
        path = torch.cat((path, ids[..., None]), dim=-1)
        paths.append(path)
        cached.append(model.decode_step(ids, cache))
    return torch.stack(cached), uncached(model, memory, paths)


CHOICES: dict[str, list[Any]] = {
    "norm": ["layernorm", "rmsnorm"],
    "norm_placement": ["pre", "post"],
    "activation": ["relu", "gelu", "swiglu"],
    "n_kv_heads": [None, 2],
    "bias": [True, False],
    "tie_embeddings": ["all", "output", "none"],
}


@pytest.mark.parametrize("positions", get_args(PositionScheme))
@torch.inference_mode()
def test_cached_is_uncached_for_every_choice(build: Build, positions: str) -> None:
    random = torch.Generator().manual_seed(5)
    cross_positions = itertools.cycle(["none", "rope", "rope", "none", "none"])  # 5 and 144 have no common factor
    for values in itertools.product(*CHOICES.values()):
        choices = dict(zip(CHOICES, values, strict=True), positions=positions, cross_positions=next(cross_positions))
        model = build(encoder_layers=1, decoder_layers=1, **choices)
        cached, expected = search(model, steps=3, hypotheses=2, random=random)
        assert_close(cached, expected, choices)


@pytest.mark.parametrize("positions", ["sinusoidal", "rope", "alibi"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), steps=st.integers(1, 6), hypotheses=st.integers(1, 5))
def test_any_beam_is_uncached(build: Build, positions: str, seed: int, steps: int, hypotheses: int) -> None:
    model = build(positions=positions, n_kv_heads=2)
    with torch.inference_mode():
        cached, expected = search(model, steps, hypotheses, torch.Generator().manual_seed(seed))
    assert_close(cached, expected)


@torch.inference_mode()
def test_a_long_search_outgrows_the_first_store(build: Build) -> None:
    """The store begins with room for 32 steps and doubles; the 40th step still sees the first."""
    model = build(positions="alibi")
    cached, expected = search(model, steps=40, hypotheses=1, random=torch.Generator().manual_seed(2))
    assert_close(cached, expected)


@torch.inference_mode()
def test_going_on_with_some_sentences_keeps_their_results(build: Build) -> None:
    model = build(n_kv_heads=2)
    memory = model.encode(SOURCE)
    random = torch.Generator().manual_seed(4)
    ids = torch.randint(1, 13, (6, 2, 3), generator=random)
    parents = torch.randint(3, (6, 2, 3), generator=random)

    def states(left: list[int], leave_at: int) -> list[Tensor]:
        cache, kept = model.start_cache(memory, 3), [0, 1]
        results = []
        for step in range(6):
            if step == leave_at:
                cache.select(torch.tensor(left))
                kept = left
            cache.reorder(parents[step][kept])
            results.append(model.decode_step(ids[step][kept], cache))
        return results

    whole = states([0, 1], leave_at=99)
    for left in ([0], [1], [1, 0]):
        for step, state in enumerate(states(left, leave_at=3)):
            expected = whole[step] if step < 3 else whole[step][left]
            assert_close(state, expected)


@torch.inference_mode()
def test_reordering_moves_no_keys_and_the_store_says_what_it_holds(build: Build) -> None:
    model = build()
    cache = model.start_cache(model.encode(SOURCE), 3)
    source_only = 2 * 2 * 2 * 4 * 4 * 4 * 4  # keys and values · layers · sentences · heads · tokens · d_head · bytes
    assert cache.nbytes == source_only
    model.decode_step(torch.ones(2, 3, dtype=torch.long), cache)
    stored = 2 * 2 * 2 * 4 * (32 * 3) * 4 * 4
    assert cache.nbytes == source_only + stored
    before = [cache.stored(layer)[0].key.data_ptr() for layer in (0, 1)]
    cache.reorder(torch.tensor([[2, 2, 0], [1, 1, 1]]))
    model.decode_step(torch.ones(2, 3, dtype=torch.long), cache)
    assert [cache.stored(layer)[0].key.data_ptr() for layer in (0, 1)] == before
    assert cache.step == 2


def test_ancestry_is_the_path_of_parents() -> None:
    """Hypotheses 0 and 1 at the second step descend from 1 and 1; then both from the first of these."""
    cache = BeamCache([], torch.ones(1, 1, 1, 4, dtype=torch.bool), hypotheses=2)
    cache.open_step()
    cache.reorder(torch.tensor([[1, 1]]))
    cache.open_step()
    assert cache.may_attend[0, 0].int().tolist() == [[0, 1, 1, 0], [0, 1, 0, 1]]
    cache.reorder(torch.tensor([[0, 0]]))
    cache.open_step()
    assert cache.may_attend[0, 0].int().tolist() == [[0, 1, 1, 0, 1, 0], [0, 1, 1, 0, 0, 1]]
