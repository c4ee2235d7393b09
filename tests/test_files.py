"""A folder is replaced as a whole: killed at any moment, the old one or the new one is there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aiayn import files
from aiayn.files import replaced_folder, write_atomically

# stops dead before its nth change of the file system, as kill -9 would
KILLED = """
import os, pathlib, shutil, sys
from aiayn import files
place, left, exchanges = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "exchange"
def mortal(function):
    def wrapped(*args, **kwargs):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return function(*args, **kwargs)
    return wrapped
if not exchanges:
    files._exchange = lambda one, other: False
elif hasattr(files, "_exchange"):
    files._exchange = mortal(files._exchange)
for name in ("replace", "rename", "mkdir"):
    setattr(pathlib.Path, name, mortal(getattr(pathlib.Path, name)))
shutil.rmtree = mortal(shutil.rmtree)
with files.replaced_folder(place) as folder:
    (folder / "file").write_text("new")
"""


def killed_everywhere(tmp_path: Path, how: str) -> list[Path]:
    """Folders whose replacement was killed at its first, second, ... change, until one was not."""
    places = []
    for moment in range(20):
        place = tmp_path / str(moment) / "folder"
        place.mkdir(parents=True)
        (place / "file").write_text("old")
        command = [sys.executable, "-c", KILLED, str(place), str(moment), how]
        code = subprocess.run(command, check=False).returncode
        assert code in (0, 9)
        places.append(place)
        if code == 0:
            return places
    raise AssertionError("it never ends")


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged by Linux's renameat2")
def test_killed_at_any_moment_the_folder_is_there(tmp_path: Path) -> None:
    places = killed_everywhere(tmp_path, "exchange")
    contents = [(place / "file").read_text() for place in places]
    assert contents == sorted(contents, reverse=True)
    assert set(contents) == {"old", "new"}
    for place in places:
        with replaced_folder(place) as folder:
            (folder / "file").write_text("newer")
        assert [path.name for path in place.parent.iterdir()] == ["folder"]
        assert (place / "file").read_text() == "newer"


def test_where_folders_cannot_be_exchanged_the_next_start_puts_the_former_back(
    tmp_path: Path,
) -> None:
    for place in killed_everywhere(tmp_path, "no exchange"):
        with pytest.raises(KeyboardInterrupt), replaced_folder(place):
            raise KeyboardInterrupt
        assert (place / "file").read_text() in ("old", "new")


def test_a_block_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    place.mkdir()
    (place / "file").write_text("old")
    with pytest.raises(FileNotFoundError), replaced_folder(place) as folder:
        (folder / "no such folder" / "file").write_text("new")
    assert (place / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    with replaced_folder(tmp_path / "a" / "folder") as folder:
        (folder / "file").write_text("new")
    assert (tmp_path / "a/folder/file").read_text() == "new"


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_link_to_another_disk_stays_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(files, "_exchange", lambda one, other: False)
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


# a file that grows beyond a limit fails in the writing, as on a full disk
FULL = """
import pathlib, resource, sys
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
place = pathlib.Path(sys.argv[1])
@one_line_errors
def main():
    if sys.argv[2] == "file":
        write_atomically(place, bytes(5000))
    with replaced_folder(place) as folder, (folder / "file").open("wb") as file:
        file.write(bytes(5000))
main()
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_full_disk_is_reported_with_the_path(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    command = [sys.executable, "-c", FULL, str(place), kind]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert outcome.stderr == (
        f"OSError: File too large: {place}. "
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
