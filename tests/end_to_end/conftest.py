"""Copies of the project that run their own code, and one whose graph has run at a tiny scale."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from filelock import FileLock
from tests.end_to_end.project import REPOSITORY, TINY, Project, copy_project


@pytest.fixture(scope="session")
def project_in() -> Callable[[Path], Project]:
    """A project in a folder, whatever lies there."""
    return Project


@pytest.fixture(scope="session")
def copy_of() -> Callable[[Path], Project]:
    """Fills an empty folder with the project before anything ran."""
    return copy_project


@pytest.fixture
def clone(tmp_path: Path) -> Project:
    """The project before anything ran."""
    return copy_project(tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project after `make repro` at a tiny scale, two stages at a time; not to be changed.

    The first test process that needs it makes it for all.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    project = Project(folder / "made")
    is_complete = folder / "made.complete"
    with FileLock(folder / "made.lock"):
        if not is_complete.exists():
            _make(project)
            is_complete.touch()
    return project


def _make(project: Project) -> None:
    shutil.rmtree(project.root, ignore_errors=True)  # what a failure left
    copy_project(project.root)
    (project.root / "conf/scale/tiny.yaml").write_text(TINY)
    # the demo's: DVC would write its thousands of lines again after every stage
    (project.root / "dvc.lock").unlink(missing_ok=True)
    for command in ("init -q", "add --all", "commit -q --message clone"):
        project.succeed("git", *command.split())
    project.compose("scale=tiny")
    project.succeed("aiayn", "repro", "--jobs", "2")


@pytest.fixture(scope="module")
def finished(made: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of it in which commands are run; a test that changes files puts them back. Without the
    MLflow store, which belongs to one folder."""
    project = Project(tmp_path_factory.mktemp("finished"))
    store = shutil.ignore_patterns("mlflow.db", "mlartifacts")
    shutil.copytree(made.root, project.root, symlinks=True, dirs_exist_ok=True, ignore=store)
    return project


@pytest.fixture(scope="session")
def demo_run(made: Project) -> Callable[..., Project]:
    """Takes a run of the demo from download to score, by the code of `made`.

    Args:
        root: an empty folder.
        run: not in the tiny scale.
        overrides: of the demo's parameters, which take minutes as they are.
    """

    def through_the_stages(root: Path, run: str, *overrides: str) -> Project:
        project = Project(root)
        for name in ("conf", "dvc.yaml", "pipeline", "src"):
            (root / name).symlink_to(made.root / name)
        project.compose(*overrides)
        task = yaml.load((root / "params.yaml").read_bytes(), yaml.CSafeLoader)["runs"][run]["task"]
        for stages, item in (
            (("download", "train_bpe", "encode"), task),
            (("train", "average", "decode", "score"), run),
        ):
            for stage in stages:
                outcome = project.stage(stage, item)
                assert outcome.returncode == 0, f"{stage}: {outcome.stderr}"
        return project

    return through_the_stages


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    """A project with every output of the tiny scale, to damage at will; its stages run, DVC not."""
    unneeded = shutil.ignore_patterns(".git", ".dvc", "mlartifacts", "dvc_plots")
    shutil.copytree(made.root, tmp_path, symlinks=True, ignore=unneeded, dirs_exist_ok=True)
    return Project(tmp_path)


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """A folder of real data beside the repository."""

    def folder(name: str) -> Path:
        place = REPOSITORY.parent / "shared" / name
        if not place.is_dir():
            pytest.skip(f"the mirror ../shared/{name} is not here")
        return place

    return folder
