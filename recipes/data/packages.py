"""Debian packages as sources of text: downloaded and read in a separate folder, nothing is installed.

The packages come from the sources that this system already has. Their lists, the packages and whatever is unpacked
stay under one folder, which may be deleted afterwards.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote

from pellucid.errors import UserError

__all__ = [
    "Archive",
    "Deb",
    "Wanted",
    "check_system",
    "description_list",
    "download",
    "files_of",
    "members",
    "missing_packages",
    "open_archive",
    "read_package_list",
    "requests",
    "unpack",
]

_RELEASE = ("debian", "12")
_OFFER = re.compile(r"'(?P<address>[^']*)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})")
# How to reach the sources is this system's to say; its hooks and its choice of languages are not for us.
_REACHING = re.compile(r"Acquire::(?:https?|ftp|Retries|ForceIPv[46])\b")


class Wanted(NamedTuple):
    """A package, and the version whose files gave the tested set."""

    name: str
    version: str


class Deb(NamedTuple):
    """A downloaded package."""

    name: str
    version: str
    path: Path


@dataclass(frozen=True)
class Archive:
    """Everything that apt needs to work only in `folder`."""

    folder: Path

    @property
    def options(self) -> list[str]:
        """The options of apt that keep its lists and cache in the folder."""
        return ["-o", f"Dir::State::Lists={self.folder / 'lists'}", "-o", f"Dir::Cache={self.folder / 'cache'}"]

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which apt reads the folder's settings first, and prints English."""
        return {**os.environ, "APT_CONFIG": str(self.folder / "apt.conf"), "LC_ALL": "C.UTF-8"}


