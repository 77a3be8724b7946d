from pathlib import Path

import pytest
import torch

from pellucid.models.config import EncoderDecoderConfig
from pellucid.training import memory_fit
from pellucid.training.memory_fit import LADDER, fit_micro_batch

CPU = torch.device("cpu")


@pytest.mark.parametrize(("free", "expected"), [(1e12, 50_000), (2e9, 2048), (1e6, LADDER[0])])
def test_a_batch_that_does_not_fit_is_taken_in_rungs(
    monkeypatch: pytest.MonkeyPatch, free: float, expected: int
) -> None:
    monkeypatch.setattr(memory_fit, "_free_bytes", lambda device: free)
    config = EncoderDecoderConfig(d_model=256, n_heads=4, d_ff=1024)
    assert fit_micro_batch(config, 50_000, 256, torch.bfloat16, CPU) == expected


def test_small_changes_of_free_memory_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EncoderDecoderConfig(d_model=256, n_heads=4, d_ff=1024)
    fitted = set()
    for free in (4.0e9, 4.1e9, 4.2e9):
        monkeypatch.setattr(memory_fit, "_free_bytes", lambda device, free=free: free)
        fitted.add(fit_micro_batch(config, 50_000, 256, torch.bfloat16, CPU))
    assert len(fitted) == 1


def test_memory_that_only_keeps_files_counts_as_free(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    4000 kB\n", encoding="ascii")
    monkeypatch.setattr(memory_fit, "MEMINFO", told)
    assert memory_fit._free_bytes(CPU) == 4000 * 1024


def test_a_system_without_that_file_tells_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_fit, "MEMINFO", tmp_path / "none")
    assert memory_fit._free_bytes(CPU) > 0
