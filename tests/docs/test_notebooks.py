"""The notebooks run, were saved with their output, and have the same code in both languages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOTEBOOKS = sorted(path for path in (ROOT / "docs" / "notebooks").glob("*.ipynb") if not path.stem.endswith(".zh"))


def _code(path: Path) -> list[tuple[list[str], list[dict[str, object]]]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["source"], cell["outputs"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    run = "runpy.run_path('docs/make_notebooks.py')['run']"
    script = f"import runpy; from pathlib import Path; {run}(Path({str(notebook)!r}))"
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_its_output_and_the_same_code_in_chinese(notebook: Path) -> None:
    code = _code(notebook)
    assert code == _code(notebook.with_suffix(".zh.ipynb"))
    assert any(outputs for _, outputs in code)
    assert not any(output["output_type"] == "error" for _, outputs in code for output in outputs)
