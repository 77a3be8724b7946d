"""Write the parts of the documents that derive from the doctor's tables: its checks and the file formats.

`python docs/make_doctor.py` fills in the parts between `<!-- NAME -->` and `<!-- /NAME -->` in docs/doctor.md
and the READMEs; a test fails when one of them is out of date.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from pellucid.corpus.config import DOCUMENT_CHECKS
from pellucid.corpus.doctor.checks import CHECKS
from pellucid.corpus.formats import PAIR_FORMATS, PLAIN_TEXT

__all__ = ["FILES", "render"]

_ROOT = Path(__file__).parents[1]
FILES = tuple(_ROOT / name for name in ("docs/doctor.md", "README.md", "README.zh.md"))


def checks_table() -> str:
    """The table of checks in Markdown."""
    lines = ["", "", "| check | level | what is wrong | what `--fix` does |", "|---|---|---|---|"]
    lines += [f"| `{check.id}` | {check.level} | {check.meaning} | {check.fix} |" for check in CHECKS.values()]
    return "\n".join(line.replace("<b>", "`<b>`") for line in lines) + "\n\n"


def document_checks() -> str:
    """The names of the checks for documents."""
    return ", ".join(f"`{check}`" for check in DOCUMENT_CHECKS)


def formats_table() -> str:
    """The table of formats of sentence pairs in Markdown."""
    lines = ["", "", "| name ends in | a pair is |", "|---|---|"]
    lines += [f"| {', '.join(f'`{suffix}`' for suffix in form.suffixes)} | {form.pair} |" for form in PAIR_FORMATS]
    return "\n".join([*lines, f"| anything else | {PLAIN_TEXT} |"]) + "\n\n"


def _names(conjunction: str, comma: str) -> str:
    names = [form.name for form in PAIR_FORMATS]
    return comma.join(names[:-1]) + conjunction + names[-1]


PARTS: Mapping[str, Callable[[], str]] = {
    "checks": checks_table,
    "document-checks": document_checks,
    "pair-formats": formats_table,
    "pair-format-names": lambda: _names(" or ", ", "),
    "pair-format-names-zh": lambda: _names(" 或 ", "、"),
}


def render(text: str) -> str:
    """Fill in the parts of a document."""
    for name, part in PARTS.items():
        pattern = rf"(<!-- {name} -->).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda match, part=part: f"{match[1]}{part()}{match[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    for file in FILES:
        file.write_text(render(file.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
