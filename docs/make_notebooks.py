"""Run the notebooks of docs/notebooks and save what they print and draw.

    python docs/make_notebooks.py [notebook …]

Each English notebook runs in a kernel of its own, in a temporary folder. The Chinese one has the same code and gets the
same output.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

__all__ = ["FOLDER", "english_notebooks", "run"]

FOLDER = Path(__file__).with_name("notebooks")


def english_notebooks() -> list[Path]:
    """List the notebooks, one for each pair of languages."""
    return sorted(path for path in FOLDER.glob("*.ipynb") if not path.stem.endswith(".zh"))


def run(path: Path) -> NotebookNode:
    """Run a notebook from its first cell to its last.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell raises.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}})
        client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})  # the same numbers on any number of cores
    return notebook


def _save(notebook: NotebookNode, outputs: NotebookNode, path: Path) -> None:
    """Write a notebook with the outputs of another: a picture if there is one, else text."""
    for cell, executed in zip(notebook.cells, outputs.cells, strict=True):
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
        for output in cell.outputs:
            if "data" in output:
                kind = "image/svg+xml" if "image/svg+xml" in output["data"] else "text/plain"
                output["data"], output["metadata"] = {kind: output["data"][kind]}, {}
    nbformat.write(notebook, path)


def main() -> None:
    """Run and save the notebooks that are named, or all."""
    for path in [Path(name) for name in sys.argv[1:]] or english_notebooks():
        executed = run(path)
        for other in (path, path.with_suffix(".zh.ipynb")):
            _save(nbformat.read(other, as_version=4), executed, other)
        print(path)


if __name__ == "__main__":
    main()
