"""The report draws its figures by itself, in a browser that has no network, and stays within a narrow page.

It needs Chromium, as `tests/inspection/in_a_browser.py` does; `.ci/run` runs both.
"""

import re
from pathlib import Path

from pellucid.claims import find_claims, run_claims
from tests.claims.whole_report import write_report
from tests.inspection.in_a_browser import drawn

# Narrow the page as a telephone does, and write beside each figure how far it sticks out.
PROBE = """<script type="module">setTimeout(() => {
  document.body.style.maxWidth = "360px";
  for (const figure of document.querySelectorAll(".figure, .rule")) {
    const out = figure.getBoundingClientRect().right - document.body.getBoundingClientRect().right;
    figure.dataset.out = Math.max(0, Math.round(out));
  }
}, 5000)</script>"""


def test_every_figure_of_a_report_is_drawn_without_a_network_and_fits_a_narrow_page(tmp_path: Path) -> None:
    write_report(tmp_path / "lab", list(run_claims(find_claims(["M2", "M3", "A4", "P1", "S2"]))), "zh")
    report = tmp_path / "lab" / "report.html"
    text = report.read_text(encoding="utf-8")
    end = text.rindex("</body>")
    report.write_text(text[:end] + PROBE + text[end:], encoding="utf-8")
    page = drawn(report, tmp_path / "profile")
    sections = re.findall(r'<section id="(\w+)"[^>]*>(.*?)</section>', page, re.DOTALL)
    assert [name for name, _ in sections] == ["M2", "M3", "P1", "A4", "S2"]
    for name, section in sections:
        assert re.search(r"<svg[^>]*>.*?<path", section, re.DOTALL), name
        assert re.findall(r'data-out="(\d+)"', section) == ["0", "0"], name
