import math
from pathlib import Path
from typing import Any

import pytest
import torch

from pellucid.models import memory
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.memory import free_bytes, parameter_count

from .conftest import Build

CPU = torch.device("cpu")
GIB = 2**30


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the system says 8 GiB are available, and nothing else."""
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "GROUP_FILES", tmp_path / "groups")
    told = f"MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    {8 * GIB // 1024} kB\n"
    (tmp_path / "meminfo").write_text(told, encoding="ascii")
    return tmp_path


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"memory.{name}").write_text(f"{content}\n", encoding="ascii")


def test_memory_that_only_keeps_files_counts_as_free(system: Path) -> None:
    assert free_bytes(CPU) == 8 * GIB


def test_a_system_without_these_files_tells_otherwise(system: Path) -> None:
    (system / "meminfo").unlink()
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


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"tie_embeddings": "output", "bias": False, "norm": "rmsnorm"},
        {"tie_embeddings": "none", "activation": "swiglu", "n_kv_heads": 2, "norm_placement": "post"},
        {"positions": "learned", "max_positions": 50, "encoder_layers": 3, "activation": "gelu"},
        {"n_kv_heads": 1, "activation": "swiglu", "bias": False, "decoder_layers": 3},
    ],
)
def test_parameters_are_counted_as_the_model_has_them(build: Build, choices: dict[str, Any]) -> None:
    model = build(vocab_size=19, **choices)
    assert parameter_count(model.config, 19, 19) == sum(weight.numel() for weight in model.parameters())


def test_different_vocabularies_are_counted_each() -> None:
    config = EncoderDecoderConfig(d_model=8, n_heads=2, d_ff=8, tie_embeddings="none")
    model = EncoderDecoder(config, 5, 7, pad_id=0)
    assert parameter_count(config, 5, 7) == sum(weight.numel() for weight in model.parameters())
