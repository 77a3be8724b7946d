"""Hooks of the documentation site (mkdocs.yml).

The Markdown is written to be read in the repository, where a link leads from file to file. The site shows pages that
stand outside docs/ (README.md and others), has the Chinese pages in a folder of their own, and has no source files.
"""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority, get_plugin_logger

ROOT = Path(__file__).parents[1]
STUB = re.compile(r"\A(?:The site shows|网站在这里显示) \[[^\]]+\]\(([^)]+)\)(?: here\.|。)\s*\Z")
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
REMOTE = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^>]*>')
log = get_plugin_logger("site")


def shown_files() -> dict[str, str]:
    """Find which file of the repository each page shows: the page itself, or what a stub names."""
    shown = {}
    for page in (ROOT / "docs").rglob("*.md"):
        path = page.relative_to(ROOT).as_posix()
        stub = STUB.match(page.read_text(encoding="utf-8"))
        shown[path] = posixpath.normpath(posixpath.join(posixpath.dirname(path), stub[1])) if stub else path
    return shown


SHOWN = shown_files()
PAGE_OF = {file: page for page, file in SHOWN.items()}


@event_priority(100)
def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Replace a stub by what it names, and make each link lead to a page of the site."""
    here = f"docs/{page.file.src_uri}"
    shown = SHOWN[here]
    if shown.endswith(".ipynb"):
        markdown = notebook_as_markdown(ROOT / shown)
    elif shown != here:
        markdown = (ROOT / shown).read_text(encoding="utf-8")

    def link(found: re.Match[str]) -> str:
        image, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(shown), target))
        if (ROOT / path).is_dir():
            path += "/README.md"
        if image:
            return f"![{text}]({posixpath.relpath(path, posixpath.dirname(here))})"
        if path not in PAGE_OF:
            return text  # a source file
        if PAGE_OF[path] == other_language(here):
            return f'<a href="{url_in_other_language(page.url)}">{text}</a>'
        return f"[{text}]({posixpath.relpath(PAGE_OF[path], posixpath.dirname(here))}{anchor})"

    return LINK.sub(link, markdown)


def other_language(path: str) -> str:
    """Name the same page in the other language."""
    return f"{path.removesuffix('.zh.md')}.md" if path.endswith(".zh.md") else f"{path.removesuffix('.md')}.zh.md"


def url_in_other_language(url: str) -> str:
    """Lead from a page to the same page in the other language."""
    other = url.removeprefix("zh/") if url.startswith("zh/") else f"zh/{url}"
    return posixpath.relpath(other, posixpath.dirname(url) or ".")


def notebook_as_markdown(path: Path) -> str:
    """Turn a notebook, as it was saved, into Markdown: text, code, and what the code printed or drew."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        printed = "".join("".join(output["text"]) for output in cell["outputs"] if "text" in output)
        for data in [{"text/plain": printed}, *(output["data"] for output in cell["outputs"] if "data" in output)]:
            if "image/svg+xml" in data:
                parts.append("".join(data["image/svg+xml"]))
            elif data["text/plain"]:
                parts.append("```text\n" + "".join(data["text/plain"]).rstrip() + "\n```")
    return "\n\n".join(parts) + "\n"


def on_post_build(config: Any) -> None:
    """Warn of whatever a page would load from the network."""
    site = Path(config["site_dir"])
    for page in sorted(site.rglob("*.html")):
        for tag in REMOTE.findall(page.read_text(encoding="utf-8")):
            log.warning("%s loads from the network: %s", page.relative_to(site), tag)
