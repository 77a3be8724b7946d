"""Find what is wrong with a text, by file and line, before training."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.corpus.doctor.checks import CHECKS
    from pellucid.corpus.doctor.examination import Examination, examine
    from pellucid.corpus.doctor.fixing import FixResult, fix
    from pellucid.corpus.doctor.report import DoctorReport, ReportedIssue

__all__ = ["CHECKS", "DoctorReport", "Examination", "FixResult", "ReportedIssue", "examine", "fix"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CHECKS": "checks",
        "DoctorReport": "report",
        "Examination": "examination",
        "FixResult": "fixing",
        "ReportedIssue": "report",
        "examine": "examination",
        "fix": "fixing",
    },
)
