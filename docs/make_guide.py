"""Insert results of the claims lab into the chapters of docs/guide.

`python docs/make_guide.py` writes the files; a test fails when one is out of date. Between the marks

    <!-- lab E1 E9 figure E9 -->
    <!-- /lab -->

it inserts the output of `pellucid claims run E1 E9` from the run that docs/claims reports, and the figure of E9. A link
to a claim, `[E1 holds](../claims/README.md#e1)`, states its verdict. Claims that need the user's own files are shown
with `--data folder`. After `--model.positions` it lists the position schemes.
"""

import re
from pathlib import Path
from typing import get_args

from make_claims import figures_folder, page_name, stored_outcomes

from pellucid.claims.lab import Outcome
from pellucid.claims.report import terminal_lines, verdict_text
from pellucid.claims.texts import Language
from pellucid.layers.position_scheme import PositionScheme

__all__ = ["FOLDER", "language_of", "render"]

FOLDER = Path(__file__).parent / "guide"
_BLOCK = re.compile(r"<!-- lab ([^>]*?) -->\n.*?<!-- /lab -->", re.DOTALL)
_NEED_DATA = {"E10"}
_SCHEMES = re.compile(r"(?<=`--model\.positions )[\w|]+(?=`)")
_LINK = re.compile(r"\[([EMPASHRKT]\d+)\b[^\]]*\](?:\([^)]*\))?")


def language_of(chapter: Path) -> Language:
    """Read the language of a chapter off its file name."""
    return "zh" if chapter.name.endswith(".zh.md") else "en"


def render(text: str, language: Language, outcomes: dict[str, Outcome]) -> str:
    """Fill in the blocks and links of a chapter."""
    text = _SCHEMES.sub("|".join(get_args(PositionScheme)), text)
    text = _LINK.sub(lambda found: _link(found[1], language, outcomes), text)
    return _BLOCK.sub(lambda found: _block(found[1], language, outcomes), text)


def _link(name: str, language: Language, outcomes: dict[str, Outcome]) -> str:
    verdict = verdict_text(outcomes[name].verdict if name in outcomes else "not-run", language)
    return f"[{name} {verdict}](../claims/{page_name(language)}#{name.lower()})"


def _block(asked: str, language: Language, outcomes: dict[str, Outcome]) -> str:
    ids, _, figures = (part.split() for part in asked.partition(" figure "))
    command = f"$ pellucid claims run {' '.join(ids)}{' --quick' if _quick(ids, outcomes) else ''}"
    command += " --data folder" if _NEED_DATA & set(ids) else ""
    lines = [command + (" --lang zh" if language == "zh" else "")]
    for name in ids:
        lines += terminal_lines(outcomes[name], language) if name in outcomes else []
    parts = ["<!-- lab " + asked + " -->", "```console", *lines, "```"]
    for name in figures:
        if name in outcomes and outcomes[name].evidence is not None:
            parts += ["", f"![{name}](../claims/{figures_folder(language)}/{name}.svg)"]
    return "\n".join([*parts, "<!-- /lab -->"])


def _quick(ids: list[str], outcomes: dict[str, Outcome]) -> bool:
    return any(outcomes[name].shortened for name in ids if name in outcomes)


def main() -> None:
    """Write all chapters."""
    outcomes = stored_outcomes()
    for chapter in sorted(FOLDER.glob("*.md")):
        text = chapter.read_text(encoding="utf-8")
        chapter.write_text(render(text, language_of(chapter), outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
