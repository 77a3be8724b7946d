"""The page draws every view by itself, in a browser that has no network.

It needs Chromium (Debian's package `chromium`), which a user's machine may lack, so the README's command leaves it to
`.ci/run`; by hand: `python -m pytest tests/inspection/in_a_browser.py`.
"""

import re
import shutil
import subprocess
from pathlib import Path

from tests.inspection.conftest import TARGET, translator_of

NAMES = ("chromium", "chromium-browser", "google-chrome")


def drawn(page: Path, profile: Path) -> str:
    """Return the page as it stands when its scripts have run."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    assert browser is not None, f"none of {', '.join(NAMES)} is installed"
    ended = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )  # fmt: skip
    return ended.stdout


def test_every_view_of_a_page_is_drawn_without_a_network(tmp_path: Path) -> None:
    look = translator_of("sinusoidal").look("水 🐱 Hund </script>", target=TARGET)
    look.save(tmp_path / "look.html")
    page = drawn(tmp_path / "look.html", tmp_path / "profile")
    sections = re.findall(r'<section id="([\w-]+)">(.*?)</section>', page, re.DOTALL)
    assert {"alignment", "score-parts", "logit-lens", "map", "neighbours"} <= {name for name, _ in sections}
    for name, section in sections:
        assert re.search(r"<svg[^>]*>.*?<path", section, re.DOTALL), name
    alignment = dict(sections)["alignment"]
    for label in ("水", "⟨end⟩", TARGET.split()[-1][-1]):
        assert label in alignment
