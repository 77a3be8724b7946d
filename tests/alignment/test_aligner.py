"""The aligner on small generated text whose true alignment is known, and beside its slow twin."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file

from pellucid.alignment import em_kernels, fitting
from pellucid.alignment.fitting import FitStep, Lexicon, fit_lexicon
from pellucid.errors import UserError
from pellucid.evaluation.alignment_error import alignment_error_rate
from pellucid.storage.id_store import IdStoreWriter
from tests.alignment import slow_aligner

Ids = NDArray[numpy.int32]
N_SOURCE, N_TARGET = 60, 66  # the last 6 target words come from no source word


class Text(NamedTuple):
    """A generated text: word s is always translated by s, some words stand swapped, some target words are spurious."""

    source: list[Ids]
    target: list[Ids]
    true: list[set[tuple[int, int]]]


@pytest.fixture(scope="module")
def text() -> Text:
    random = numpy.random.default_rng(7)
    frequency = 1 / numpy.arange(1, N_SOURCE + 1)
    made = Text([], [], [])
    for _ in range(250):
        source = random.choice(N_SOURCE, random.integers(1, 12), p=frequency / frequency.sum())
        places = [(i + random.normal(0, 0.6), i, int(s)) for i, s in enumerate(source)]
        if random.random() < 0.5:
            places.append((random.uniform(0, len(source)), -1, int(random.integers(N_SOURCE, N_TARGET))))
        places.sort()
        made.source.append(source.astype(numpy.int32))
        made.target.append(numpy.array([t for _, _, t in places], numpy.int32))
        made.true.append({(i, j) for j, (_, i, _) in enumerate(places) if i >= 0})
    return made


@pytest.fixture(scope="module")
def lexicon(text: Text) -> Lexicon:
    return fit_lexicon(text.source, text.target, N_SOURCE, N_TARGET)


def test_it_finds_the_words_and_links_of_a_generated_text(text: Text, lexicon: Lexicon) -> None:
    right = [lexicon.translations(s, 1)[0][0] == s for s in range(N_SOURCE) if lexicon.source_counts[s] >= 5]
    assert numpy.mean(right) == 1
    assert alignment_error_rate(lexicon.batch_links(text.source, text.target), text.true) < 0.05


def test_a_prior_for_sparse_rows_helps_rare_words(text: Text, lexicon: Lexicon) -> None:
    likely = fit_lexicon(text.source, text.target, N_SOURCE, N_TARGET, concentration=0)
    sparse = alignment_error_rate(lexicon.batch_links(text.source, text.target), text.true)
    assert sparse < alignment_error_rate(likely.batch_links(text.source, text.target), text.true)


@pytest.mark.parametrize("concentration", [0.0, 0.01, 0.5])
def test_the_kernels_equal_the_slow_twin(text: Text, concentration: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(s.tolist(), t.tolist()) for s, t in zip(text.source[:60], text.target[:60], strict=True)]
    twin = slow_aligner.fit(pairs, N_SOURCE, N_TARGET, 4, 5.0, 0.1, concentration)
    fitted = fit_lexicon(
        text.source[:60], text.target[:60], N_SOURCE, N_TARGET, 4, 5.0, 0.1, concentration=concentration
    )
    # Tables are float32: 24 bits, over four iterations.
    assert fitted.report.log_likelihoods == pytest.approx(twin.log_likelihoods, rel=1e-5)
    kept = dense(fitted)
    found = kept > 0
    assert kept[found] == pytest.approx(twin.table[found], rel=1e-3, abs=1e-6)
    counts = numpy.bincount(numpy.concatenate(text.source[:60]), minlength=N_SOURCE + 1)
    worth = numpy.where(found, 0, twin.table) * counts[:, None]
    assert worth.max() < 3 * em_kernels.LEAST_COUNT  # a source token explains 1.1 target tokens, hardly ever 3


def test_the_log_likelihood_never_falls_without_a_prior(text: Text) -> None:
    steps: list[FitStep] = []
    fitted = fit_lexicon(text.source, text.target, N_SOURCE, N_TARGET, 30, concentration=0, on_progress=steps.append)
    likelihoods = fitted.report.log_likelihoods
    assert likelihoods[0] == pytest.approx(-numpy.log(N_TARGET))
    assert (numpy.diff(likelihoods) > -1e-6).all()  # float32 tables
    assert [(step.iteration, step.iterations) for step in steps] == [(n, 30) for n in range(1, 31)]
    assert [step.log_likelihood for step in steps] == list(likelihoods[1:])


def test_the_variational_bound_never_falls_with_a_prior(text: Text) -> None:
    pairs = [(s.tolist(), t.tolist()) for s, t in zip(text.source[:60], text.target[:60], strict=True)]
    twin = slow_aligner.fit(pairs, N_SOURCE, N_TARGET, 8, 6.0, 0.08, 0.01)
    assert (numpy.diff(twin.bounds) > -1e-9).all()


def test_rows_are_sparse_ascending_and_sum_to_one_at_most(lexicon: Lexicon, text: Text) -> None:
    for row in range(lexicon.null_id + 1):
        columns, probabilities = lexicon.row(row)
        assert (numpy.diff(columns) > 0).all()
        assert 0 <= probabilities.sum() < 1 + 1e-5
    assert lexicon.row(lexicon.null_id)[1].sum() == pytest.approx(1, abs=1e-5)
    assert lexicon.source_counts.sum() == sum(map(len, text.source))
    assert len(lexicon.columns) < 0.2 * N_SOURCE * N_TARGET
    best = lexicon.translations(0, 3)
    assert [p for _, p in best] == sorted((p for _, p in best), reverse=True)
    with pytest.raises(IndexError, match="source id 61 of 60"):
        lexicon.row(61)


sentences = st.lists(st.integers(0, N_SOURCE - 1), max_size=9)


@given(st.lists(st.tuples(sentences, sentences), max_size=5))
def test_posteriors_equal_the_twin_for_every_shape(lexicon: Lexicon, pairs: list[tuple[list[int], list[int]]]) -> None:
    table = numpy.maximum(dense(lexicon), 1e-9)
    lengths = numpy.array([[len(s), len(t)] for s, t in pairs], int).reshape(-1, 2)
    width, height = lengths.max(0, initial=0)
    source, target = numpy.full((len(pairs), width), -1), numpy.full((len(pairs), height), 10**6)
    for n, (s, t) in enumerate(pairs):
        source[n, : len(s)], target[n, : len(t)] = s, t
    batch = lexicon.batch_posteriors(source, lengths[:, 0], target, lengths[:, 1])
    assert batch.shape == (len(pairs), height, width)
    assert batch.dtype == numpy.float32
    links = lexicon.batch_links([s for s, _ in pairs], [t for _, t in pairs])
    for n, (s, t) in enumerate(pairs):
        twin = slow_aligner.posteriors(table, s, t, lexicon.diagonal_tension, lexicon.null_probability)
        assert batch[n, : len(t), : len(s)] == pytest.approx(twin[:, :-1], abs=1e-5)
        assert batch[n, : len(t), : len(s)].sum(1) + twin[:, -1] == pytest.approx(1, abs=1e-5)
        assert not batch[n, len(t) :].any() and not batch[n, :, len(s) :].any()
        assert (lexicon.posteriors(s, t) == batch[n, : len(t), : len(s)]).all()
        assert links[n] == lexicon.links(s, t)
        assert [j for _, j in links[n]] == sorted({j for _, j in links[n]})
        for i, j in links[n]:  # the best, but for ties in rounding
            assert twin[j, i] == pytest.approx(twin[j].max(), rel=1e-4)


def test_an_unknown_pair_of_words_goes_to_null_or_falls_back_to_the_diagonal() -> None:
    fitted = fit_lexicon([[0], [1]], [[0], [1]], 3, 3)
    assert fitted.links([0, 2], [0]) == [(0, 0)]
    assert fitted.links([2, 2], [1]) == []  # NULL has seen the word, the source word has not
    assert fitted.links([0, 1, 2], [2, 2, 2]) == [(0, 0), (1, 1), (2, 2)]


def test_two_runs_give_the_same_bits(text: Text, lexicon: Lexicon) -> None:
    again = fit_lexicon(text.source, text.target, N_SOURCE, N_TARGET)
    assert same(again, lexicon)


def test_an_id_store_is_read_in_place(text: Text, lexicon: Lexicon, tmp_path: Path) -> None:
    stores = []
    for name, sequences in (("source", text.source), ("target", text.target)):
        writer = IdStoreWriter(tmp_path / name)
        for ids in sequences:
            writer.append(ids)
        stores.append(writer.close())
    assert same(fit_lexicon(stores[0], stores[1], N_SOURCE, N_TARGET), lexicon)
    assert lexicon.links(stores[0][0], stores[1][0]) == lexicon.links(text.source[0], text.target[0])


def test_pairs_that_are_not_counted_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "MAX_CELLS", 50)
    source = [[0, 1]] * 100 + [[], [0], [1] * 401]
    target = [[0]] * 100 + [[0], [], [1]]
    report = fit_lexicon(source, target, 2, 2).report
    assert (report.pairs, report.used, report.blank, report.long, report.sampled) == (103, 25, 2, 1, 75)
    assert report.target_tokens == 25
    # evenly spread: every fourth
    chosen, _ = fitting._select_pairs(numpy.full(100, 2), numpy.full(100, 1))
    assert chosen.tolist() == list(range(0, 100, 4))


def test_nothing_to_count_gives_an_empty_lexicon() -> None:
    fitted = fit_lexicon([[], [1]], [[0], []], 2, 2)
    assert (fitted.report.used, fitted.report.log_likelihoods, len(fitted.columns)) == (0, (), 0)
    assert fitted.translations(0) == []
    assert fitted.posteriors([0, 1], [1]).sum() == pytest.approx(0.92)


def test_wrong_calls_are_named(lexicon: Lexicon) -> None:
    with pytest.raises(ValueError, match="1 source and 2 target sequences"):
        fit_lexicon([[0]], [[0], [0]], 1, 1)
    with pytest.raises(ValueError, match="outside the vocabulary of 1"):
        fit_lexicon([numpy.array([1])], [[0]], 1, 1)
    with pytest.raises(ValueError, match="outside the vocabulary of 1"):
        fit_lexicon([[0]], [numpy.array([-1])], 1, 1)
    with pytest.raises(ValueError, match="iterations"):
        fit_lexicon([[0]], [[0]], 1, 1, iterations=0)
    with pytest.raises(ValueError, match="diagonal_tension must be from 0 to 60"):
        fit_lexicon([[0]], [[0]], 1, 1, diagonal_tension=61)
    with pytest.raises(ValueError, match="null_probability"):
        fit_lexicon([[0]], [[0]], 1, 1, null_probability=0)
    for source, target in (([60], [0]), ([0], [66]), ([-1], [0])):
        with pytest.raises(ValueError, match="outside the vocabularies of 60 and 66"):
            lexicon.posteriors(source, target)
        with pytest.raises(ValueError, match="outside the vocabularies of 60 and 66"):
            lexicon.links(source, target)
    with pytest.raises(ValueError, match="exceeds the width"):
        lexicon.batch_posteriors([[0]], [2], [[0]], [1])
    with pytest.raises(ValueError, match="padded batches"):
        lexicon.batch_posteriors([[0]], [1], [[0], [0]], [1, 1])


def test_digamma_is_the_derivative_of_log_gamma() -> None:
    for x in (0.01, 0.2, 1.0, 3.7, 50.0, 1e6):
        assert em_kernels._digamma(x) == pytest.approx(float(slow_aligner.digamma(x)), rel=1e-7)
    assert em_kernels._digamma(1.0) == pytest.approx(-0.5772156649015329, rel=1e-10)  # −γ


def test_save_and_load_give_the_same_lexicon(lexicon: Lexicon, tmp_path: Path) -> None:
    lexicon.save(tmp_path / "lexicon.safetensors")
    loaded = Lexicon.load(tmp_path / "lexicon.safetensors")
    assert same(loaded, lexicon)
    assert loaded.report == lexicon.report
    assert (loaded.diagonal_tension, loaded.null_probability) == (6.0, 0.08)
    assert loaded.links([0, 1], [0, 1]) == lexicon.links([0, 1], [0, 1])


def damaged(content: bytes) -> Iterator[bytes]:
    yield b""
    yield b"a text"
    for size in (7, 100, len(content) // 2, len(content) - 1):
        yield content[:size]
    yield content.replace(b'\\"format\\": \\"1\\"', b'\\"format\\": \\"9\\"')
    yield content[:-800] + b"\xff" * 800


def test_a_file_that_is_no_lexicon_is_named(lexicon: Lexicon, tmp_path: Path) -> None:
    path = tmp_path / "lexicon.safetensors"
    with pytest.raises(UserError, match="cannot read the lexicon"):
        Lexicon.load(path)
    lexicon.save(path)
    content = path.read_bytes()
    for bad in damaged(content):
        assert bad != content
        path.write_bytes(bad)
        with pytest.raises(UserError, match="not a lexicon") as raised:
            Lexicon.load(path)
        assert raised.value.where == (str(path),)
    save_file({"x": numpy.zeros(3)}, path)
    with pytest.raises(UserError, match="not a lexicon"):
        Lexicon.load(path)


def dense(lexicon: Lexicon) -> NDArray[numpy.float64]:
    table = numpy.zeros((lexicon.null_id + 1, lexicon.target_vocab_size))
    for row in range(len(table)):
        columns, probabilities = lexicon.row(row)
        table[row, columns] = probabilities
    return table


def same(one: Lexicon, other: Lexicon) -> bool:
    names = ("row_starts", "columns", "probabilities", "source_counts")
    return one.report == other.report and all((getattr(one, n) == getattr(other, n)).all() for n in names)
