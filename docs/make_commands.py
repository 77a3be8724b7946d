"""Write docs/commands.md: the `--help` of every command.

`python docs/make_commands.py` writes the file; a test fails when it is out of date.
"""

import os
import subprocess
import sys
from pathlib import Path

from pellucid.cli.app import COMMANDS

__all__ = ["FILE", "render"]

FILE = Path(__file__).with_name("commands.md")

HEAD = """# Commands

<!-- Generated from the commands' help by docs/make_commands.py; do not edit by hand. -->

Exit codes: 0 success · 1 you must fix something: the message says what, where and how · 2 wrong usage · 70 a bug in
Pellucid · 130 stopped by Ctrl-C · 141 nobody reads the output any more. Results go to stdout, messages to stderr.
"""


def render() -> str:
    """Render the page."""
    parts = [HEAD]
    for words in ["", *COMMANDS]:
        parts.append(f"\n## `{f'pellucid {words}'.rstrip()}`\n\n```text\n{_help_of(words.split())}```\n")
    return "".join(parts)


def _help_of(command: list[str]) -> str:
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
