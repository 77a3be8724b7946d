"""Rules for the whole repository: light imports, one module that prints, complete errors, pinned dependencies."""

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pellucid
from pellucid.cli.app import COMMANDS
from tests.conftest import ROOT

MODULES = sorted((ROOT / "pellucid").rglob("*.py"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), str(module))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_modules_with_compiled_functions_are_left_out_of_the_coverage() -> None:
    compiled = [
        module for module in MODULES if re.search(r"kernels\.compilation|@kernel|numba", module.read_text("utf-8"))
    ]
    assert PYPROJECT["tool"]["slipcover"]["omit"] == [relative(module) for module in compiled]


@pytest.mark.parametrize("program", ["import pellucid", "from pellucid.cli.app import main; main(['--help'])"])
def test_neither_torch_nor_numba_is_loaded_before_it_is_needed(program: str) -> None:
    heavy = "{'torch', 'numba', 'tokenizers', 'transformers', 'numpy'}"
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{program}\nimport sys\nassert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_every_public_name_is_there() -> None:
    for name in pellucid.__all__:
        assert getattr(pellucid, name) is not None
        assert name in dir(pellucid)
    with pytest.raises(AttributeError, match="no attribute 'trainn'"):
        pellucid.trainn  # noqa: B018


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_a_module_with_public_names_lists_them_in_all(module: Path) -> None:
    body = tree(module).body
    assigned = {ast.unparse(target) for node in body if isinstance(node, ast.Assign) for target in node.targets}
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    if any(not name.startswith("_") for name in defined):
        assert "__all__" in assigned


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_only_the_console_prints(module: Path) -> None:
    if module == ROOT / "pellucid" / "cli" / "console.py":
        return
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in {"print", "sys.stdout.write", "sys.stderr.write"}, node.lineno


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_text_is_opened_with_its_encoding(module: Path) -> None:
    for node in ast.walk(tree(module)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        given = {keyword.arg for keyword in node.keywords} | {None}
        modes = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        binary = any(re.fullmatch(r"[rwxa]b\+?|[rwxa]\+?b", mode) for mode in modes)
        if name in {"read_text", "write_text"} and isinstance(node.func, ast.Attribute):
            assert "encoding" in given, node.lineno
        if name in {"open", "fdopen"} and not ast.unparse(node.func).startswith("os.open"):
            assert binary or "encoding" in given, node.lineno


def errors_raised(module: Path) -> list[ast.Call]:
    """Find the calls that create a `UserError` or `UsageError`."""
    calls = [node for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func) in ("UserError", "UsageError")]


def literals(value: ast.expr) -> list[str]:
    """List the texts that a hint can begin with, as far as the source says: one per branch of a condition."""
    match value:
        case ast.IfExp(body=body, orelse=other):
            return literals(body) + literals(other)
        case ast.JoinedStr(values=[first, *_]) if isinstance(first, ast.Constant):
            return literals(first)
        case ast.Constant(value=str(text)):
            return [text]
    return []


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_an_error_says_where_and_gives_a_hint(module: Path) -> None:
    """A hint begins with a capital letter, or with a command in backticks."""
    for call in errors_raised(module):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        assert {"where", "hint"} <= given.keys(), f"{relative(module)}:{call.lineno}"
        for text in literals(given["hint"]):
            assert re.match(r"[A-Z`]", text), f"{relative(module)}:{call.lineno}: {text}"


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_a_docstring_says_what_its_object_does(module: Path) -> None:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            assert not (ast.get_docstring(node) or "").startswith("Return what"), f"{relative(module)}: {node}"


def test_no_two_public_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_the_line_in_the_list_of_commands_is_the_first_of_the_command_s_docstring() -> None:
    for words, command in COMMANDS.items():
        module, _, name = command.path.partition(":")
        docstring = inspect.getdoc(getattr(importlib.import_module(f"pellucid.cli.{module}"), name)) or ""
        assert docstring.splitlines()[0] == command.help, words


def test_the_layers_contract_knows_every_folder() -> None:
    (contract,) = PYPROJECT["tool"]["importlinter"]["contracts"]
    listed = {name.strip() for layer in contract["layers"] for name in re.split("[:|]", layer)}
    parts = [path for path in (ROOT / "pellucid").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    assert listed == {f"pellucid.{path.stem}" for path in parts if not path.stem.startswith("__")}


def test_the_installed_versions_are_within_the_ranges() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    for text in [*PYPROJECT["project"]["dependencies"], *(text for extra in extras for text in extra)]:
        requirement = Requirement(text)
        if requirement.name != "pellucid":
            assert requirement.specifier.contains(version(requirement.name), prereleases=True), text


def test_the_tested_set_is_pinned_and_within_the_ranges() -> None:
    pinned = {canonical(requirement.name): requirement for requirement in CONSTRAINTS}
    assert len(pinned) == len(CONSTRAINTS)
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    for text in [*PYPROJECT["project"]["dependencies"], *(text for extra in extras for text in extra)]:
        requirement = Requirement(text)
        if requirement.name == "pellucid":
            continue
        (exact,) = pinned[canonical(requirement.name)].specifier
        assert exact.operator == "=="
        assert requirement.specifier.contains(exact.version), text


def test_every_file_that_is_not_code_is_package_data() -> None:
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]
    carried = {
        path
        for name, globs in patterns.items()
        for each in globs
        for path in (ROOT / name.replace(".", "/")).glob(each)
    }
    files = {path for path in (ROOT / "pellucid").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    files = {path for path in files if "__pycache__" not in path.parts}
    assert carried == files and len(files) >= 10


def test_the_readme_marks_the_two_commands_that_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for mark, end in (("demo", ".venv/bin/pellucid demo"), ("test", ".venv/bin/python -m pytest -n auto")):
        (block,) = re.findall(rf"<!-- {mark}-command -->\n```sh\n(.*)\n```\n<!-- /{mark}-command -->", readme)
        assert block.endswith(end)


def test_every_package_that_is_installed_is_pinned() -> None:
    """Walk the dependencies of the package and its extras, and theirs in turn, as far as they are installed here."""
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    pinned = {canonical(requirement.name) for requirement in CONSTRAINTS}
    waiting = [Requirement(text) for text in PYPROJECT["project"]["dependencies"]]
    waiting += [Requirement(text) for extra in extras for text in extra]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        key = (canonical(requirement.name), frozenset(requirement.extras))
        # Each CUDA build of PyTorch depends on libraries of one exact version of its own.
        if key in seen or key[0] == "pellucid" or key[0].startswith(("nvidia-", "cuda-", "triton")):
            continue
        seen.add(key)
        assert key[0] in pinned
        for text in requires(requirement.name) or []:
            needed = Requirement(text)
            contexts = [{"extra": extra} for extra in ["", *requirement.extras]]
            if needed.marker is None or any(needed.marker.evaluate(context) for context in contexts):
                waiting.append(needed)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
