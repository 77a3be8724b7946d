import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

import pytest

from pellucid.errors import UserError
from pellucid.storage.files import (
    DiskFullError,
    atomic_file,
    atomic_folder,
    atomic_path,
    remove_temporary_files,
    write_bytes,
    write_text,
)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def refuse(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_text_is_written_in_utf8_with_its_own_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "好\r\nb\n")
    assert (tmp_path / "a.txt").read_bytes() == "好\r\nb\n".encode()
    assert names(tmp_path) == ["a.txt"]


def test_a_failing_block_leaves_what_stood_there(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "old")
    with pytest.raises(RuntimeError), atomic_file(tmp_path / "a") as file:
        file.write(b"half of the new")
        raise RuntimeError
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a"]


def test_a_full_disk_names_the_file_and_leaves_what_stood_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text(tmp_path / "a", "old")
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(UserError, match="the disk is full") as caught:
        write_text(tmp_path / "a", "new")
    assert caught.value.where == (str(tmp_path / "a"),)
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a"]


def test_a_file_in_a_folder_that_is_being_made_is_named_as_it_would_be_called(
    tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    with pytest.raises(DiskFullError) as caught, small_disk(1000), atomic_folder(tmp_path / "step-1") as made:
        write_text(made / "weights", "x" * 2000)
    assert caught.value.where == (str(tmp_path / "step-1" / "weights"),)
    assert caught.value.what == f"the disk is full: cannot write {tmp_path / 'step-1' / 'weights'}"


def test_a_folder_on_a_full_disk_never_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(UserError, match="the disk is full"), atomic_folder(tmp_path / "f") as folder:
        (folder / "a").write_bytes(b"1")
    assert names(tmp_path) == []


def test_an_error_about_another_file_is_not_blamed_on_ours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_folder(tmp_path / "f"):
        (tmp_path / "missing").read_bytes()


def test_a_missing_folder_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or directory"):
        write_text(tmp_path / "no" / "a", "x")


def test_a_folder_in_the_way_of_a_file_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UserError, match="is a directory"):
        write_text(tmp_path / "a", "x")
    assert names(tmp_path) == ["a"]


def test_permissions_are_the_users_for_new_files_and_kept_for_old_ones(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_bytes(tmp_path / "new", b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    write_bytes(tmp_path / "new", b"2")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "x"


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_bytes(pipe, b"through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_library_may_replace_the_file_it_is_given(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a") as temporary:
        temporary.unlink()
        temporary.write_bytes(b"by name")
    assert (tmp_path / "a").read_bytes() == b"by name"


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "deep" / "f") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "a").write_bytes(b"1")
        assert not (tmp_path / "deep" / "f").exists()
    assert (tmp_path / "deep" / "f" / "sub" / "a").read_bytes() == b"1"
    assert names(tmp_path / "deep") == ["f"]


def test_a_failing_block_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "f") as folder:
        (folder / "a").write_bytes(b"1")
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_folder_is_replaced_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "old").touch()
    with pytest.raises(UserError, match="exists already"), atomic_folder(tmp_path / "f"):
        pass
    assert names(tmp_path / "f") == ["old"]
    with atomic_folder(tmp_path / "f", replace=True) as folder:
        (folder / "new").touch()
    assert names(tmp_path / "f") == ["new"]
    assert names(tmp_path) == ["f"]


def test_an_empty_folder_may_be_taken(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with atomic_folder(tmp_path / "f") as folder:
        (folder / "new").touch()
    assert names(tmp_path / "f") == ["new"]


_REPLACE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from pellucid.storage import files

calls = 0
def counted(function):
    def call(*arguments, **named):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)
    return call

for name in ("fsync", "rename", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
with files.atomic_folder(Path(sys.argv[1]) / "f", replace=True) as folder:
    (folder / "a").write_text("new", encoding="utf-8")
    (folder / "b").write_text("new", encoding="utf-8")
"""


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_folder_whole(tmp_path: Path) -> None:
    seen = set()
    for moment in range(1, 50):
        place = tmp_path / str(moment)
        with atomic_folder(place / "f") as folder:
            (folder / "a").write_text("old", encoding="utf-8")
            (folder / "b").write_text("old", encoding="utf-8")
        ended = subprocess.run([sys.executable, "-c", _REPLACE_AND_DIE, str(place), str(moment)], check=False)
        remove_temporary_files(place)
        assert names(place) == ["f"]
        whole = {(place / "f" / name).read_text(encoding="utf-8") for name in ("a", "b")}
        assert len(whole) == 1, moment
        seen |= whole
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
    assert ended.returncode == 0
    assert moment > 5
    assert seen == {"old", "new"}


def test_leftovers_are_told_from_other_files(tmp_path: Path) -> None:
    (tmp_path / ".a.0123456789ab.new").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "a.new").touch()
    assert remove_temporary_files(tmp_path) == [".a.0123456789ab.new"]
    assert names(tmp_path) == [".hidden", "a.new"]
    assert remove_temporary_files(tmp_path / "missing") == []
