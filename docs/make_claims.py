"""Write docs/claims: the report of the claims lab, in English and in Chinese.

    python docs/make_claims.py                    the whole lab, which takes its time, and the report
    python docs/make_claims.py E1 T               these claims and topics only; what is known of the others stays
    python docs/make_claims.py --report           nothing is run: the report of what is known
    python docs/make_claims.py --unknown          run what there is no full outcome of, or only one of the quick lab:
                                                  goes on after an interruption

Outcomes are kept in docs/claims/outcomes.jsonl, each as soon as it is there. Verdicts follow from them anew each time.
"""

import argparse
import time
from pathlib import Path

from pellucid.claims import find_claims, run_claim
from pellucid.claims.bilingual import LANGUAGES, Language
from pellucid.claims.charts import specification, svg
from pellucid.claims.lab import Outcome
from pellucid.claims.report import markdown
from pellucid.claims.stored import read_outcomes, write_outcomes

__all__ = ["FOLDER", "OUTCOMES", "figures_folder", "known", "page_name", "render"]

FOLDER = Path(__file__).parent / "claims"
OUTCOMES = FOLDER / "outcomes.jsonl"
_HEAD: dict[Language, str] = {
    "en": "Written by `python docs/make_claims.py`; `pellucid claims run -o lab` writes your own, as a page with "
    "figures to point at. Some rules were changed after earlier runs; the seeds here were drawn afterwards "
    "([which, and why](../decisions/0014-the-claims-lab.md)). "
    "[What it all means, in ten chapters](../guide/README.md) · [中文](README.zh.md)",
    "zh": "由 `python docs/make_claims.py` 写成；`pellucid claims run -o lab --lang zh` 写出你自己的报告，"
    "是图可交互的网页。有些规则在更早的运行之后改过；这里的种子都是改后才抽的"
    "（[哪些、为什么](../decisions/0014-the-claims-lab.md)）。"
    "[十章讲清来龙去脉](../guide/README.zh.md) · [English](README.md)",
}


def page_name(language: str) -> str:
    """Return the file of the report in a language."""
    return "README.md" if language == "en" else f"README.{language}.md"


def figures_folder(language: str) -> str:
    """Return the folder of its figures."""
    return "figures" if language == "en" else f"figures.{language}"


def known() -> dict[str, Outcome]:
    """Return what is known, by id."""
    return {one.claim.id: one for one in read_outcomes(OUTCOMES)} if OUTCOMES.exists() else {}


def render() -> dict[str, str]:
    """Return the pages by their names, from what is known."""
    outcomes = list(known().values())
    pages = {}
    for lang in LANGUAGES:
        title, text = markdown(outcomes, lang, figures_folder(lang)).split("\n", 1)
        pages[page_name(lang)] = f"{title}\n\n{_HEAD[lang]}\n{text}"
    return pages


def _draw(ids: set[str]) -> None:
    for one in known().values():
        if one.claim.id in ids and one.evidence is not None:
            for lang in LANGUAGES:
                folder = FOLDER / figures_folder(lang)
                folder.mkdir(parents=True, exist_ok=True)
                drawn = svg(specification(one.evidence, lang))
                (folder / f"{one.claim.id}.svg").write_text(drawn + "\n", encoding="utf-8")


def main() -> None:
    """Run what is asked, then write the pages and the figures of what has changed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ids", nargs="*", help="claims or topics; all unless given")
    options.add_argument("--report", action="store_true", help="run nothing")
    options.add_argument("--unknown", action="store_true", help="run only what there is no full outcome of")
    options.add_argument("--quick", action="store_true", help="run the quick lab, whose report says that it is that")
    options.add_argument("--data", type=Path, help="as for `pellucid claims run`")
    asked = options.parse_args()
    FOLDER.mkdir(exist_ok=True)
    chosen = find_claims(asked.ids)
    for claim in () if asked.report else chosen:
        found = known()
        if not (asked.unknown and claim.id in found and (asked.quick or not found[claim.id].shrunken)):
            clock = time.process_time()
            found[claim.id] = run_claim(claim, quick=asked.quick, data=asked.data)
            spent = time.process_time() - clock
            write_outcomes(OUTCOMES, (found[each.id] for each in find_claims(()) if each.id in found))
            print(f"{claim.id} {found[claim.id].verdict} {spent:.1f} s of processor time", flush=True)
    _draw({claim.id for claim in chosen})
    for name, text in render().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
