"""A compiled model learns what an uncompiled one learns; where nothing can be compiled that is said."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

from .conftest import SMALL

# Compiling takes long where PyTorch has not done so before: as few and as plain parts as make a Transformer.
PLAIN = {
    "model.d_model": 16,
    "model.d_ff": 16,
    "model.dropout": 0.0,
    "model.positions": "rope",
    "model.cross_positions": "none",
    "model.activation": "relu",
    "model.norm": "rmsnorm",
    "model.bias": False,
    "initialise.from_lexicon": False,
    "training.guided_weight": 0.0,
    "training.average_decay": None,
    "training.validations": 0,
}

# In a process of its own: there the shapes in signatures are not checked, which nothing that is compiled survives.
PROGRAM = """
import json, sys
from torch._dynamo.utils import counters
from pellucid.training.train_translator import train_translator
source, out, settings = json.loads(sys.argv[1])
losses = []
for compiled in (False, True):
    run = train_translator([source], f"{out}/{compiled}", steps=2, settings=settings | {"training.compile": compiled})
    losses.append([step.loss for step in run])
    graphs = counters["stats"]["unique_graphs"]
    assert (graphs > 1) is compiled, graphs
print(json.dumps(losses))
"""


def run(arguments: list[str], **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment},
        check=False,
    )


def test_two_compiled_steps_are_those_of_the_uncompiled_model(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    done = run(["-c", PROGRAM, json.dumps([str(pairs_file(100)), str(tmp_path), SMALL | PLAIN])])
    assert done.returncode == 0, done.stderr
    plain, compiled = json.loads(done.stdout)
    assert len(plain) == 2
    assert compiled == pytest.approx(plain, rel=1e-5)  # float32 sums, fused in another order


def test_without_a_compiler_it_is_said_before_the_text_is_read(tmp_path: Path) -> None:
    command = ["-m", "pellucid", "train", "translator", "none.tsv", "-o", str(tmp_path / "model"), "--steps", "1"]
    missing = {"CXX": str(tmp_path / "no-compiler"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    done = run([*command, "--training.compile", "true", "--device", "cpu"], **missing)
    assert done.returncode == 1
    assert done.stderr.startswith("error: torch.compile does not work here: ")
    assert "hint: Leave it out" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "model").exists()
