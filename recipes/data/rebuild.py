#!/usr/bin/env python3
"""Rebuild the real text that the recipes train on, from public packages of Debian 12.

It needs Debian 12 with its Python 3.11, apt-get and a network; nothing is installed, and only FOLDER is written to.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

if __package__ in {None, ""}:
    # Run as a script from a fresh checkout, where nothing is installed: the checkout takes this folder's place.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from pellucid.errors import UserError
from pellucid.storage.files import write_text
from recipes.data import es_en_bible, packages, selection, zh_en
from recipes.data.packages import Archive, Deb, Wanted
from recipes.data.plain_text import Pair

__all__ = ["SETS", "RecipeSet", "differences", "main", "write_set"]

_HERE = Path(__file__).resolve().parent
_DOWNLOADS = "downloads"


class RecipeSet(NamedTuple):
    """A set of text: how its files are called, which must come out, and what they are made of."""

    stem: str
    licence: str
    megabytes: int
    languages: tuple[str, ...]
    sha256: Mapping[str, str]
    build: Callable[[Archive, Sequence[Deb]], dict[str, list[Pair]]]


def build_bible(archive: Archive, debs: Sequence[Deb]) -> dict[str, list[Pair]]:
    """Print both Bibles through SWORD's own reader, run where it is unpacked."""
    unpacked = archive.folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    # Its libraries, where this system lacks them.
    libraries = packages.missing_packages(archive, "libsword-utils")
    packages.unpack([*debs, *packages.download(archive, libraries)], unpacked)
    spanish, english = (
        es_en_bible.read_verses(_listing(unpacked, module)) for module in ("spaRV1909eb", "engWEB2015eb")
    )
    return es_en_bible.hold_out_chapters(es_en_bible.join(spanish, english))


def build_zh_en(archive: Archive, debs: Sequence[Deb]) -> dict[str, list[Pair]]:
    """Collect the sentence pairs of all packages and of the packages' descriptions."""
    chinese, english = (packages.description_list(archive, language) for language in ("zh_CN", "en"))
    found: set[Pair] = set()
    for pairs in (zh_en.package_pairs(debs), zh_en.description_pairs(chinese, english)):
        found.update(sentence for pair in pairs for sentence in selection.sentence_pairs(pair))
    return selection.hold_out(found)


SETS = {
    "es-en-bible": RecipeSet(
        stem="es-en-bible-web",
        licence="public domain",
        megabytes=10,
        languages=("en",),
        sha256={
            "train": "a5a8c109fffe804b4e03ccca45a06de06fd7cdc7d9d5a5c38fca7334bbe67ccd",
            "valid": "3aac10da8b78481cb39604b3720b20af9f33218d8943a78f52836727632c3fea",
            "test": "ad84c623b7e45a3cc72d7cffbe778cd88aa7040b1b1ceb38e946fe9cc982b7b1",
        },
        build=build_bible,
    ),
    "zh-en": RecipeSet(
        stem="zh-en",
        licence="mixed (GPL, LGPL, MPL-2.0, CC-BY-SA-3.0, PostgreSQL): not to be passed on",
        megabytes=920,
        languages=("en", "zh_CN"),
        sha256={
            "train": "21cd474f784d23af6bfa0a1720126fca2ff49f8476eadd5789221d4c5f16e5fe",
            "valid": "7f67de6de206446c7ae1b773a6cce2f8325959c54fd46a362ddd03d20feb6947",
            "test": "0f8683b516a8d0599986fc26bff28049ab6674e0cb2bd2d6ee2d8b781e8d29a7",
        },
        build=build_zh_en,
    ),
}


def write_set(recipe_set: RecipeSet, parts: Mapping[str, Iterable[Pair]], folder: Path) -> list[Path]:
    """Write a part a file, source TAB target, and return the files whose content is not the tested one."""
    other = []
    for part, pairs in parts.items():
        lines = [f"{source}\t{target}\n" for source, target in pairs]
        path = folder / f"{recipe_set.stem}.{part}.tsv"
        text = "".join(lines)
        write_text(path, text)
        as_tested = hashlib.sha256(text.encode()).hexdigest() == recipe_set.sha256[part]
        print(f"{path}: {len(lines):,} pairs, {'as tested' if as_tested else 'NOT the tested ones'}")
        if not as_tested:
            other.append(path)
    return other


def differences(wanted: Sequence[Wanted], debs: Sequence[Deb]) -> list[str]:
    """Name each package that is of another version than the one that gave the tested set."""
    versions = {deb.name: deb.version for deb in debs}
    return [
        f"{name} {versions.get(name, 'missing')} (tested: {version})"
        for name, version in wanted
        if versions.get(name) != version
    ]


def rebuild(name: str, folder: Path) -> None:
    """Download, build and write the set `name` into `folder`, and say whether it is the tested one.

    Raises:
        UserError: where that is not possible, or where the set that came out is another one.
    """
    recipe_set = SETS[name]
    packages.check_system()
    wanted = packages.read_package_list(_HERE / f"{name}.packages")
    downloads = folder / _DOWNLOADS
    downloads.mkdir(parents=True, exist_ok=True)
    _say(f"fetching the lists of packages into {downloads}")
    archive = packages.open_archive(downloads, recipe_set.languages)
    _say(f"downloading {len(wanted)} packages, about {recipe_set.megabytes} MB, unless they are there already")
    debs = packages.download(archive, packages.requests(archive, wanted))
    _say("reading them")
    other = write_set(recipe_set, recipe_set.build(archive, debs), folder)
    _say(f"licence of the text: {recipe_set.licence}")
    _say(f"{downloads} can be deleted")
    if other:
        changed = differences(wanted, debs)
        raise UserError(
            "the set was rebuilt, but is not the one that the recipes' figures were measured on",
            where=[*map(str, other), *changed],
            hint="the packages have moved on: it is good for training, but give your own figures for it"
            if changed
            else "the packages are the tested ones, so Python or apt's lists differ: try Debian 12's own python3",
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], epilog=__doc__.partition("\n\n")[2])
    parser.add_argument("set", choices=sorted(SETS), help="which set to rebuild")
    parser.add_argument("folder", type=Path, help="where its three files go; downloads are kept beside them")
    options = parser.parse_args(arguments)
    try:
        rebuild(options.set, options.folder)
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(UserError(error.strerror or str(error), where=str(error.filename or options.folder)), file=sys.stderr)
        return UserError.exit_code
    return 0


def _listing(unpacked: Path, module: str) -> str:
    program = str(unpacked / "usr/bin/mod2imp")
    libraries = sorted({str(path.parent) for path in unpacked.rglob("*.so*")})
    environment = {
        **os.environ,
        "SWORD_PATH": str(unpacked / "usr/share/sword"),
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        # A user's own modules would come before those unpacked here.
        "HOME": str(unpacked),
    }
    ended = subprocess.run([program, module, "-s"], env=environment, capture_output=True, check=False)
    if ended.returncode or not ended.stdout:
        said = ended.stderr.decode(errors="replace").strip()
        raise UserError(f"SWORD's mod2imp cannot print the module {module}: {said}", where=program)
    return ended.stdout.decode("utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
