"""Scales in one project: each in its own folder, so that switching re-runs nothing and mixes
nothing; and a reproduction that goes on."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from mlflow import MlflowClient

pytestmark = pytest.mark.slow
UP_TO_DATE = "Nothing to do: every stage is up to date.\n"


@pytest.fixture(scope="module")
def project(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The project whose top folder has run at the tiny scale; the scale copy is short as well."""
    project = type(made)(tmp_path_factory.mktemp("scales"))
    shutil.copytree(made.root, project.root, symlinks=True, dirs_exist_ok=True)
    scale = project.root / "conf/scale/copy.yaml"
    text = scale.read_text().replace("steps: 900", "steps: 40").replace("average: 5", "average: 2")
    scale.write_text(text.replace("checkpoint_steps: 25", "checkpoint_steps: 20"))
    (project.root / ".venv").mkdir()
    (project.root / ".venv/.ready").touch()  # make takes the environment of the tests
    project.succeed("git", "add", "conf")
    project.succeed("git", "commit", "--quiet", "--all", "--message", "short")
    return project


def files(folder: Path) -> dict[str, str]:
    """Digests of all that a scale has, of other scales and of what scales share nothing."""
    shared = ("scales", "reproductions", ".git", ".dvc", "mlflow.db", "mlartifacts", "logs")
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.relative_to(folder).parts[0] not in shared
        and "__pycache__" not in path.parts
    }


def repro(project: Any, *variables: str) -> str:
    outcome = project.run("make", "--no-print-directory", "repro", *variables)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return str(outcome.stderr)


def test_switching_re_runs_nothing_and_mixes_nothing(project: Any) -> None:
    top, copy = project.root, project.root / "scales/copy"
    before = files(top)
    project.succeed("make", "params", "SCALE=copy")
    assert [path.name for path in sorted(copy.iterdir())] == ["dvc.yaml", "params.yaml"]
    project.succeed("sh", "-c", "cd scales/copy && aiayn repro encode")  # and no further
    assert repro(project) == UP_TO_DATE
    printed = repro(project, "SCALE=copy", "JOBS=2")
    assert "encode@copy: done" not in printed  # it had run
    assert "train@copy.base: done in" in printed
    assert (after := files(copy)).keys() >= {"dvc.lock", "scores/copy.base.json"}
    assert "scale <strong>copy</strong>" in (copy / "reports/index.html").read_text()
    assert repro(project) == UP_TO_DATE
    assert repro(project, "SCALE=copy") == UP_TO_DATE
    assert files(top) == before
    assert files(copy) == after
    assert not (copy / "mlflow.db").exists()
    client = MlflowClient(f"sqlite:///{top / 'mlflow.db'}")
    names = {experiment.name for experiment in client.search_experiments()}
    assert {"aiayn/tiny", "aiayn/copy"} <= names
    assert project.succeed("git", "status", "--porcelain", "scales") == "?? scales/\n"
    # what is published is of one scale, whichever ran last
    project.succeed("make", "--no-print-directory", "reproduction", "NAME=top-alone")
    published = top / "reproductions/top-alone"
    assert {path.stem for path in (published / "metrics").iterdir()} == {
        "en-de.base", "en-de.C_ff1024",
    }  # fmt: skip
    assert yaml.safe_load((published / "params.yaml").read_text())["scale"] == "tiny"


def test_a_reproduction_continues_with_dvcs_cache(project: Any) -> None:
    """After the test above: all that it made is in DVC's cache."""
    project.succeed("make", "reproduction", "SCALE=copy", "NAME=mine")
    printed = repro(project, "FROM=reproductions/mine")
    assert "scales/mine: a copy of reproductions/mine, without data and weights" in printed
    assert "train@copy.base: from DVC's cache" in printed
    scales = project.root / "scales"
    copy, mine = (files(scales / name) for name in ("copy", "mine"))
    made = [name for name in copy if name.startswith(("models", "outputs", "scores", "history"))]
    assert made
    assert {name: mine[name] for name in made} == {name: copy[name] for name in made}


def test_a_changed_scale_is_composed_again(project: Any) -> None:
    scale = project.root / "conf/scale/copy.yaml"
    scale.write_text(scale.read_text().replace("warmup_steps: 100", "warmup_steps: 90"))
    project.succeed("make", "params", "SCALE=copy")
    params = project.root / "scales/copy/params.yaml"
    assert yaml.safe_load(params.read_text())["training"]["warmup_steps"] == 90
    would_run = project.ran(project.succeed("dvc", "--cd", "scales/copy", "repro", "--dry"))
    assert {"train@copy.base", "train@copy.E_learned"} <= {*would_run}
    assert not any(name.startswith(("download", "train_bpe", "encode")) for name in would_run)


def test_an_experiment_is_of_the_scale_in_whose_folder_it_is_called(clone: Any) -> None:
    """And not of the demo, which DVC would compose from conf/ there."""
    clone.succeed("git", "init", "--quiet")
    clone.succeed("python", "-m", "aiayn.commands.repro.scale_folder", "--scale=copy")
    clone.succeed("git", "add", "--all")
    clone.succeed("git", "commit", "--quiet", "--message", "clone")
    change = ("--dry", "-S", "training.warmup_steps=80")
    printed = clone.run("dvc", "--cd", "scales/copy", "exp", "run", *change).stdout
    # "": stages without an item, which DVC may reach first
    assert {name.partition("@")[2] for name in clone.ran(printed)} - {""} == {"copy"}


def test_clean_is_of_one_scale(project: Any) -> None:
    before = files(project.root)
    project.succeed("make", "clean", "SCALE=copy")
    assert not (project.root / "scales/copy/models").exists()
    assert (project.root / "scales/copy/params.yaml").exists()
    assert files(project.root) == before
