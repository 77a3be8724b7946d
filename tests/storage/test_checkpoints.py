import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import torch

from pellucid.errors import UserError
from pellucid.storage.checkpoints import (
    Checkpoint,
    checkpoint_step,
    latest_checkpoint,
    list_checkpoints,
    prune_checkpoints,
    read_checkpoint,
    remove_incomplete_checkpoints,
    write_checkpoint,
)


def made(step: int, size: int = 3) -> Checkpoint:
    weights = torch.full((size,), float(step))
    return Checkpoint(step, {"w": weights}, {"w.first": weights + 1}, {"epoch": 2, "best": {"step": 5, "bleu": 1.5}})


def steps(folder: Path) -> list[int]:
    return [checkpoint_step(checkpoint) for checkpoint in list_checkpoints(folder)]


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, made(123))
    assert folder == tmp_path / "checkpoints" / "step-00000123"
    assert sorted(entry.name for entry in folder.iterdir()) == [
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]
    back = read_checkpoint(folder)
    assert (back.step, back.state) == (123, made(123).state)
    assert torch.equal(back.model["w"], made(123).model["w"])
    assert torch.equal(back.optimizer["w.first"], made(123).optimizer["w.first"])


def test_the_latest_is_by_step_not_by_name(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    for step in (99_999_999, 100_000_000, 7):
        write_checkpoint(tmp_path, made(step))
    latest = latest_checkpoint(tmp_path)
    assert latest is not None and checkpoint_step(latest) == 100_000_000
    assert steps(tmp_path) == [7, 99_999_999, 100_000_000]


def test_the_same_step_is_written_anew(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, made(1))
    folder = write_checkpoint(tmp_path, made(1)._replace(state={"again": True}))
    assert read_checkpoint(folder).state == {"again": True}
    assert steps(tmp_path) == [1]


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("missing", [True, False])
def test_a_damaged_one_is_passed_over(tmp_path: Path, name: str, missing: bool) -> None:
    write_checkpoint(tmp_path, made(1))
    damaged = write_checkpoint(tmp_path, made(2)) / name
    if missing:
        damaged.unlink()
    else:
        damaged.write_bytes(damaged.read_bytes()[:-5])
    assert steps(tmp_path) == [1]
    assert latest_checkpoint(tmp_path) == tmp_path / "checkpoints" / "step-00000001"
    with pytest.raises(UserError):
        read_checkpoint(damaged.parent)


def test_a_state_that_lacks_its_step_is_named(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, made(1))
    (folder / "state.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=r"state\.json is damaged"):
        read_checkpoint(folder)


def test_pruning_keeps_the_newest_and_the_best(tmp_path: Path) -> None:
    for step in range(1, 7):
        write_checkpoint(tmp_path, made(step))
    (tmp_path / "checkpoints" / "step-00000006" / "state.json").unlink()
    (tmp_path / "checkpoints" / "notes").touch()
    assert prune_checkpoints(tmp_path, keep=2, best=1) == [2, 3, 6]
    assert steps(tmp_path) == [1, 4, 5]
    assert (tmp_path / "checkpoints" / "notes").exists()
    assert prune_checkpoints(tmp_path, keep=0) == [1, 4]
    assert steps(tmp_path) == [5]


def test_a_full_disk_leaves_the_older_ones_and_no_half(
    tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    write_checkpoint(tmp_path, made(1))
    with small_disk(4000), pytest.raises(UserError, match="the disk is full") as caught:
        write_checkpoint(tmp_path, made(2, size=10_000))
    assert "step-00000002" in caught.value.where[0]
    assert [entry.name for entry in (tmp_path / "checkpoints").iterdir()] == ["step-00000001"]
    assert read_checkpoint(tmp_path / "checkpoints" / "step-00000001").step == 1


_DIE = """
import os, signal, sys, torch
from pellucid.storage.checkpoints import Checkpoint, write_checkpoint

calls, fsync = 0, os.fsync
def dying(handle):
    global calls
    calls += 1
    if calls == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(handle)

os.fsync = dying
write_checkpoint(sys.argv[1], Checkpoint(2, {"w": torch.zeros(3)}, {"m": torch.zeros(3)}, {}))
"""


def test_one_killed_in_the_middle_is_ignored_and_cleared(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, made(1))
    ended = subprocess.run([sys.executable, "-c", _DIE, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    latest = latest_checkpoint(tmp_path)
    assert latest is not None and read_checkpoint(latest).step == 1
    assert len(remove_incomplete_checkpoints(tmp_path)) == 1
    assert [entry.name for entry in (tmp_path / "checkpoints").iterdir()] == ["step-00000001"]
