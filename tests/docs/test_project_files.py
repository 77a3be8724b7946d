"""Files about the project say what is so: the README, the glossary, the decisions, SECURITY, CITATION, the hooks."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import pellucid
from tests.conftest import ROOT

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_the_doctor_prints_what_the_readme_shows(readme: str, tmp_path: Path) -> None:
    session = next(
        block for block in re.findall(r"```console\n(.*?)```", _read(readme), re.DOTALL) if "printf" in block
    )
    lines = session.splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for command in commands[:-1]:
        _, text, _, name = shlex.split(command)
        (tmp_path / name).write_text(text.replace("\\n", "\n"), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", *shlex.split(commands[-1])],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.stdout.splitlines() == lines[len(commands) :]


def test_the_glossary_is_the_same_in_both_languages_and_names_files_that_exist() -> None:
    rows = re.findall(r"^\| (?!term|---)([^|]+) \| ([^|]+) \| [^|]+ \| `([^`]+)` \|$", _read("docs/glossary.md"), re.M)
    chinese = re.findall(
        r"^\| (?!术语|---)([^|]+) \| ([^|]+) \| [^|]+ \| `([^`]+)` \|$", _read("docs/glossary.zh.md"), re.M
    )
    assert len(rows) > 60
    assert [(term, zh, where) for term, zh, where in rows] == [(term, zh, where) for zh, term, where in chinese]
    assert [where for _, _, where in rows if not (ROOT / "pellucid" / where).exists()] == []


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_files_named_by_a_decision_exist(decision: Path) -> None:
    named = re.findall(r"`([\w./-]+\.py)`", decision.read_text(encoding="utf-8"))
    known = {
        path.relative_to(ROOT).as_posix()
        for folder in ("pellucid", "tests", "docs", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert [name for name in named if not any(path == name or path.endswith(f"/{name}") for path in known)] == []


def test_the_list_of_decisions_is_complete() -> None:
    linked = set(re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", _read("docs/decisions/README.md")))
    assert linked == {path.name for path in DECISIONS} - {"README.md"}


def test_each_promise_of_security_names_its_test() -> None:
    promises = [line for line in _read("SECURITY.md").splitlines() if line.startswith("| **")]
    assert len(promises) > 5
    for promise in promises:
        named = re.findall(r"`(tests/[^`]+)`", promise)
        assert named, promise
        assert [path for path in named if not (ROOT / path).exists()] == []


NETWORK = {"socket", "ssl", "http", "urllib.request", "urllib3", "requests", "httpx", "ftplib", "smtplib", "asyncio"}


def test_the_package_opens_no_connection() -> None:
    """No module imports what could open one; SECURITY.md promises it."""
    for module in (ROOT / "pellucid").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert not any(name == banned or name.startswith(f"{banned}.") for banned in NETWORK), (module, name)


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load(_read("CITATION.cff"))
    assert citation["version"] == pellucid.__version__
    assert citation["license"] == "MIT"


def test_pre_commit_runs_the_commands_of_ci() -> None:
    (repository,) = yaml.safe_load(_read(".pre-commit-config.yaml"))["repos"]
    gates = _read(".ci/run")
    for hook in repository["hooks"]:
        assert f".venv/bin/{hook['entry']}\n" in gates, hook["id"]
