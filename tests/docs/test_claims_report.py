"""The report in docs/claims is what its outcomes say, and the guide says what the report says."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from pellucid.claims import all_claims
from pellucid.claims.texts import LANGUAGES, Language
from tests.conftest import ROOT, Run

GUIDE = ROOT / "docs" / "guide"
CHAPTERS = sorted(GUIDE.glob("*.md"))
IDS = {claim.id for claim in all_claims()}


@contextmanager
def _docs() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        yield
    finally:
        sys.path.remove(str(ROOT / "docs"))


def _loaded(name: str) -> ModuleType:
    with _docs():
        return import_module(name)


def test_the_report_is_what_its_outcomes_say() -> None:
    claims = _loaded("make_claims")
    for name, text in claims.render().items():
        assert (claims.FOLDER / name).read_text(encoding="utf-8") == text, "run python docs/make_claims.py --report"


def test_every_claim_has_its_outcome_and_its_figures() -> None:
    claims = _loaded("make_claims")
    outcomes = claims.stored_outcomes()
    assert set(outcomes) == IDS
    for name, one in outcomes.items():
        for language in LANGUAGES:
            drawn = claims.FOLDER / claims.figures_folder(language) / f"{name}.svg"
            assert drawn.exists() == (one.evidence is not None), drawn


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.name)
def test_a_chapter_says_what_the_lab_says(chapter: Path) -> None:
    guide = _loaded("make_guide")
    text = chapter.read_text(encoding="utf-8")
    filled = guide.render(text, guide.language_of(chapter), _loaded("make_claims").stored_outcomes())
    assert text == filled, "run python docs/make_guide.py"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_names_known_claims_and_shows_their_runs(language: Language) -> None:
    chapters = [path for path in CHAPTERS if path.name.endswith(".zh.md") == (language == "zh")]
    assert len(chapters) == 11  # ten, and the contents
    text = "".join(path.read_text(encoding="utf-8") for path in chapters)
    named = set(re.findall(r"\[([A-Z]\d+) [^\]]+\]\(\.\./claims/", text))
    assert named <= IDS
    shown = re.findall(r"^<!-- lab ([^>]*?) (?:figure[^>]*)?-->$", text, re.MULTILINE)
    assert {name for block in shown for name in block.split()} == named


def test_both_languages_show_the_same() -> None:
    for chapter in (path for path in CHAPTERS if not path.name.endswith(".zh.md")):
        english = chapter.read_text(encoding="utf-8")
        chinese = chapter.with_name(f"{chapter.stem}.zh.md").read_text(encoding="utf-8")
        for shown in (r"<!-- lab .*? -->", r"```sh\n.*?```", r"<!-- run -->\n.*?<!-- /run -->"):
            assert re.findall(shown, english, re.DOTALL) == re.findall(shown, chinese, re.DOTALL), chapter.name
        assert len(re.findall("^#", english, re.MULTILINE)) == len(re.findall("^#", chinese, re.MULTILINE))


def test_sessions_in_the_guide_are_what_is_printed(run_pellucid: Run, tmp_path: Path) -> None:
    sessions = [
        session
        for chapter in CHAPTERS
        for session in re.findall(r"<!-- run -->\n```console\n(.*?)```", chapter.read_text(encoding="utf-8"), re.DOTALL)
    ]
    assert sessions
    for session in dict.fromkeys(sessions):
        for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            if command.startswith("pellucid "):
                ended = run_pellucid(*command.split()[1:], cwd=tmp_path)
                assert ended.stdout.strip() == printed.strip()
            else:
                subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)


def test_scripts_in_the_guide_print_what_is_shown(tmp_path: Path) -> None:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment, found = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}, 0
    for chapter in CHAPTERS:
        scripts = re.findall(
            r"<!-- script -->\n```python\n(.*?)```\n+```text\n(.*?)```\n<!-- /script -->",
            chapter.read_text(encoding="utf-8"),
            re.DOTALL,
        )
        for script, shown in scripts:
            ended = subprocess.run(
                [sys.executable, "-W", "error", "-c", script],
                cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=True, env=environment,
            )  # fmt: skip
            assert ended.stdout == shown
            found += 1
    assert found == 2


def test_outcomes_are_lines_of_json() -> None:
    for line in (ROOT / "docs" / "claims" / "outcomes.jsonl").read_text(encoding="utf-8").splitlines():
        assert {"id", "quick", "seed", "seconds"} <= set(json.loads(line))
