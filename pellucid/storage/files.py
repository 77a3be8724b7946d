"""Write files and folders atomically.

Everything Pellucid writes goes to a temporary name in the same folder, is flushed to the disk, and is then renamed: a
crash, a kill or a full disk leaves the previous content unchanged.
"""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pellucid.errors import UserError

__all__ = [
    "CHECK_PERMISSIONS",
    "DiskFullError",
    "atomic_file",
    "atomic_folder",
    "atomic_path",
    "remove_temporary_files",
    "write_bytes",
    "write_error",
    "write_text",
]

CHECK_PERMISSIONS = "Check the permissions of the file and its folder."
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{12}\.(?P<ending>new|old)")
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskFullError(UserError):
    """The disk is full."""


def write_text(path: str | Path, text: str) -> None:
    """Write `text` to `path` in UTF-8 atomically, with line ends unchanged.

    Raises:
        UserError: if the file cannot be written; an existing file is left unchanged.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write `data` to `path` atomically.

    Raises:
        UserError: if the file cannot be written; an existing file is left unchanged.
    """
    with atomic_file(path) as file:
        file.write(data)


@contextmanager
def atomic_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing bytes that replaces `path` when the block ends without an error.

    Links are followed; pipes and devices are written directly.

    Raises:
        UserError: if the file cannot be written; an existing file is left unchanged.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        with _explain_errors(path, target, target), target.open("wb") as file:
            yield file
        return
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield the path of an empty file that replaces `path` when the block ends without an error.

    For libraries that write files by name; they may also replace the file given to them.

    Raises:
        UserError: if the file cannot be written; an existing file is left unchanged.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.new")
    with _explain_errors(path, target, temporary):
        try:
            temporary.touch(exist_ok=False)
            mode = (target if target.is_file() else temporary).stat().st_mode
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.chmod(mode)
            os.replace(temporary, target)
            _fsync(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path, replace: bool = False) -> Iterator[Path]:
    """Yield an empty folder that becomes `path`, parents included, when the block ends without an error.

    Args:
        replace: whether an existing folder may be replaced; it is removed once the new one is complete.

    Raises:
        UserError: if `path` exists and may not be replaced, or cannot be written.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.new")
    with _explain_errors(path, target, temporary):
        if not replace and _is_occupied(target):
            raise UserError(
                f"{path} exists already", where=str(path), hint="Name another folder, or remove this one first."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        try:
            yield temporary
            _fsync_all(temporary)
            _move_into_place(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def remove_temporary_files(folder: str | Path) -> list[str]:
    """Remove temporary files that killed runs left in `folder`, and return their names.

    A folder that was moved aside and never replaced is moved back. Only one process may write to the folder meanwhile.
    """
    folder = Path(folder)
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    leftovers = [match for name in names if (match := _TEMPORARY.fullmatch(name))]
    for match in leftovers:
        leftover, target = folder / match[0], folder / match["name"]
        if match["ending"] == "old" and not target.exists():
            os.rename(leftover, target)
        elif leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    return [match[0] for match in leftovers]


def write_error(path: str | Path, error: OSError) -> UserError:
    """Create the error for the user when writing `path` failed with `error`.

    A file in a temporary folder is named by its final path, since the user never sees the temporary one.
    """
    path = Path(path)
    parts = [match["name"] if (match := _TEMPORARY.fullmatch(part)) else part for part in path.parts]
    path = Path(*parts)
    if error.errno in _DISK_FULL:
        return DiskFullError(
            f"the disk is full: cannot write {path}",
            where=str(path),
            hint="Free some space and run the same command again; existing files are unchanged.",
        )
    reason = error.strerror or str(error) or type(error).__name__
    return UserError(
        f"cannot write {path}: {reason[:1].lower()}{reason[1:]}",
        where=str(path),
        hint="Check that the folder exists and is writable, or use another path.",
    )


@contextmanager
def _explain_errors(path: str | Path, target: Path, temporary: Path) -> Iterator[None]:
    """Turn an OSError about `path` into a UserError; errors about other files pass through."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        about = "" if error.filename is None else str(error.filename)
        ours = ("", str(path), str(target), str(target.parent))
        if about not in ours and not about.startswith(str(temporary)):
            raise
        raise write_error(path, error) from error


def _is_occupied(target: Path) -> bool:
    return target.exists() and not (target.is_dir() and not any(target.iterdir()))


def _move_into_place(temporary: Path, target: Path) -> None:
    if _is_occupied(target):
        aside = target.with_name(f".{target.name}.{secrets.token_hex(6)}.old")
        os.rename(target, aside)
        os.rename(temporary, target)
        _fsync(target.parent)
        shutil.rmtree(aside, ignore_errors=True)
        return
    if target.exists():
        target.rmdir()
    os.rename(temporary, target)
    _fsync(target.parent)


def _fsync_all(folder: Path) -> None:
    """Flush every file and folder below `folder` to the disk, the deepest first."""
    for where, _, names in os.walk(folder, topdown=False):
        for name in names:
            with open(os.path.join(where, name), "rb+") as file:
                os.fsync(file.fileno())
        _fsync(Path(where))


def _fsync(folder: Path) -> None:
    """Flush the names in `folder` to the disk: otherwise a rename may be lost in a power failure."""
    if os.name == "nt":  # folders cannot be opened there, and renames are written through
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