def read_package_list(path: Path) -> tuple[Wanted, ...]:
    """Read lines of `NAME VERSION`; `#` starts a comment."""
    lines = (line.partition("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return tuple(Wanted(*fields) for fields in lines if fields)


def check_system() -> None:
    """Check that this is Debian 12 with apt-get and dpkg-deb.

    Raises:
        UserError: where it is not.
    """
    hint = "Run this on Debian 12; a plain container with Python 3.11 is enough."
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    if (release.get("ID"), release.get("VERSION_ID")) != _RELEASE:
        found = release.get("PRETTY_NAME", platform.system() or "unknown")
        raise UserError(
            f"expected Debian 12, whose packages the sets are made from, got {found}",
            where="/etc/os-release",
            hint=hint,
        )
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise UserError(f"{program} was not found", where="PATH", hint=hint)


def open_archive(folder: Path, languages: Sequence[str]) -> Archive:
    """Fetch the lists of packages into `folder`, with their descriptions in `languages`.

    Raises:
        UserError: if apt-get fails.
    """
    archive = Archive(folder.resolve())
    (archive.folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (archive.folder / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, encoding="utf-8", check=True).stdout
    settings = [line for line in dump.splitlines() if _REACHING.match(line)]
    settings += ['Dir::Etc::Parts "/dev/null";', 'Dir::Etc::Main "/dev/null";']
    if os.geteuid() == 0:
        # Otherwise apt downloads as a user of its own, who may not write here.
        settings.append('APT::Sandbox::User "root";')
    settings += [f'Acquire::Languages:: "{language}";' for language in languages]
    (archive.folder / "apt.conf").write_text("\n".join(settings) + "\n", encoding="utf-8")
    _apt(archive, "-q", "update", "--error-on=any")
    return archive


def requests(archive: Archive, wanted: Sequence[Wanted]) -> list[str]:
    """Request the tested version of each package if the sources have it, else the one that apt prefers.

    A release keeps its own version beside those that its security updates bring; that version is the tested one.
    """
    offered = _apt(archive, "madison", *(package.name for package in wanted), program="apt-cache")
    versions = {tuple(field.strip() for field in line.split("|")[:2]) for line in offered.splitlines()}
    return [f"{name}={version}" if (name, version) in versions else name for name, version in wanted]


def download(archive: Archive, requested: Sequence[str]) -> list[Deb]:
    """Download packages, each given as NAME or NAME=VERSION; complete downloads are not repeated.

    Raises:
        UserError: if a package is not in the sources, or cannot be fetched.
    """
    # Asked in the folder itself, apt would leave out the packages that are there.
    offered = _apt(archive, "download", "--print-uris", *requested, cwd=archive.folder / "lists")
    debs, missing = [], []
    for offer in map(_OFFER.fullmatch, filter(None, offered.splitlines())):
        if offer is None:
            raise UserError(
                "apt-get lists its packages in an unknown format", where=offered, hint="Use apt of Debian 12."
            )
        name, version, _ = offer["file"].split("_")
        path = archive.folder / offer["file"]
        debs.append(Deb(name, unquote(version), path))
        if not path.is_file() or _sha256(path) != offer["sha256"]:
            missing.append(f"{name}={unquote(version)}")
    if missing:
        _apt(archive, "-q", "download", *missing)
    return debs


def missing_packages(archive: Archive, name: str) -> list[str]:
    """List what would have to be installed, without recommendations, to run package `name` here."""
    plan = _apt(archive, "--simulate", "--no-install-recommends", "install", name)
    return re.findall(r"^Inst (\S+)", plan, re.MULTILINE)


def description_list(archive: Archive, language: str) -> Path:
    """Find the file with the descriptions of Debian 12's own packages (main, as released) in `language`.

    Raises:
        UserError: if this system's sources do not have it.
    """
    form = "$(CODENAME) $(COMPONENT) $(LANGUAGE) $(FILENAME)"
    targets = _apt(archive, "indextargets", "--format", form, "Created-By: Translations")
    for target in targets.splitlines():
        *place, path = target.split(" ", 3)
        if place == ["bookworm", "main", language] and Path(path).is_file():
            return Path(path)
    raise UserError(
        f"the sources have no package descriptions in {language}",
        where="/etc/apt/sources.list.d",
        hint="Add the release bookworm, component main, to this system's sources.",
    )


def files_of(deb: Path, wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """Yield the path (from the root, without a leading slash) and content of a package's `wanted` files; no links.

    Raises:
        UserError: if the package cannot be read.
    """
    unreadable = UserError("dpkg-deb cannot read a package", where=str(deb), hint="Delete it and run this again.")
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as unpacking:
        assert unpacking.stdout is not None
        try:
            yield from members(unpacking.stdout, wanted)
            # What follows the last file, so that dpkg-deb comes to its end.
            unpacking.stdout.read()
        except tarfile.TarError as error:
            raise unreadable from error
    if unpacking.returncode:
        raise unreadable


def unpack(debs: Sequence[Deb], folder: Path) -> None:
    """Unpack packages into `folder`, over each other.

    Raises:
        UserError: if one cannot be unpacked.
    """
    for deb in debs:
        ended = subprocess.run(["dpkg-deb", "--extract", deb.path, folder], capture_output=True, check=False)
        if ended.returncode:
            what = f"dpkg-deb cannot unpack a package: {ended.stderr.decode(errors='replace').strip()}"
            raise UserError(what, where=str(deb.path), hint="Delete it and run this again.")


def members(stream: IO[bytes], wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files in a tar stream that are `wanted`; no links."""
    with tarfile.open(fileobj=stream, mode="r|") as tree:
        for member in tree:
            path = member.name.removeprefix("./")
            if member.isreg() and wanted(path):
                content = tree.extractfile(member)
                assert content is not None
                yield path, content.read()


def _apt(archive: Archive, *arguments: str, program: str = "apt-get", cwd: Path | None = None) -> str:
    command = [program, *archive.options, *arguments]
    ended = subprocess.run(
        command,
        cwd=cwd or archive.folder,
        env=archive.environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if ended.returncode:
        action = next(argument for argument in arguments if not argument.startswith("-"))
        said = [line for line in ended.stderr.splitlines() if line.startswith(("E:", "Err:"))]
        raise UserError(
            f"{program} {action} failed",
            where=[str(archive.folder), *said],
            hint="Check /etc/apt/sources.list.d and the network, then run this again; packages may leave a release. "
            "Downloaded packages are kept.",
        )
    return ended.stdout


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
