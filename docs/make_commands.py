"""Write docs/commands.md: what every command of `pellucid` takes, as its `--help` says.

`python docs/make_commands.py` writes the file; a test fails when it is out of date.
"""

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["COMMANDS", "FILE", "render"]

FILE = Path(__file__).with_name("commands.md")

COMMANDS = (
    (),
    ("demo",),
    ("doctor",),
    ("train", "translator"),
    ("train", "lm"),
    ("train", "vectors"),
    ("train", "settings"),
    ("translate",),
    ("generate",),
    ("chat",),
    ("score",),
    ("evaluate",),
    ("look",),
    ("align",),
    ("import",),
    ("info",),
    ("vectors", "similar"),
    ("vectors", "analogy"),
    ("vectors", "odd-one-out"),
    ("vectors", "axis"),
    ("vectors", "bias"),
    ("vectors", "align"),
    ("vectors", "neighbours"),
    ("vectors", "stability"),
    ("vectors", "map"),
    ("vectors", "convert"),
    ("claims", "list"),
    ("claims", "run"),
)

HEAD = """# Commands

<!-- Written by docs/make_commands.py from the commands' own help. Change that, then run it again. -->

Exit codes: 0 done · 1 you must mend something, the message says what, where and how · 2 wrong usage · 70 a mistake of
Pellucid's own · 130 stopped by Ctrl-C · 141 nobody reads its output any more. stdout is data, stderr is talk.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for command in COMMANDS:
        program = " ".join(("pellucid", *command))
        parts.append(f"\n## `{program}`\n\n```text\n{_help_of(command)}```\n")
    return "".join(parts)


def _help_of(command: tuple[str, ...]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pellucid", *command, "--help"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        check=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip().splitlines())


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
    print(FILE)
