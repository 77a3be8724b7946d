from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import WordVectors
from pellucid.errors import UserError
from pellucid.word_vectors.config import VectorsConfig, vectors_config
from pellucid.word_vectors.encoded_text import EncodedText, encode_text
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.noise import NoiseTable
from pellucid.word_vectors.rounds import RoundRunner, cbow_weights
from pellucid.word_vectors.sanity_checks import check_losses
from pellucid.word_vectors.shards import split_into_shards
from pellucid.word_vectors.subsampling import keep_probabilities
from pellucid.word_vectors.training import VectorsTraining
from pellucid.word_vectors.updates import TARGETS_AT_ONCE
from tests.word_vectors.reference_training import PlainTraining

Sentences = list[list[str]]


def sentences(count: int, vocab_size: int, length: int = 12, seed: int = 1) -> Sentences:
    """Return random sentences; the words of one are near each other in the vocabulary, and low ones are frequent."""
    draw = numpy.random.default_rng(seed)
    topics = draw.integers(0, vocab_size, count)
    offsets = draw.integers(0, 6, (count, length))
    common = draw.random((count, length)) < 0.3
    numbers = numpy.where(common, draw.integers(0, 5, (count, length)), (topics[:, None] + offsets) % vocab_size)
    return [[f"w{number}" for number in row] for row in numbers.tolist()]


def encoded(folder: Path, text: Sentences, **settings: Any) -> EncodedText:
    return encode_text(text, folder, **{"min_count": 1, **settings})


def trained(text: EncodedText, threads: int = 1, **settings: Any) -> KeyedVectors:
    training = VectorsTraining(text, vectors_config({"dim": 20, "min_count": 1, **settings}), threads=threads)
    for step in training:
        assert step.loss > 0
    return training.vectors()


