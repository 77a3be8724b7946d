from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import torch

from pellucid.errors import UserError
from pellucid.storage.tensors import TensorShape, read_shapes, read_tensors, write_tensors


def test_tensors_come_back_bit_for_bit(tmp_path: Path) -> None:
    tensors = {
        "a": torch.randn(3, 4, generator=torch.Generator().manual_seed(1)),
        "b.turned": torch.arange(6.0).reshape(2, 3).T,
        "half": torch.tensor([1.5, -0.0], dtype=torch.bfloat16),
        "state": torch.Generator().get_state(),
        "empty": torch.empty(0, 3),
        "number": torch.tensor(7),
    }
    write_tensors(tmp_path / "t.safetensors", tensors)
    back = read_tensors(tmp_path / "t.safetensors")
    assert back.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert back[name].dtype == tensor.dtype
        assert torch.equal(back[name], tensor)


def test_shapes_are_read_from_the_head(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"a": torch.zeros(3, 4), "b": torch.tensor(1)})
    shapes = read_shapes(tmp_path / "t")
    assert shapes == {"a": TensorShape("F32", (3, 4)), "b": TensorShape("I64", ())}
    assert (shapes["a"].size, shapes["b"].size) == (12, 1)


def test_the_file_is_readable_as_the_users_other_files(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_tensors(tmp_path / "t", {"a": torch.zeros(1)})
    assert (tmp_path / "t").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_tensors_that_share_memory_are_a_callers_mistake(tmp_path: Path) -> None:
    a = torch.zeros(3)
    with pytest.raises(RuntimeError, match="share memory"):
        write_tensors(tmp_path / "t", {"a": a, "b": a})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_file_and_leaves_the_old_one(
    tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    write_tensors(tmp_path / "t", {"a": torch.ones(2)})
    with small_disk(1000), pytest.raises(UserError, match="the disk is full") as caught:
        write_tensors(tmp_path / "t", {"a": torch.zeros(1000)})
    assert caught.value.where == (str(tmp_path / "t"),)
    assert torch.equal(read_tensors(tmp_path / "t")["a"], torch.ones(2))
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]


@pytest.mark.parametrize("read", [read_tensors, read_shapes])
@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_a_damaged_file_is_named(tmp_path: Path, read: Callable[[Path], object], cut: int) -> None:
    write_tensors(tmp_path / "t", {"a": torch.zeros(3, 4)})
    (tmp_path / "t").write_bytes((tmp_path / "t").read_bytes()[:cut])
    with pytest.raises(UserError, match="t is damaged") as caught:
        read(tmp_path / "t")
    assert caught.value.where == (str(tmp_path / "t"),)


@pytest.mark.parametrize("read", [read_tensors, read_shapes])
def test_a_missing_file_is_named(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(UserError, match="t is missing"):
        read(tmp_path / "t")
