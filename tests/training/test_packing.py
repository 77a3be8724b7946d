"""Windows of documents: every token is predicted once an epoch, nothing is cut that fits, little room is left."""

import itertools
from collections import Counter
from pathlib import Path

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pellucid.corpus.documents import Document
from pellucid.corpus.pairs import Location
from pellucid.tokenizers import Tokenizer, TokenizerConfig, train_tokenizer
from pellucid.training.document_dataset import DocumentDataset, TextBatch, write_documents
from pellucid.training.packing import pack, split_into_chunks

CPU = torch.device("cpu")
LOCATION = Location("f", 1)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(2, 25), st.integers(0, 5))
def test_every_token_is_read_once_and_only_what_does_not_fit_is_cut(lengths: list[int], room: int, epoch: int) -> None:
    counts = numpy.array(lengths) + 1
    starts = numpy.cumsum(counts) - counts
    pieces = split_into_chunks(starts, counts, room, 1, epoch)
    read = Counter(
        place
        for start, length in zip(pieces.starts.tolist(), pieces.lengths.tolist(), strict=True)
        for place in range(start, start + length)
    )
    assert read == Counter(
        place
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        for place in range(start, start + count - 1)
    )
    assert pieces.lengths.max() <= room
    begun = Counter(numpy.searchsorted(starts, pieces.starts, side="right").tolist())
    for number, read_of_it in enumerate((counts - 1).tolist(), 1):
        fewest = -(-read_of_it // room)
        assert begun[number] in ((1,) if read_of_it <= room else (fewest, fewest + 1))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=80), st.integers(0, 3))
def test_windows_hold_each_piece_once_within_their_room(lengths: list[int], epoch: int) -> None:
    windows = pack(numpy.array(lengths), 30, 7, epoch)
    assert sorted(number for window in windows for number in window.tolist()) == list(range(len(lengths)))
    filled = sorted(sum(lengths[number] for number in window) for window in windows)
    assert filled[-1] <= 30
    assert all(one + other > 30 for one, other in itertools.pairwise(filled))  # no two would fit in one


def test_short_poems_leave_next_to_no_room() -> None:
    lengths = numpy.random.default_rng(1).integers(20, 90, 3000)
    assert lengths.sum() / (len(pack(lengths, 256, 1, 0)) * 256) > 0.98


def test_the_order_is_a_function_of_seed_and_epoch() -> None:
    lengths = numpy.random.default_rng(1).integers(1, 30, 200)

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [window.tolist() for window in pack(lengths, 30, seed, epoch)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(["the cat eats the fish, the dog runs"] * 5, TokenizerConfig(kind="characters"))


def on_disk(folder: Path, tokenizer: Tokenizer, documents: list[Document], context: int) -> DocumentDataset:
    write_documents(documents, folder / "text", tokenizer)
    return DocumentDataset(folder / "text", tokenizer, context)


def predicted(store: DocumentDataset, epoch: int) -> Counter[int]:
    windows = store.windows(epoch)
    batch = store.batch(windows, range(len(windows.chunks)), CPU)
    return Counter(batch.targets.tolist())


def test_an_epoch_predicts_every_token_but_starts_and_prompts_once(tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts = ["the cat", "eats", "the dog runs, the cat runs, the fish eats", "x"]
    documents = [Document(text, LOCATION) for text in texts] + [Document(" fish", LOCATION, "the cat eats the")]
    store = on_disk(tmp_path, tokenizer, documents, 16)
    expected = Counter(number for text in texts for number in tokenizer.encode(text))
    expected.update(tokenizer.encode_continuation(" fish"))
    expected[tokenizer.end_id] += len(documents)
    for epoch in range(3):
        assert predicted(store, epoch) == expected
    assert store.lengths.tolist()[0] == len(tokenizer.encode("the cat")) + 2


def test_a_long_document_in_parts_is_stored_as_one(tokenizer: Tokenizer, tmp_path: Path) -> None:
    parts = [
        Document("the cat\n", LOCATION, ends=False),
        Document("eats", LOCATION, begins=False, ends=False),
        Document(" fish", LOCATION, begins=False),
    ]
    store = on_disk(tmp_path, tokenizer, [*parts, Document("dog", LOCATION)], 64)
    assert len(store.starts) == 2
    assert tokenizer.decode(store.ids[: store.lengths[0]].tolist()) == "the cat\neats fish"


def rows(batch: TextBatch, tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.decode(row.tolist()) for row in batch.ids]


def test_a_token_sees_its_own_document_and_nothing_behind(tokenizer: Tokenizer, tmp_path: Path) -> None:
    store = on_disk(tmp_path, tokenizer, [Document("cat", LOCATION), Document("dog runs", LOCATION)], 32)
    batch = store.batch(store.windows(0), [0], CPU)
    assert len(store.windows(0).chunks[0]) == 2
    places = batch.positions[0].tolist()
    border = places.index(0, 1)
    assert places == [*range(border), *range(len(places) - border)]
    may_attend = batch.may_attend[0, 0]
    assert not may_attend[border:, :border].any()
    assert torch.equal(may_attend[:border, :border], torch.ones(border, border, dtype=torch.bool).tril())
    crossing = DocumentDataset(store.folder, tokenizer, 32, cross_documents=True)
    batch = crossing.batch(crossing.windows(0), [0], CPU)
    assert torch.equal(batch.may_attend[0, 0], torch.ones(len(places), len(places), dtype=torch.bool).tril())
    assert batch.positions.tolist() == list(range(len(places)))


def test_only_the_completion_is_asked_for(tokenizer: Tokenizer, tmp_path: Path) -> None:
    store = on_disk(tmp_path, tokenizer, [Document(" fish", LOCATION, "the cat eats")], 64)
    batch = store.batch(store.windows(0), [0], CPU)
    assert batch.targets.tolist() == [*tokenizer.encode_continuation(" fish"), tokenizer.end_id]
    assert (
        batch.ids[0, batch.predicted[1:]].tolist() == batch.targets[:-1].tolist()
    )  # each is read after it is predicted
    assert rows(batch, tokenizer) == ["the cat eats fish"]


def test_a_batch_is_as_wide_as_its_longest_window(tokenizer: Tokenizer, tmp_path: Path) -> None:
    store = on_disk(tmp_path, tokenizer, [Document("cat", LOCATION), Document("the dog runs", LOCATION)], 16)
    windows = store.windows(0)
    batch = store.batch(windows, range(len(windows.chunks)), CPU)
    assert batch.ids.shape == (2, len(tokenizer.encode("the dog runs")) + 1)
    assert batch.padded_size - batch.tokens == int((batch.ids == tokenizer.pad_id).sum())
    assert batch.target_tokens == batch.tokens  # each token read predicts one
