import numpy
import pytest
from numba import njit
from numpy.typing import NDArray

from pellucid.kernels.simd import aligned_zeros
from pellucid.word_vectors.rounds import loss_of
from pellucid.word_vectors.updates import TARGETS_AT_ONCE, add_movement, copy_row, update_mean, update_pairs
from tests.word_vectors.reference_training import Floats, mean_loss, moved_mean, moved_pairs, pairs_loss

Rows = NDArray[numpy.float32]


def rows(count: int, dim: int, seed: int, scale: float = 0.3) -> Rows:
    made: Rows = aligned_zeros(count, dim)
    made[:, :dim] = numpy.random.default_rng(seed).normal(size=(count, dim), scale=scale)
    return made


def addresses(rows: Rows, order: list[int] | None = None) -> NDArray[numpy.int64]:
    places = range(len(rows)) if order is None else order
    return numpy.array([rows[place].ctypes.data for place in places], numpy.int64)


def new_loss() -> Rows:
    loss: Rows = aligned_zeros(32)
    loss[:16] = 1
    return loss


def updated_pairs(inputs: Rows, targets: Rows, true: int, rate: float, order: list[int] | None = None) -> float:
    """Call `update_pairs`; return the loss that it noted."""
    n_targets, chunks = len(targets), inputs.shape[1] // 16

    @njit
    def call(lefts, n, rights, rate, errors, loss):  # type: ignore[no-untyped-def]
        update_pairs(n_targets, true, chunks, lefts, n, rights, rate, errors, loss)

    lefts, rights, loss = addresses(inputs, order), addresses(targets), new_loss()
    errors = numpy.zeros(8 * len(lefts) + 8, numpy.float32)
    call(lefts.ctypes.data, len(lefts), rights.ctypes.data, numpy.float32(rate), errors.ctypes.data, loss.ctypes.data)
    return loss_of(loss)


def updated_mean(inputs: Rows, targets: Rows, true: int, rate: float, weight: float, back: float) -> float:
    n_targets, chunks = len(targets), inputs.shape[1] // 16

    @njit
    def call(lefts, n, rights, rate, weight, back, loss):  # type: ignore[no-untyped-def]
        update_mean(n_targets, true, chunks, lefts, n, rights, rate, weight, back, loss)

    lefts, rights, loss = addresses(inputs), addresses(targets), new_loss()
    numbers = (numpy.float32(rate), numpy.float32(weight), numpy.float32(back))
    call(lefts.ctypes.data, len(lefts), rights.ctypes.data, *numbers, loss.ctypes.data)
    return loss_of(loss)


SIZES = [(1, 1, 1, 16), (2, 6, 1, 100), (3, 6, 1, 7), (7, 8, 1, 130), (10, 6, 1, 100), (5, 8, 0, 144), (4, 3, 1, 64)]


@pytest.mark.parametrize(("n_inputs", "n_targets", "true", "dim"), SIZES)
def test_pairs_move_as_in_plain_numpy(n_inputs: int, n_targets: int, true: int, dim: int) -> None:
    inputs, targets = rows(n_inputs, dim, 1), rows(n_targets, dim, 2)
    expected = moved_pairs(inputs.astype(float), targets.astype(float), true, 0.1)
    loss = updated_pairs(inputs, targets, true, 0.1)
    # Sums of d products in float32, and a sigmoid that is exact to 2e-7.
    assert inputs == pytest.approx(expected[0], abs=2e-5)
    assert targets == pytest.approx(expected[1], abs=2e-5)
    assert loss == pytest.approx(expected[2], rel=1e-4)


@pytest.mark.parametrize(("n_inputs", "n_targets", "true", "dim"), SIZES)
@pytest.mark.parametrize(("weight", "back"), [(1.0, 1.0), (0.25, 0.25), (0.25, 1.0)])
def test_a_mean_moves_as_in_plain_numpy(
    n_inputs: int, n_targets: int, true: int, dim: int, weight: float, back: float
) -> None:
    inputs, targets = rows(n_inputs, dim, 1), rows(n_targets, dim, 2)
    expected = moved_mean(inputs.astype(float), targets.astype(float), true, 0.1, weight, back)
    loss = updated_mean(inputs, targets, true, 0.1, weight, back)
    assert inputs == pytest.approx(expected[0], abs=2e-5)
    assert targets == pytest.approx(expected[1], abs=2e-5)
    assert loss == pytest.approx(expected[2], rel=1e-4)


