"""The scripts in the guides run, word for word."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    draw = random.Random(1)
    words = ["king", "queen", "man", "woman", "crown", "castle", "bread", "home", "wife", "good"]
    lines = [" ".join(draw.choices(words, k=8)) + draw.choice(["", " in new york"]) for _ in range(300)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_s_script_runs(guide: Path, corpus: Path) -> None:
    scripts = re.findall(
        r"<!-- script -->\n```python\n(.*?)```\n<!-- /script -->", guide.read_text(encoding="utf-8"), re.DOTALL
    )
    assert scripts
    for script in scripts:
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            cwd=corpus,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout


@pytest.mark.parametrize("chinese", sorted((ROOT / "docs" / "guides").glob("*.zh.md")), ids=lambda path: path.stem)
def test_a_guide_has_the_same_code_in_both_languages(chinese: Path) -> None:
    english = chinese.with_name(chinese.name.replace(".zh.md", ".md"))
    assert _code(chinese) == _code(english)


@pytest.mark.parametrize("guide", [guide for guide in GUIDES if not guide.stem.endswith(".zh")], ids=lambda at: at.stem)
def test_a_guide_is_there_in_both_languages(guide: Path) -> None:
    assert guide.with_suffix(".zh.md").is_file()


def _code(guide: Path) -> list[tuple[str, str]]:
    """Return the code of a guide by language, without comments and without what Python prints for people."""
    found = re.findall(r"```(\w+)\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    return [(kind, re.sub(r'\s+#.*|(?<=print\()f"[^"\n]*"', "", code)) for kind, code in found]


def test_gensim_reads_what_the_guide_s_script_writes(corpus: Path) -> None:
    from gensim.models import KeyedVectors

    from pellucid import WordVectors

    vectors = WordVectors.train(corpus / "corpus.txt", dim=16, epochs=1, threads=1)
    vectors.save(corpus / "v.bin", "word2vec-binary")
    keyed = KeyedVectors.load_word2vec_format(str(corpus / "v.bin"), binary=True)
    assert keyed.index_to_key == list(vectors.words)
