"""Two halves of a graph, run in two clones, are joined into the whole graph, and nothing runs again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn.commands.command_line import main
from aiayn.commands.join import join
from aiayn.errors import ConfigError, DataError
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
      params: [tiny]
      outs: ["models/${key}", "history/${key}.txt"]
  profile:
    cmd: echo profile > profile.txt
    deps: ["${root}/src"]
    outs: [profile.txt]
  compare:
    cmd: cat history/*.txt > comparison.txt
    deps: [history]
    outs: [comparison.txt]
"""
MAKE = """\
#!/bin/sh
mkdir -p models/$1/sub history run_metadata
for name in a sub/b; do echo weights of $1 $2 > models/$1/$name; done
echo loss > history/$1.txt
date +%N > run_metadata/$1.train.json
"""
# a number that YAML 1.1 takes for text
PARAMETERS = "runs: {one: {seed: 1}, two: {seed: 1}}\ntasks: {}\ntiny: 1e-09\n"

Halve = Callable[[str, str], Path]


def test_a_folder_is_not_joined_with_itself(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is the same folder"):
        join(tmp_path, tmp_path / ".." / tmp_path.name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph that DVC has run in one clone."""
    root = tmp_path_factory.mktemp("whole")
    (root / "src").mkdir()
    (root / "src/code.py").write_text("print()\n")
    (root / "make").write_text(MAKE)
    (root / "make").chmod(0o755)
    (root / "dvc.yaml").write_text(GRAPH)
    (root / "params.yaml").write_text(PARAMETERS)
    for arguments in (("init", "-q", "--no-scm"), ("repro", "-q")):
        dvc(root, *arguments)
    return root


@pytest.fixture
def half(whole: Path, tmp_path: Path) -> Halve:
    """Makes a clone with one of the runs, and the profile if it is the second, without a cache."""

    def halve(name: str, run: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(whole, folder)
        shutil.rmtree(folder / ".dvc/cache")
        removed = [*({"one", "two"} - {run}), *(["profile"] if run == "one" else [])]
        for stem in (*removed, "comparison"):
            shutil.rmtree(folder / "models" / stem, ignore_errors=True)
            for file in (f"history/{stem}.txt", f"run_metadata/{stem}.train.json", f"{stem}.txt"):
                (folder / file).unlink(missing_ok=True)
        lock = folder / "dvc.lock"
        for stage in (*(f"make@{name}" for name in removed), *removed, "compare"):
            entry = rf"^  {re.escape(stage)}:\n(    .*\n)*"
            lock.write_text(re.sub(entry, "", lock.read_text(), flags=re.MULTILINE))
        return folder

    return halve


def dvc(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def files(folder: Path) -> dict[str, bytes]:
    """What the stages wrote."""
    tops = ("models", "history", "run_metadata", "profile.txt")
    found = [path for top in tops for path in (folder / top, *(folder / top).rglob("*"))]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if path.is_file()}


def test_two_halves_are_the_whole_and_nothing_runs(
    whole: Path, half: Halve, capsys: pytest.CaptureFixture[str]
) -> None:
    here, other = half("here", "one"), half("other", "two")
    dvc(here, "commit", "--force", "make@one")
    assert files(here).keys() < files(whole).keys()
    main(["join", str(here), str(other)])
    expected_output = f"{here}: 2 stages were added from {other}; 0 were in both.\n"
    assert capsys.readouterr().out == expected_output
    assert files(here) == files(whole)
    joined, expected = (
        {name: entry.record for name, entry in Lock(folder / "dvc.lock").stages.items()}
        for folder in (here, whole)
    )
    assert joined == {name: expected[name] for name in ("make@one", "make@two", "profile")}
    # DVC finds everything up to date except what reads both halves
    status = json.loads(dvc(here, "status", "--json"))
    assert [*status] == ["compare"], status
    shutil.rmtree(here / "models/two")
    dvc(here, "checkout", "make@two")  # it is in the cache, too
    assert files(here) == files(whole)


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks only files, without starting DVC."""
    monkeypatch.setattr("aiayn.commands.join.commit", lambda stages, folder: None)


@pytest.mark.usefixtures("no_cache")
def test_the_lock_and_the_outputs_of_both_stay(half: Halve) -> None:
    here, other = half("here", "one"), half("other", "two")
    before, theirs = (here / "dvc.lock").read_text(), files(other)
    assert join(here, other).copied == ["make@two", "profile"]
    assert (here / "dvc.lock").read_text().startswith(before)
    assert "tiny: 1e-09" in (here / "dvc.lock").read_text().removeprefix(before)
    assert files(other) == theirs
    again = join(here, other)
    assert (again.copied, again.in_both) == ([], ["make@two", "profile"])


@pytest.mark.usefixtures("no_cache")
def test_a_run_in_both_may_differ_only_in_its_metadata(half: Halve) -> None:
    here, other = half("here", "one"), half("other", "one")
    lock, ours = other / "dvc.lock", (here / "dvc.lock").read_text()
    (other / "run_metadata/one.train.json").write_text("another date")
    before = files(here)
    assert join(here, other).in_both == ["make@one"]
    assert files(here) == before
    digest = Lock(here / "dvc.lock").out("history/one.txt")
    assert digest
    lock.write_text(ours.replace(digest, 32 * "f"))
    with pytest.raises(DataError) as caught:
        join(here, other)
    assert str(caught.value) == (
        "make@one: history/one.txt is in both folders, with different content. Nothing was joined."
    )


def damage_other(here: Path, other: Path) -> str:
    (other / "models/two/sub/b").write_text("weights of two 2\n")
    return f"{other}/models/two differs from {other}/dvc.lock"


def damage_here(here: Path, other: Path) -> str:
    (here / "history/one.txt").write_text("another\n")
    return f"{here}/history/one.txt differs from {here}/dvc.lock"


def remove_weights(here: Path, other: Path) -> str:
    shutil.rmtree(other / "models")
    return f"{other}/models/two is missing"


def change_code(here: Path, other: Path) -> str:
    (here / "src/code.py").write_text("print(1)\n")
    return f"make@two: it ran with another version of {here}/src (and 1 more)"


def change_parameters(here: Path, other: Path) -> str:
    (here / "params.yaml").write_text(PARAMETERS.replace("1e-09", "1e-08"))
    return f"make@two: the parameter tiny differs from {here}/params.yaml"


def change_scale(here: Path, other: Path) -> str:
    (here / "params.yaml").write_text(PARAMETERS.replace("two", "three"))
    return f"make@two: {here}/params.yaml has no two"


def change_graph(here: Path, other: Path) -> str:
    (other / "dvc.yaml").write_text(GRAPH.replace("echo profile", "echo another"))
    return f"{here}/dvc.yaml and {other}/dvc.yaml differ: check out the same commit in both clones"


def add_unrecorded_outputs(here: Path, other: Path) -> str:
    (here / "history/two.txt").write_text("of a stage that DVC has not recorded\n")
    return (
        f"{here}/history/two.txt would be overwritten, but is not in {here}/dvc.lock: "
        "run aiayn repro make@two, or delete it"
    )


@pytest.mark.parametrize(
    "alter",
    [
        damage_other, damage_here, remove_weights, change_code, change_parameters,
        change_scale, change_graph, add_unrecorded_outputs,
    ],
)  # fmt: skip
def test_folders_that_do_not_match_are_unchanged(
    half: Halve, alter: Callable[[Path, Path], str]
) -> None:
    here, other = half("here", "one"), half("other", "two")
    error_message = alter(here, other)
    before = files(here), (here / "dvc.lock").read_bytes()
    with pytest.raises(DataError) as caught:
        join(here, other)
    assert str(caught.value) == f"{error_message}. Nothing was joined."
    assert (files(here), (here / "dvc.lock").read_bytes()) == before


def test_folders_that_cannot_be_joined(half: Halve, tmp_path: Path) -> None:
    here, other = half("here", "one"), half("other", "two")
    with pytest.raises(ConfigError, match=r"empty/params.yaml: there is no such file\. Name the"):
        join(tmp_path / "empty", other)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/params.yaml").write_text("")
    with pytest.raises(ConfigError, match=r"empty/params.yaml: has no runs and tasks\. Name the"):
        join(tmp_path / "empty", other)
    with pytest.raises(DataError, match=r"empty/dvc.lock: has no stages\. Name the folder"):
        join(here, tmp_path / "empty")
    lock = other / "dvc.lock"
    lock.write_text(lock.read_text()[:-30])
    with pytest.raises(DataError, match="other/dvc.lock: truncated or damaged at profile"):
        join(here, other)
