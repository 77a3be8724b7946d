"""L10: text on a system whose default encoding is not UTF-8. Elsewhere garbled; here UTF-8, in and out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.generation.small_language_model import save_language_model, small_language_model


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
def test_prompts_files_and_answers_are_utf8(encoding: str, tmp_path: Path) -> None:
    model = small_language_model()
    folder = save_language_model(tmp_path, model)
    text = tmp_path / "text.txt"
    text.write_text("猫吃鱼 Seán\n", encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": encoding,
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
    }

    def run(*arguments: object) -> bytes:
        program = [sys.executable, "-m", "pellucid", *map(str, arguments)]
        return subprocess.run(program, input="猫吃\n".encode(), env=environment, capture_output=True, check=True).stdout

    shown = run("generate", folder, "--file", "-", "--seed", 3, "--temperature", 2)
    expected = model.generate("猫吃", seed=3, temperature=2.0).text
    assert shown.decode("utf-8") == " ".join(expected.splitlines()) + "\n"
    (found,) = json.loads(run("score", folder, text, "--json").decode("utf-8"))
    assert "".join(token["text"] for token in found["tokens"]).startswith("猫")
