import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

PROGRAM = """
from pellucid.kernels.compilation import kernel

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return 2 * inner(x)
"""


def outcome(folder: Path, **environment: str) -> str:
    """Call `outer(20)` in a process of its own; return the answer and how often the cache had the machine code."""
    ended = subprocess.run(
        [sys.executable, "-c", "from program import outer; print(outer(20), sum(outer.stats.cache_hits.values()))"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.stderr == ""
    return ended.stdout.strip()


def test_machine_code_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    assert outcome(tmp_path) == "42 0"
    assert outcome(tmp_path) == "42 1"
    program.write_text(PROGRAM.replace("x + 1", "x + 22"), encoding="utf-8")
    assert outcome(tmp_path) == "84 0"


def test_kernels_work_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "__pycache__").touch()  # a file: no folder can be made there, not even by root
    assert outcome(tmp_path, XDG_CACHE_HOME=str(tmp_path / "__pycache__"), NUMBA_CACHE_DIR="") == "42 0"
