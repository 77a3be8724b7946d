"""The documents tell the truth."""

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    commands = _loaded("make_commands")
    assert commands.FILE.read_text(encoding="utf-8") == commands.render()


def test_the_tables_of_the_doctor_are_up_to_date() -> None:
    doctor = _loaded("make_doctor")
    for file in doctor.FILES:
        text = file.read_text(encoding="utf-8")
        assert doctor.render(text) == text, file
    for name in doctor.PARTS:
        assert any(f"<!-- {name} -->" in file.read_text(encoding="utf-8") for file in doctor.FILES), name


PAGES = ["README.md", "README.zh.md", "CONTRIBUTING.md", "recipes/README.md", "recipes/README.zh.md"]
GUIDES = [f"docs/{page.parent.name}/{page.name}" for page in sorted((ROOT / "docs").glob("guide*/*.md"))]
CLAIMS = ["docs/claims/README.md", "docs/claims/README.zh.md"]


@pytest.mark.parametrize("page", [*PAGES, "benchmarks/README.md", *GUIDES, *CLAIMS])
def test_links_lead_to_files(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", [*PAGES, *GUIDES])
def test_flags_of_commands_in_the_documents_exist(page: str) -> None:
    known: Mapping[str, str] = {
        name: text for name, text in re.findall(r"## `(pellucid[^`]*)`\n\n```text\n(.*?)```", _commands(), re.DOTALL)
    }
    text = (ROOT / page).read_text(encoding="utf-8")
    for line in re.findall(r"pellucid (?:train |vectors |claims )?[a-z-]+ [^\n`|#]*", text):
        words = line.split()
        command = " ".join(words[: 3 if words[1] in ("train", "vectors", "claims") else 2])
        for flag in re.findall(r"(?<!\S)--[a-z][a-z-]*(?![.\w])", line):
            assert flag in known.get(command, flag), f"{page}: {line}"


def test_each_decision_has_a_number_of_its_own() -> None:
    numbers = [file.name[:4] for file in (ROOT / "docs" / "decisions").iterdir() if file.name != "README.md"]
    assert all(number.isdecimal() for number in numbers)
    assert len(set(numbers)) == len(numbers)


def _commands() -> str:
    return (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def test_the_readmes_have_the_same_commands_and_figures() -> None:
    """The Chinese README tells the same: its code blocks and the numbers of its tables are those of the English one."""
    blocks = [
        re.findall(r"```(?:sh|python)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
        for page in ("README.md", "README.zh.md")
    ]
    without_comments = [[re.sub(r"\s*#.*", "", block) for block in page] for page in blocks]
    assert without_comments[0] == without_comments[1]
    numbers = [
        re.findall(r"\d+\.\d+", "".join(re.findall(r"^\|.*\|$", (ROOT / page).read_text(encoding="utf-8"), re.M)))
        for page in ("README.md", "README.zh.md")
    ]
    assert numbers[0] == numbers[1]
