"""The published table of checks, made from the code that uses it."""

from pellucid.corpus.doctor.checks import CHECKS

__all__ = ["reference_table"]


def reference_table() -> str:
    """Return the table of all checks in Markdown, as it stands in docs/doctor.md."""
    lines = ["| check | level | what is wrong | what `--fix` does |", "|---|---|---|---|"]
    lines += [f"| `{check.id}` | {check.level} | {check.meaning} | {check.fix} |" for check in CHECKS.values()]
    return "\n".join(line.replace("<b>", "`<b>`") for line in lines) + "\n"
