"""Every file that differs from dvc.lock is named, on both sides, and nothing is written."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aiayn.commands.verification.damage import damage_here, damage_published
from aiayn.commands.verification.digests import Digests
from aiayn.config import PARAMS
from aiayn.results import paths
from aiayn.results.lock import Lock

GRAPH = """\
vars:
  - root: .
stages:
  make:
    foreach: ${runs}
    do:
      cmd: ${root}/make ${key} ${item.seed}
      deps: ["${root}/src"]
      params: [width]
      outs: ["scores/${key}", "history/${key}.txt"]
"""
MAKE = """\
#!/bin/sh
mkdir -p scores/$1 history
for name in a b ä; do echo $name $2 > scores/$1/$name; done
echo c > history/$1.txt
"""
PARAMETERS = "runs: {one: {seed: 1}, two: {seed: 1}}\ntasks: {}\nwidth: 8\n"
REPRODUCTIONS = Path(__file__).parents[3] / "reproductions"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph that DVC has run."""
    root = tmp_path_factory.mktemp("finished")
    (root / "src").mkdir()
    (root / "src/code.py").write_text("print()\n")
    (root / "make").write_text(MAKE)
    (root / "make").chmod(0o755)
    (root / "dvc.yaml").write_text(GRAPH)
    (root / "params.yaml").write_text(PARAMETERS)
    for command in (("dvc", "init", "-q", "--no-scm"), ("dvc", "repro", "-q")):
        subprocess.run(command, check=True, capture_output=True, cwd=root)
    return root


@pytest.fixture
def project(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(finished, tmp_path / "copy", copy_function=shutil.copy2)
    monkeypatch.chdir(tmp_path / "copy")
    return Path()


def test_digests_equal_those_of_dvc(project: Path) -> None:
    """Including a published reproduction's, whose lock an older DVC wrote."""
    for root in (project, REPRODUCTIONS / "multi30k_long"):
        digests, compared = Digests(root), 0
        for entry in Lock(root / paths.LOCK).stages.values():
            for path, md5 in entry.outs.items():
                if Path(path).parts[0] in ("scores", "history", "outputs"):
                    assert digests.of(Path(path)) == md5
                    compared += 1
        assert compared >= 3


def test_every_changed_file_is_named(project: Path) -> None:
    assert damage_here(project, {"one", "two"}) == ()
    Path("scores/one/a").write_text("another sentence\n")
    Path("scores/one/new").write_text("x")
    Path("scores/one/b").unlink()
    Path("history/one.txt").unlink()
    Path("history/two.txt").write_text("of another run")
    assert set(damage_here(project, {"one"})) == {
        "scores/one/a differs from dvc.lock",
        "scores/one/new is not in dvc.lock",
        "scores/one/b is missing",
        "history/one.txt is missing",
    }


def test_a_flipped_bit_with_the_same_size_and_time(project: Path) -> None:
    file = Path("scores/one/a")
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    with file.open("r+b") as opened:
        opened.write(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    identities = [(s.st_ino, s.st_size, s.st_mtime_ns) for s in (before, after)]
    assert identities[0] == identities[1]
    assert damage_here(project, {"one"}) == ("scores/one/a differs from dvc.lock",)


def test_nothing_is_written(project: Path) -> None:
    """A checkout may be read-only."""

    def files() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in Path().rglob("*")}

    before = files()
    Path("history/one.txt").read_bytes()
    damage_here(project, {"one"})
    damage_published(project)
    assert files() == before


@pytest.mark.parametrize(
    ("file", "old", "new", "change"),
    [
        ("params.yaml", "width: 8", "width: 9", "width changed since it ran"),
        ("src/code.py", "print()", "print(1)", "src changed since it ran"),
        ("params.yaml", "one: {seed: 1}", "one: {seed: 2}", "its command has changed since it ran"),
    ],
)
def test_what_changed_since_a_stage_ran(
    project: Path, file: str, old: str, new: str, change: str
) -> None:
    Path(file).write_text(Path(file).read_text().replace(old, new))
    assert damage_here(project, {"one"}) == (f"make@one: {change}",)


def test_a_missing_or_truncated_lock(project: Path) -> None:
    lock = paths.LOCK.read_text()
    for end, expected in (
        (lock.index("make@two:"), "dvc.lock has no make@two, but its output scores/two exists"),
        (lock.index("make@two:") + 60, "dvc.lock is truncated or damaged at make@two"),
        (lock.rindex("md5: ") + 12, "dvc.lock is truncated or damaged at make@two"),
        (lock.rindex("    - path: "), "dvc.lock is truncated or damaged at make@two"),
    ):
        paths.LOCK.write_text(lock[:end])
        assert expected in damage_here(project, {"one", "two"})
    paths.LOCK.unlink()
    assert damage_here(project, {"one"}) == ("dvc.lock is missing",)
    assert damage_published(project) == ("dvc.lock is missing",)


def test_a_published_file_that_differs_from_its_lock(project: Path) -> None:
    shutil.rmtree(".dvc")  # as it is published: without the cache
    assert damage_published(project) == ()
    Path("history/one.txt").write_text("another curve")
    Path("scores/two/a").write_text("a wider interval")
    Path("history/other.txt").write_text("of no stage")
    Path(PARAMS).write_text(PARAMETERS)
    assert damage_published(project) == (
        "history/one.txt differs from dvc.lock",
        "scores/two differs from dvc.lock",
        "history/other.txt is not in dvc.lock",
    )


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in REPRODUCTIONS.glob("*/dvc.lock"))
)
def test_published_reproductions_match_their_locks(name: str) -> None:
    # parameters are checked when the scale runs again
    damaged = [line for line in damage_published(REPRODUCTIONS / name) if PARAMS.name not in line]
    assert damaged == []
