"""What is wrong with a text, by file and line, before a minute of training is spent."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.corpus.doctor.checks import CHECKS
    from pellucid.corpus.doctor.examination import Examination, examine
    from pellucid.corpus.doctor.fixing import Fixed, fix
    from pellucid.corpus.doctor.report import DoctorReport, Problem

__all__ = ["CHECKS", "DoctorReport", "Examination", "Fixed", "Problem", "examine", "fix"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CHECKS": "checks",
        "DoctorReport": "report",
        "Examination": "examination",
        "Fixed": "fixing",
        "Problem": "report",
        "examine": "examination",
        "fix": "fixing",
    },
)