@pytest.mark.parametrize("model", ["skip-gram", "cbow"])
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"workers": 1, "shard_words": 60}, 12),
        ({"workers": 3, "shard_words": 40}, 12),
        ({"workers": 4, "shard_words": 30, "negative": 11, "dynamic_window": False}, 40),
        ({"workers": 3, "shard_words": 16, "cbow_gradient": "exact"}, 120),
        ({"workers": 2, "shard_words": 500, "cbow_sum": True, "sample": 0.01}, 12),
    ],
)
def test_training_is_what_plain_python_does(tmp_path: Path, model: str, settings: dict[str, Any], words: int) -> None:
    text = encoded(tmp_path, sentences(480 // words, 80, words))
    config = vectors_config({"dim": 20, "model": model, "window": 3, "learning_rate": 0.05, "epochs": 1, **settings})
    training = VectorsTraining(text, config)
    trainer = training._runner
    trainer.matrices.inputs[:] *= 10
    trainer.matrices.outputs[:] = trainer.matrices.inputs[::-1]
    plain = twin(text, config, trainer)
    plan = trainer._plan(0, training._learning_rates)
    losses = [step.epoch_loss for step in training]
    for number in range(trainer.rounds):
        plain.run_round(number, int(plan.keys[number]), float(plan.rates[number]), float(plan.damping[number]))
    # float32 against float64, some hundred updates after one another.
    assert trainer.matrices.inputs == pytest.approx(plain.inputs, abs=5e-5)
    assert trainer.matrices.outputs == pytest.approx(plain.outputs, abs=5e-5)
    assert losses[-1] == pytest.approx(plain.loss / plain.predictions, rel=1e-5)


def twin(text: EncodedText, config: VectorsConfig, trainer: RoundRunner) -> PlainTraining:
    plan, noise = trainer._plan(0, numpy.zeros_like), trainer._targets
    assert isinstance(noise, NoiseTable)
    return PlainTraining(
        ids=text.ids.ids.tolist(),
        ends=text.ids.ends.tolist(),
        borders=trainer.text.borders.tolist(),
        keep=trainer.text.keep.tolist(),
        noise=noise,
        inputs=trainer.matrices.inputs.astype(float),
        outputs=trainer.matrices.outputs.astype(float),
        workers=len(trainer.buffers.counts),
        group=len(noise.accept) // len(noise.entries),
        local_copies=trainer.local_copies,
        cbow=config.model == "cbow",
        negative=config.negative,
        window=config.window,
        dynamic=config.dynamic_window,
        weights=cbow_weights(config).tolist(),
        block=TARGETS_AT_ONCE,
        seed=int(plan.seed[0]),
    )


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(1, 40))
def test_parts_cover_the_text_and_end_where_sentences_do_if_they_can(lengths: list[int], shard_words: int) -> None:
    ends = numpy.cumsum(numpy.array(lengths, numpy.int64))
    borders = split_into_shards(ends, shard_words)
    total = sum(lengths)
    assert borders[0] == 0 and borders[-1] == total
    assert (numpy.diff(borders) > 0).all()
    assert (numpy.diff(borders) <= 2 * shard_words).all()
    inner = set(borders[1:-1].tolist()) - set(ends.tolist())
    for border in inner:
        (sentence,) = [i for i, end in enumerate(ends) if end - lengths[i] < border < end]
        assert ends[sentence] - border > shard_words


def test_a_sentence_that_is_cut_loses_no_pair(tmp_path: Path) -> None:
    """With every word kept and windows of full reach, pairs are counted as in the whole sentence."""
    text = encoded(tmp_path, sentences(1, 50, 1000))
    settings = {"sample": 0.0, "window": 4, "dynamic_window": False, "epochs": 1, "dim": 4}
    for extra in ({"shard_words": 10_000}, {"shard_words": 50}, {"shard_words": 37, "workers": 3}):
        trainer = RoundRunner(text, vectors_config({**settings, **extra}), 1)
        result = trainer.run(0, 0, trainer.rounds, lambda progress: progress * 0 + 0.01)
        assert result.predictions == sum(min(4, at) + min(4, 999 - at) for at in range(1000))
        assert result.words == 1000


@pytest.mark.parametrize("model", ["skip-gram", "cbow"])
def test_fast_training_learns_as_well(tmp_path: Path, model: str) -> None:
    text = encoded(tmp_path, sentences(1500, 60))
    kinds: list[dict[str, Any]] = [{"fast": True, "threads": 2}, {"workers": 4}, {"workers": 1}]
    for settings in kinds:
        vectors = trained(text, model=model, epochs=5, sample=0.0, learning_rate=0.05, **settings)
        near = [vectors.similar(f"w{n}", 4) for n in range(20, 50)]
        right = [abs(int(word[1:]) - n) <= 6 for n, found in zip(range(20, 50), near, strict=True) for word, _ in found]
        assert sum(right) / len(right) > 0.9


@pytest.mark.parametrize("workers", [1, 4])
def test_a_word_that_is_nearly_all_of_the_text_stops_nothing(tmp_path: Path, workers: int) -> None:
    rare = [[f"r{n}", "the"] for n in range(2 if workers == 1 else 70)]
    text = encoded(tmp_path, [["the"] * 1000] * 300 + rare)
    vectors = trained(text, workers=workers, epochs=1, sample=0.0, noise_exponent=2.0)
    assert numpy.isfinite(vectors.input_vectors).all()


def test_frequent_words_settle_though_many_desks_move_them(tmp_path: Path) -> None:
    """Summed up as they are, the movements of 16 desks of 400 words would go to 10¹² within three passes."""
    text = encoded(tmp_path, sentences(3000, 1200))
    vectors = trained(text, workers=16, shard_words=400, epochs=3, sample=0.0)
    assert numpy.abs(vectors.input_vectors).max() < 10


def test_a_training_can_be_left_and_taken_up_again(tmp_path: Path) -> None:
    text = encoded(tmp_path, sentences(300, 30))
    config = vectors_config({"dim": 8, "epochs": 2, "shard_words": 50})
    whole, halting = VectorsTraining(text, config), VectorsTraining(text, config)
    for _ in whole:
        pass
    while halting.progress < 1:
        next(iter(halting))
    assert numpy.array_equal(whole.vectors().input_vectors, halting.vectors().input_vectors)
    assert whole.losses == pytest.approx(halting.losses)


def test_records_tell_how_far_it_is(tmp_path: Path) -> None:
    text = encoded(tmp_path, sentences(300, 30))
    training = VectorsTraining(text, vectors_config({"dim": 8, "epochs": 3, "shard_words": 50}))
    steps = list(training)
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].progress == 1 and steps[-1].words == 3 * 300 * 12
    assert steps[-1].learning_rate == pytest.approx(1e-4)
    assert [step.epoch_loss for step in steps if step.epoch_loss is not None] == training.losses
    assert len(training.losses) == 3
    about = training.vectors().metadata
    assert about["words_read"] == 3600 and about["training"]["dim"] == 8
    first, last = training.losses[0], training.losses[-1]
    assert first is not None and last is not None and first > last


