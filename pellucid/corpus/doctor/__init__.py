"""What is wrong with a text, by file and line, before a minute of training is spent."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.corpus.doctor.checks import CHECKS
    from pellucid.corpus.doctor.examination import Examination, examine
    from pellucid.corpus.doctor.fixing import Fixed, fix
    from pellucid.corpus.doctor.report import DoctorReport, Problem

__all__ = ["CHECKS", "DoctorReport", "Examination", "Fixed", "Problem", "examine", "fix"]

_HOMES = {
    "CHECKS": "checks",
    "DoctorReport": "report",
    "Examination": "examination",
    "Fixed": "fixing",
    "Problem": "report",
    "examine": "examination",
    "fix": "fixing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