def test_an_input_that_stands_twice_moves_by_both_its_errors() -> None:
    inputs, targets = rows(3, 32, 1), rows(6, 32, 2)
    order = [0, 1, 0, 2]
    wide = inputs.astype(float)
    moved, _, _ = moved_pairs(wide[order], targets.astype(float), 1, 1e-3)
    updated_pairs(inputs, targets, 1, 1e-3, order)
    assert inputs[0] == pytest.approx(wide[0] + (moved[0] - wide[0]) + (moved[2] - wide[0]), abs=1e-6)


@pytest.mark.parametrize("score", [-200.0, -27.0, -5.0, 0.0, 5.0, 27.0, 200.0])
def test_the_loss_holds_far_out(score: float) -> None:
    inputs, targets = rows(1, 16, 1, 0.0), rows(1, 16, 1, 0.0)
    inputs[0, 0], targets[0, 0] = score, 1
    loss = updated_pairs(inputs, targets, 1, 0.0)
    # Scores beyond ±40 ln 2 = ±27.7 count as that.
    assert loss == pytest.approx(numpy.log1p(numpy.exp(-max(score, -40 * numpy.log(2)))), rel=1e-5, abs=3e-7)


def test_the_loss_of_many_updates_is_their_sum() -> None:
    n_targets, chunks = 6, 1

    @njit
    def many(lefts, rights, errors, loss, times):  # type: ignore[no-untyped-def]
        for _ in range(times):
            update_pairs(n_targets, 1, chunks, lefts, 3, rights, numpy.float32(0), errors, loss)

    inputs, targets, loss = rows(3, 16, 1), rows(6, 16, 2), new_loss()
    errors = numpy.zeros(32, numpy.float32)
    lefts, rights = addresses(inputs), addresses(targets)
    many(lefts.ctypes.data, rights.ctypes.data, errors.ctypes.data, loss.ctypes.data, 10_000)
    assert loss_of(loss) == pytest.approx(10_000 * pairs_loss(inputs.astype(float), targets.astype(float), 1), rel=1e-5)


def slope(of: Floats, loss: object, i: int, j: int, step: float = 1e-5) -> float:
    """Return the derivative of `loss()` by `of[i, j]`, by finite differences."""
    assert callable(loss)
    kept = of[i, j]
    of[i, j] = kept + step
    above = loss()
    of[i, j] = kept - step
    below = loss()
    of[i, j] = kept
    return float((above - below) / (2 * step))


@pytest.mark.parametrize("model", ["skip-gram", "cbow, mean, exact", "cbow, sum"])
def test_a_step_descends_the_gradient(model: str) -> None:
    inputs, targets = rows(4, 5, 3, 0.5), rows(6, 5, 4, 0.5)
    left, right = inputs.astype(float), targets.astype(float)
    rate = 1e-2
    if model == "skip-gram":
        updated_pairs(inputs, targets, 1, rate)
        losses = lambda: pairs_loss(left, right, 1)  # noqa: E731
    else:
        weight = 0.25 if "mean" in model else 1.0
        updated_mean(inputs, targets, 1, rate, weight, weight)
        losses = lambda: mean_loss(left, right, 1, weight)  # noqa: E731
    for i, j in [(0, 0), (1, 3), (3, 4)]:
        assert (left[i, j] - float(inputs[i, j])) / rate == pytest.approx(slope(left, losses, i, j), abs=2e-4)
        assert (right[i, j] - float(targets[i, j])) / rate == pytest.approx(slope(right, losses, i, j), abs=2e-4)


def test_the_classic_gradient_moves_contexts_as_if_they_were_summed() -> None:
    exact, classic, targets = rows(4, 16, 1), rows(4, 16, 1), rows(6, 16, 2)
    before = exact.copy()
    updated_mean(exact, rows(6, 16, 2), 1, 0.01, 0.25, 0.25)
    updated_mean(classic, targets, 1, 0.01, 0.25, 1.0)
    assert (classic - before) == pytest.approx(4 * (exact - before), abs=1e-6)


def test_rows_are_copied_and_moved() -> None:
    @njit
    def call(source, target, before, chunks):  # type: ignore[no-untyped-def]
        copy_row(source, before, chunks)
        add_movement(target, source, before, numpy.float32(2), chunks)

    three = rows(3, 40, 5)
    source, target, _ = three.copy()
    three[2, :] = 0
    call(*addresses(three), three.shape[1] // 16)
    assert numpy.array_equal(three[2], source)
    assert numpy.array_equal(three[1], target)
    assert TARGETS_AT_ONCE == 8