def test_going_on_keeps_words_and_adds_new_ones(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = trained(encoded(tmp_path / "one", sentences(200, 20)), seed=1)
    more = [["w3", "new", "w4", "newer"]] * 30
    text = encode_text(more, tmp_path / "two", min_count=5, known=first.words)
    training = VectorsTraining(text, vectors_config({"dim": 20}), start=first)
    for _ in training:
        pass
    second = training.vectors()
    assert list(second.words) == [*first.words, "new", "newer"]
    assert numpy.array_equal(second["w9"], first["w9"])
    assert not numpy.array_equal(second["w3"], first["w3"])
    assert second.counts is not None and first.counts is not None
    assert second.counts[second.row("w3")] == first.counts[first.row("w3")] + 30
    assert second.counts[second.row("new")] == 30
    assert second.output_vectors is not None and second["new"].any()


def test_going_on_needs_as_many_numbers(tmp_path: Path) -> None:
    text = encoded(tmp_path, sentences(50, 10))
    with pytest.raises(UserError, match=r"have dimension 20, but dim = 100"):
        VectorsTraining(text, VectorsConfig(), start=trained(text))


def test_going_on_from_what_is_not_finite_is_refused(tmp_path: Path) -> None:
    text = encoded(tmp_path, sentences(50, 10))
    rows = numpy.zeros((10, 20))
    rows[7, 3] = numpy.nan
    with pytest.raises(UserError, match=r"the vector of 'w7' \(row 7\) contains NaN or infinity"):
        VectorsTraining(text, vectors_config({"dim": 20}), start=WordVectors([f"w{n}" for n in range(10)], rows))


def test_one_number_that_is_not_finite_gives_no_vectors(tmp_path: Path) -> None:
    training = VectorsTraining(encoded(tmp_path, sentences(200, 150)), vectors_config({"dim": 20}))
    training._runner.matrices.inputs[120, 19] = numpy.inf
    with pytest.raises(UserError, match="the vectors became NaN or infinite"):
        training.vectors()


def test_a_model_too_large_for_the_memory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*shape: int) -> None:
        raise MemoryError

    text = encoded(tmp_path, sentences(50, 10))
    monkeypatch.setattr("pellucid.word_vectors.rounds.aligned_zeros", refused)
    expected = r"not enough memory for two matrices of \d+ words by 100 dimensions \(0.0 GB\)"
    with pytest.raises(UserError, match=expected):
        VectorsTraining(text, VectorsConfig())


def test_a_rate_far_too_high_is_an_error_and_no_vectors(tmp_path: Path) -> None:
    text = encoded(tmp_path, sentences(300, 20))
    with pytest.raises(UserError, match="the vectors became NaN or infinite"):
        trained(text, learning_rate=1e30)


