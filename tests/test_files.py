"""A folder is replaced as a whole: after a kill at any moment, it is the old one or the new one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aiayn import files
from aiayn.files import replaced_folder, write_atomically

# exits before its nth change to the file system, as after kill -9
KILLED = """
import os, pathlib, shutil, sys
from aiayn import files
target, changes_left, can_exchange = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "exchange"
def counted(function):
    def wrapped(*args, **kwargs):
        global changes_left
        if changes_left == 0:
            os._exit(9)
        changes_left -= 1
        return function(*args, **kwargs)
    return wrapped
if not can_exchange:
    files._exchange = lambda first, second: False
elif hasattr(files, "_exchange"):
    files._exchange = counted(files._exchange)
for name in ("replace", "rename", "mkdir"):
    setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
shutil.rmtree = counted(shutil.rmtree)
with files.replaced_folder(target) as folder:
    (folder / "file").write_text("new")
"""


def killed_at_every_change(tmp_path: Path, mode: str) -> list[Path]:
    """Folders whose replacement was killed at its first, second, ... change, until one was not."""
    targets = []
    for change in range(20):
        target = tmp_path / str(change) / "folder"
        target.mkdir(parents=True)
        (target / "file").write_text("old")
        command = [sys.executable, "-c", KILLED, str(target), str(change), mode]
        code = subprocess.run(command, check=False).returncode
        assert code in (0, 9)
        targets.append(target)
        if code == 0:
            return targets
    raise AssertionError("the replacement never completes")


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged by Linux's renameat2")
def test_after_a_kill_at_any_moment_the_folder_exists(tmp_path: Path) -> None:
    targets = killed_at_every_change(tmp_path, "exchange")
    contents = [(target / "file").read_text() for target in targets]
    assert contents == sorted(contents, reverse=True)
    assert set(contents) == {"old", "new"}
    for target in targets:
        with replaced_folder(target) as folder:
            (folder / "file").write_text("newer")
        assert [path.name for path in target.parent.iterdir()] == ["folder"]
        assert (target / "file").read_text() == "newer"


def test_without_exchange_the_next_replacement_restores_the_old_folder(
    tmp_path: Path,
) -> None:
    for target in killed_at_every_change(tmp_path, "no exchange"):
        with pytest.raises(KeyboardInterrupt), replaced_folder(target):
            raise KeyboardInterrupt
        assert (target / "file").read_text() in ("old", "new")


def test_an_error_in_the_block_leaves_the_folder_unchanged(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "file").write_text("old")
    with pytest.raises(FileNotFoundError), replaced_folder(target) as folder:
        (folder / "no such folder" / "file").write_text("new")
    assert (target / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    with replaced_folder(tmp_path / "a" / "folder") as folder:
        (folder / "file").write_text("new")
    assert (tmp_path / "a/folder/file").read_text() == "new"


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_link_to_another_disk_stays_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    disk, link = tmp_path / "disk/folder", tmp_path / "project/folder"
    link.parent.mkdir()
    link.symlink_to(Path("../disk/folder"))
    for content in ("first", "second", "third"):  # into a folder that is not there yet, and again
        with replaced_folder(link) as folder:
            (folder / "file").write_text(content)
        assert link.is_symlink()
        assert (disk / "file").read_text() == content
        assert [path.name for path in disk.parent.iterdir()] == ["folder"]
        assert [path.name for path in link.parent.iterdir()] == ["folder"]


def test_an_exchange_that_fails_for_another_reason_is_an_error(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("folders are exchanged by Linux's renameat2")
    with pytest.raises(FileNotFoundError):
        files._exchange(tmp_path / "nowhere", tmp_path)


# writing a file beyond the size limit fails, as on a full disk
DISK_FULL = """
import pathlib, resource, sys
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
target = pathlib.Path(sys.argv[1])
@one_line_errors
def main():
    if sys.argv[2] == "file":
        write_atomically(target, bytes(5000))
    with replaced_folder(target) as folder, (folder / "file").open("wb") as file:
        file.write(bytes(5000))
main()
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_full_disk_is_reported_with_the_path(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    command = [sys.executable, "-c", DISK_FULL, str(target), kind]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert outcome.stderr == (
        f"OSError: File too large: {target}. "
        "Free disk space or correct the permissions, and run again.\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [*tmp_path.iterdir()] == [pipe]


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "text")
    assert tmp_path.is_dir()
