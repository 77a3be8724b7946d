import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from pellucid.errors import UserError
from pellucid.storage.arrays import map_arrays, write_arrays

ARRAYS: dict[str, NDArray[Any]] = {
    "letters": numpy.arange(7, dtype=numpy.uint8),
    "vectors": numpy.arange(15, dtype=numpy.float32).reshape(3, 5),
    "ends": numpy.array([1, -2, 2**40]),
    "hashes": numpy.array([2**64 - 1], numpy.uint64),
    "rows": numpy.array([-1, 5], numpy.int32),
    "half": numpy.array([1.5], numpy.float16),
    "empty": numpy.empty((0, 3), numpy.float32),
    "number": numpy.array(2.5),
}


def test_arrays_come_back_read_only(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", ARRAYS)
    back = map_arrays(tmp_path / "a")
    assert back.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype
        assert numpy.array_equal(back[name], array)
        assert back[name].flags.aligned and not back[name].flags.writeable


def test_the_library_reads_what_is_written_and_is_read(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", ARRAYS)
    for name, array in load_file(tmp_path / "a").items():
        assert numpy.array_equal(array, ARRAYS[name])
    save_file(ARRAYS, tmp_path / "b", {"made by": "someone else"})
    for name, array in map_arrays(tmp_path / "b").items():
        assert numpy.array_equal(array, ARRAYS[name])


def test_arrays_of_other_orders_are_written_as_they_read(tmp_path: Path) -> None:
    turned = numpy.arange(6.0).reshape(2, 3).T
    write_arrays(tmp_path / "a", {"turned": turned, "big": numpy.arange(3, dtype=">i4")})
    assert numpy.array_equal(map_arrays(tmp_path / "a")["turned"], turned)
    assert map_arrays(tmp_path / "a")["big"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_a_file_that_is_cut_off_is_named(tmp_path: Path, cut: int) -> None:
    write_arrays(tmp_path / "a", ARRAYS)
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:cut])
    with pytest.raises(UserError, match="a is damaged") as caught:
        map_arrays(tmp_path / "a")
    assert caught.value.where == (str(tmp_path / "a"),)


@pytest.mark.parametrize(
    "head",
    [
        {"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, -8]}},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
        {"a": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32"}},
        {"a": 1},
        [],
    ],
)
def test_a_head_that_does_not_fit_is_damage(tmp_path: Path, head: object) -> None:
    text = json.dumps(head).encode()
    (tmp_path / "a").write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(UserError, match="a is damaged"):
        map_arrays(tmp_path / "a")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a is missing from"):
        map_arrays(tmp_path / "a")


def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    write_arrays(tmp_path / "a", {"x": numpy.ones(2)})
    with small_disk(1000), pytest.raises(UserError, match="the disk is full"):
        write_arrays(tmp_path / "a", {"x": numpy.zeros(1000)})
    assert map_arrays(tmp_path / "a")["x"].tolist() == [1, 1]
