import mmap
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.errors import UserError
from pellucid.storage import id_store
from pellucid.storage.id_store import IdStore, IdStoreWriter

int32 = st.integers(-(2**31), 2**31 - 1)


@given(sequences=st.lists(st.lists(int32, max_size=9), max_size=9), buffer=st.integers(1, 8))
def test_what_is_appended_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, sequences: list[list[int]], buffer: int
) -> None:
    path = tmp_path_factory.mktemp("store") / "ids"
    with pytest.MonkeyPatch.context() as patch, IdStoreWriter(path) as writer:
        patch.setattr(id_store, "_BUFFER", buffer)
        for sequence in sequences:
            writer.append(sequence)
        store = writer.close()
    assert [ids.tolist() for ids in store] == sequences
    assert [store[i].tolist() for i in range(len(store))] == sequences
    assert [store[i - len(store)].tolist() for i in range(len(store))] == sequences
    assert store.lengths.tolist() == [len(sequence) for sequence in sequences]
    assert store.ids.tolist() == [i for sequence in sequences for i in sequence]
    assert all(ids.dtype == numpy.int32 for ids in store)


def written(path: Path, *sequences: list[int]) -> IdStore:
    with IdStoreWriter(path) as writer:
        for sequence in sequences:
            writer.append(sequence)
        return writer.close()


def test_it_is_mapped_not_read(tmp_path: Path) -> None:
    store = written(tmp_path / "ids", [1, 2], [3])
    owner: object = store[0].base
    while isinstance(owner, numpy.ndarray):
        owner = owner.base
    assert isinstance(owner, memoryview)
    assert isinstance(owner.obj, mmap.mmap)
    with pytest.raises(ValueError, match="read-only"):
        store[0][0] = 7


def test_a_slice_is_a_list(tmp_path: Path) -> None:
    store = written(tmp_path / "ids", [1, 2], [3], [])
    assert [ids.tolist() for ids in store[1:]] == [[3], []]
    with pytest.raises(IndexError):
        store[3]


def test_nothing_stands_there_before_it_is_closed(tmp_path: Path) -> None:
    with IdStoreWriter(tmp_path / "ids") as writer:
        writer.append([1])
        assert not (tmp_path / "ids").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ids", [[2**31], [0.5], [[1, 2]], -(2**31) - 1])
def test_ids_that_do_not_fit_are_a_callers_mistake(tmp_path: Path, ids: object) -> None:
    with IdStoreWriter(tmp_path / "ids") as writer, pytest.raises(ValueError, match="int32"):
        writer.append(ids)  # type: ignore[arg-type]


def test_a_missing_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        IdStore(tmp_path / "ids")
    assert str(tmp_path / "ids") in caught.value.where[0]


@pytest.mark.parametrize("cut", [1, 4])
def test_a_damaged_store_is_refused(tmp_path: Path, cut: int) -> None:
    written(tmp_path / "ids", [1, 2], [3])
    content = (tmp_path / "ids").read_bytes()
    (tmp_path / "ids").write_bytes(content[:-cut])
    with pytest.raises(UserError, match="damaged") as caught:
        IdStore(tmp_path / "ids")
    assert caught.value.hint == "Copy it again from an intact copy, or create it again from the text."


def test_a_full_disk_names_the_store(tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]) -> None:
    with IdStoreWriter(tmp_path / "ids") as writer:
        writer.append(range(10_000))
        with small_disk(1000), pytest.raises(UserError, match="the disk is full"):
            writer.close()
