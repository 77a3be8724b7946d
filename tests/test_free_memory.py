"""Free memory: what the machine has available, within the limits of its control groups."""

import math
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import torch

from pellucid import free_memory
from pellucid.free_memory import free_bytes

CPU = torch.device("cpu")
GIB = 2**30


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the files of control groups, on a machine with 8 GiB available."""
    monkeypatch.setattr(free_memory, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(free_memory, "GROUP_FILES", tmp_path / "groups")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * GIB))
    return tmp_path


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"memory.{name}").write_text(f"{content}\n", encoding="ascii")


def test_without_control_groups_the_machine_s_memory_counts(system: Path) -> None:
    assert free_bytes(CPU) == 8 * GIB


def test_this_machine_has_memory() -> None:
    assert 0 < free_bytes(CPU) < math.inf


def test_a_container_s_limit_holds_less_what_it_uses(system: Path) -> None:
    (system / "cgroup").write_text("0::/\n", encoding="ascii")
    group(system / "groups", max=3 * GIB, current=2 * GIB, stat=f"anon 5\ninactive_file {GIB // 2}\nfile 9")
    assert free_bytes(CPU) == 1.5 * GIB


def test_a_limit_higher_than_what_the_machine_has_changes_nothing(system: Path) -> None:
    (system / "cgroup").write_text("0::/\n", encoding="ascii")
    group(system / "groups", max=30 * GIB, current=GIB, stat="inactive_file 0")
    assert free_bytes(CPU) == 8 * GIB


def test_without_a_limit_the_machine_s_memory_counts(system: Path) -> None:
    (system / "cgroup").write_text("0::/user.slice/one:two\n", encoding="ascii")
    group(system / "groups" / "user.slice" / "one:two", max="max", current=GIB, stat="inactive_file 0")
    assert free_bytes(CPU) == 8 * GIB


def test_a_limit_of_a_group_above_binds_too(system: Path) -> None:
    (system / "cgroup").write_text("0::/jobs/mine\n", encoding="ascii")
    group(system / "groups" / "jobs" / "mine", max=6 * GIB, current=GIB)
    group(system / "groups" / "jobs", max=5 * GIB, current=3 * GIB)
    assert free_bytes(CPU) == 2 * GIB


@pytest.mark.parametrize("path", ["/", "/docker/0123"])
def test_the_first_version_of_control_groups_is_read(system: Path, path: str) -> None:
    """In a container that knows the host's path its own group is the top one."""
    (system / "cgroup").write_text(f"5:devices:/\n4:cpu,memory:{path}\n", encoding="ascii")
    stat = f"inactive_file 7\ntotal_inactive_file {GIB}"
    group(system / "groups" / "memory", limit_in_bytes=4 * GIB, usage_in_bytes=3 * GIB, stat=stat)
    assert free_bytes(CPU) == 2 * GIB


def test_a_group_over_its_limit_leaves_nothing(system: Path) -> None:
    (system / "cgroup").write_text("0::/\n", encoding="ascii")
    group(system / "groups", max=GIB, current=2 * GIB)
    assert free_bytes(CPU) == 0
