"""The published table of checks."""

import re
from pathlib import Path

from pellucid.corpus.doctor.checks import CHECKS
from pellucid.corpus.doctor.reference import reference_table
from pellucid.corpus.documents_config import DOCUMENT_CHECKS

DOCS = Path(__file__).parents[2] / "docs" / "doctor.md"
PROMISED = """
line-count encoding line-separator control-character bom blank columns json too-long too-short length-ratio
number url placeholder punctuation script swapped shift copy duplicate leak"""


def test_the_published_table_is_the_codes() -> None:
    assert reference_table() in DOCS.read_text(encoding="utf-8")


def test_every_promised_check_is_there() -> None:
    assert set(PROMISED.split()) <= set(CHECKS)
    assert CHECKS["too-short"].level == "warn"


def test_the_checks_of_texts_are_named() -> None:
    section = DOCS.read_text(encoding="utf-8").partition("## Texts for a language model")[2]
    named = section.partition("The checks are ")[2].partition(" of the table")[0]
    assert tuple(re.findall("`([a-z-]+)`", named)) == DOCUMENT_CHECKS
