"""From the second process on nothing is compiled; an unwritable folder stops nothing; an edited callee is noticed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROGRAM = """
from pellucid import WordVectors
from pellucid.word_vectors import negative_sampling, shards, word_table

vectors = WordVectors.train([["a", "b", "c"]] * 50, min_count=1, dim=16, negative=2, sample=0, threads=1)
kernel = negative_sampling.compile_negative_sampling(False, 2, 1)
hits, misses = (sum(sum(getattr(k.stats, name).values()) for k in (kernel,)) for name in ("cache_hits", "cache_misses"))
print(hits, misses, vectors.input_vectors.sum())
"""


def outcome(package: Path, **environment: str) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=package.parent,
        env={**os.environ, "PYTHONPATH": str(package.parent), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package whose cache is empty."""
    shutil.copytree(ROOT / "pellucid", tmp_path / "pellucid", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "pellucid"


def test_the_second_process_compiles_nothing_and_an_edited_callee_is_noticed(package: Path) -> None:
    first, second = outcome(package, NUMBA_CACHE_DIR=""), outcome(package, NUMBA_CACHE_DIR="")
    assert first[:2] == ["0", "1"] and second[:2] == ["1", "0"]
    assert first[2] == second[2]
    simd = package / "kernels" / "simd.py"
    edited = simd.read_text(encoding="utf-8").replace("0.6931471806, 1.0)", "0.6931471806, 3.0)")
    simd.write_text(edited, encoding="utf-8")
    third = outcome(package, NUMBA_CACHE_DIR="")
    assert third[:2] == ["0", "1"]
    assert third[2] != first[2]


def test_it_trains_where_nothing_can_be_written(package: Path) -> None:
    for folder in (package, package / "word_vectors", package / "kernels"):
        (folder / "__pycache__").touch()  # a file: no folder can be made there, not even by root
    nowhere = str(package / "__pycache__")
    for _ in range(2):
        assert outcome(package, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR="", PYTHONDONTWRITEBYTECODE="1")[0] == "0"
