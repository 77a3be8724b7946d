"""Chinese and English sentences from Debian's packages, aligned by their publishers.

Program texts (gettext), manuals (HTML, Mallard, DocBook) and package descriptions. Nothing is aligned by guessing.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from recipes.data.catalogues import message_pairs, read_catalogue
from recipes.data.descriptions import matching_descriptions, read_descriptions
from recipes.data.help_pages import matching_leaves
from recipes.data.packages import Deb, files_of
from recipes.data.pages import matching_blocks, matching_paragraphs, read_page
from recipes.data.plain_text import Pair

__all__ = ["description_pairs", "package_pairs"]

_CATALOGUE = re.compile(r".*/zh_CN/.*\.mo")
# Calibre has all its catalogues in one archive.
_CALIBRE = "usr/share/calibre/localization/locales.zip"
_CALIBRE_CATALOGUE = "zh_CN/messages.mo"
_HELP = re.compile(r"usr/share/help/(?:C|zh_CN)/.*\.(?:page|xml|docbook)")
_OFFICE_HELP = re.compile(r"usr/share/libreoffice/help/(?:en-US|zh-CN)/text/.*\.html")
# Folders whose pages are paired block by block.
_MANUALS = re.compile(
    r"(?:usr/share/doc/debian-handbook/html/(?:en-US|zh-CN)"
    r"|usr/share/doc/installation-guide-amd64/(?:en|zh_CN)"
    r"|usr/share/debian-reference)/[^/]*\.html"
)
_ENGLISH_PLACE = re.compile(r"(?<=/)(?:en-US|en|C)(?=/)|(?<=\.)en(?=\.html$)")
_CHINESE_PLACE = re.compile(r"(?<=/)(?:zh-CN|zh_CN)(?=/)|(?<=\.)zh-cn(?=\.html$)")


def package_pairs(debs: Sequence[Deb]) -> Iterator[Pair]:
    """Yield the pairs of all packages as their publishers aligned them, including text that is not prose."""
    pages: dict[str, bytes] = {}
    for deb in debs:
        for path, content in files_of(deb.path, _holds_text):
            if path.endswith((".mo", ".zip")):
                yield from _catalogue_pairs(path, content, hinted=deb.name.startswith("wesnoth"))
            else:
                # The two languages of a page may stand in two packages.
                pages[path] = content
    yield from _page_pairs(pages)


def description_pairs(chinese: Path, english: Path) -> Iterator[Pair]:
    """Yield the pairs of apt's two lists of package descriptions."""
    yield from matching_descriptions(
        read_descriptions(chinese.read_text(encoding="utf-8"), "zh_CN"),
        read_descriptions(english.read_text(encoding="utf-8"), "en"),
    )


def _holds_text(path: str) -> bool:
    if path == _CALIBRE or (_CATALOGUE.fullmatch(path) and "LC_MESSAGES" in PurePosixPath(path).parts):
        return True
    return any(pattern.fullmatch(path) for pattern in (_HELP, _OFFICE_HELP, _MANUALS))


def _catalogue_pairs(path: str, content: bytes, *, hinted: bool) -> Iterator[Pair]:
    if path == _CALIBRE:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(_CALIBRE_CATALOGUE)
    for message in read_catalogue(content):
        yield from message_pairs(message, hinted=hinted)


def _page_pairs(pages: Mapping[str, bytes]) -> Iterator[Pair]:
    """Pair each Chinese page with the English page whose path differs only in the language."""
    english = {_ENGLISH_PLACE.sub("*", path): content for path, content in pages.items() if _is_english(path)}
    for path, content in pages.items():
        twin = english.get(_CHINESE_PLACE.sub("*", path))
        if _is_english(path) or twin is None:
            continue
        if _HELP.fullmatch(path):
            yield from matching_leaves(content, twin)
        elif _OFFICE_HELP.fullmatch(path):
            yield from matching_paragraphs(read_page(content), read_page(twin))
        else:
            yield from matching_blocks(read_page(content), read_page(twin))


def _is_english(path: str) -> bool:
    return _ENGLISH_PLACE.search(path) is not None