@pytest.mark.parametrize(("formula", "expected"), [("code", [0.5**0.5 / 10 + 0.005, 1]), ("paper", [0.5**0.5 / 10, 1])])
def test_frequent_words_are_sub_sampled(formula: Any, expected: Sequence[float]) -> None:
    """f = 0.2 and 0.0008; sample = 0.001: √(0.001/0.2) = √0.5/10, and 0.001/0.2 = 0.005."""
    found = keep_probabilities([200, 0.8, 799.2], 1e-3, formula)
    assert found[:2].tolist() == pytest.approx(expected)
    assert keep_probabilities([5, 5], 0).tolist() == [1, 1]


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_fast_threads_are_as_many_desks(tmp_path: Path, threads: int) -> None:
    text = encoded(tmp_path, sentences(400, 80))
    fast = VectorsTraining(text, vectors_config({"dim": 8, "epochs": 2, "fast": True}), threads=threads)
    workers = VectorsTraining(text, vectors_config({"dim": 8, "epochs": 2, "workers": threads}), threads=1)
    assert fast.threads == threads
    list(fast), list(workers)
    assert numpy.array_equal(fast.vectors().input_vectors, workers.vectors().input_vectors)
    assert fast.losses == pytest.approx(workers.losses)  # summed up in another order


def test_a_thread_that_cannot_start_is_an_error_and_no_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submit, calls = ThreadPoolExecutor.submit, 0

    def refusing(pool: ThreadPoolExecutor, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise RuntimeError("can't start new thread")
        return submit(pool, *arguments)

    training = VectorsTraining(
        encoded(tmp_path, sentences(100, 60)), vectors_config({"dim": 8, "workers": 2}), threads=2
    )
    monkeypatch.setattr(ThreadPoolExecutor, "submit", refusing)
    with pytest.raises(RuntimeError, match="new thread"):
        list(training)


def test_what_was_broken_off_in_the_middle_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = VectorsTraining(encoded(tmp_path, sentences(100, 60)), vectors_config({"dim": 8}), threads=1)
    run = RoundRunner.run

    def interrupted(trainer: RoundRunner, epoch: int, first: int, last: int, rate_at: Any) -> Any:
        run(trainer, epoch, first, last, rate_at)
        if last:
            raise KeyboardInterrupt

    monkeypatch.setattr(RoundRunner, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(training)
    monkeypatch.setattr(RoundRunner, "run", run)
    with pytest.raises(UserError, match="in the middle of a round"):
        list(training)


def test_a_pass_that_predicts_nothing_has_no_loss(tmp_path: Path) -> None:
    text = encoded(tmp_path, [["a", "b"]] * 50)
    training = VectorsTraining(text, vectors_config({"epochs": 2, "sample": 1e-300}))
    assert [step.epoch_loss for step in training] == [None, None]
    losses = training.vectors().metadata["losses"]
    assert losses == [None, None]
    assert "--sample 0" in check_losses(losses)[0]
    assert check_losses([4.0, 3.0]) == [] and "hardly changed" in check_losses([4.1589, 4.1587])[0]


def test_going_on_cuts_the_text_as_before(tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("猫吃鱼\n狗吃肉\n" * 30, encoding="utf-8")
    settings: dict[str, Any] = {"dim": 4, "epochs": 1, "threads": 1}
    first = WordVectors.train(tmp_path / "zh.txt", tokenizer="characters", model="cbow", **settings)
    first.save(tmp_path / "first")
    second = WordVectors.train(tmp_path / "zh.txt", start=tmp_path / "first", epochs=1, threads=1)
    assert list(second.words) == list(first.words)
    assert (second.dim, second.metadata["training"]["model"]) == (4, "cbow")
    third = WordVectors.train([["猫", "吃"]] * 9, start=first, model="skip-gram", epochs=1, threads=1)
    assert third.metadata["training"]["model"] == "skip-gram"
