import numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

from pellucid.training.batches import pair_batch, plan_epoch, split_batch

SIZES_BY_TOKENS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80)


def _lengths(pairs: list[tuple[int, int]]) -> tuple[numpy.ndarray, numpy.ndarray]:
    return numpy.array([s for s, _ in pairs]), numpy.array([t for _, t in pairs])


@given(SIZES_BY_TOKENS, st.integers(1, 200), st.integers(0, 5), st.integers(0, 3))
def test_an_epoch_has_every_pair_once_within_the_budget(
    pairs: list[tuple[int, int]], budget: int, seed: int, epoch: int
) -> None:
    source, target = _lengths(pairs)
    plan = plan_epoch(source, target, budget, seed, epoch)
    assert sorted(numpy.concatenate(plan).tolist()) == list(range(len(pairs)))
    for batch in plan:
        longest = max(source[batch].max(), target[batch].max())
        assert len(batch) == 1 or longest * len(batch) <= budget


def test_the_order_is_a_function_of_seed_and_epoch() -> None:
    random = numpy.random.default_rng(0)
    source, target = random.integers(1, 30, 500), random.integers(1, 30, 500)

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in plan_epoch(source, target, 100, seed, epoch)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_batches_hold_little_padding_and_come_in_random_order() -> None:
    random = numpy.random.default_rng(0)
    length = random.integers(1, 60, 3000)
    plan = plan_epoch(length, length, 1000, 1, 0)
    held = sum(len(batch) * length[batch].max() for batch in plan)
    assert length.sum() / held > 0.95
    widths = [int(length[batch].max()) for batch in plan]
    assert widths != sorted(widths)
    assert widths != sorted(widths, reverse=True)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(1, 300))
def test_a_step_splits_into_parts_within_memory_that_keep_all_pairs(longest: list[int], budget: int) -> None:
    lengths = numpy.array(longest)
    pairs = numpy.arange(len(longest))
    parts = split_batch(pairs, lengths, budget)
    assert numpy.concatenate(parts).tolist() == pairs.tolist()
    for part in parts:
        assert len(part) == 1 or len(part) * lengths.max() <= budget


def test_the_decoder_reads_the_target_one_token_late() -> None:
    source = [numpy.array([5, 6, 2], numpy.int32), numpy.array([7, 2], numpy.int32)]
    target = [numpy.array([8, 2], numpy.int32), numpy.array([9, 10, 11, 2], numpy.int32)]
    batch = pair_batch(source, target, numpy.array([3, 4]), start_id=1, pad_id=0, device=torch.device("cpu"))
    assert batch.source.tolist() == [[5, 6, 2], [7, 2, 0]]
    assert batch.target_out.tolist() == [[8, 2, 0, 0], [9, 10, 11, 2]]
    assert batch.target_in.tolist() == [[1, 8, 0, 0], [1, 9, 10, 11]]
    assert batch.target_tokens == 6
    assert batch.padded_size == 6 + 8
    assert batch.source_lengths.sum() == 5
