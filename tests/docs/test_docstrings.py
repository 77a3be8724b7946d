"""Docstrings name the arguments and attributes that are there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

MODULES = sorted((ROOT / "pellucid").rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _described(node: Function | ast.ClassDef, section: str) -> list[str]:
    """List the names that a section of a docstring describes; `query, key: …` describes two."""
    _, _, after = (ast.get_docstring(node) or "").partition(f"\n{section}:\n")
    lines = re.match(r"(?:    .*\n?|\n)*", after)
    assert lines is not None
    groups = re.findall(r"^    (\w+(?:, \w+)*):", lines[0], re.MULTILINE)
    return [name for group in groups for name in group.split(", ")]


def _arguments(function: Function) -> set[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {argument.arg for argument in every if argument is not None}


def _attributes(class_: ast.ClassDef) -> set[str]:
    """Fields, methods and properties of a class, and what its methods assign to `self`."""
    names = {
        node.target.id for node in class_.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    names |= {node.name for node in class_.body if isinstance(node, Function)}
    assigned = [
        node for node in ast.walk(class_) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    return names | {node.attr for node in assigned if ast.unparse(node.value) == "self"}


def _stale(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            known = {"Args": _arguments(node)}
        elif isinstance(node, ast.ClassDef):
            made = [
                _arguments(member) for member in node.body if isinstance(member, Function) and member.name == "__init__"
            ]
            known = {"Args": made[0] if made else _attributes(node), "Attributes": _attributes(node)}
        else:
            continue
        for section, names in known.items():
            yield from (
                f"{node.lineno}: {node.name}: {name}" for name in _described(node, section) if name not in names
            )


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_docstring_describes_what_is_there(module: Path) -> None:
    assert list(_stale(module)) == []
