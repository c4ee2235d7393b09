"""The download stage, run as by DVC."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.forked_python import programs

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path, workspace: Any) -> Path:
    """A folder whose params.yaml has the task `tiny`, over a corpus of three pairs."""
    workspace.add("train", b"one\ntwo\nthree\n", b"eins\nzwei\ndrei\n")
    params = yaml.load((REPOSITORY / "params.yaml").read_text(), yaml.CSafeLoader)
    downloads = workspace.catalogue.downloads
    params["catalogue"]["downloads"] |= {name: vars(entry) for name, entry in downloads.items()}
    for name, corpus in workspace.catalogue.corpora.items():
        sides = {language: {"download": side.download} for language, side in corpus.sides.items()}
        params["catalogue"]["corpora"][name] = {"sides": sides}
    text = {
        "source": "en",
        "target": "de",
        "train": ["train"],
        "dev": "dev",
        "tests": {"test": "test"},
        "cleaning": vars(workspace.task().cleaning),
    }
    params["tasks"]["tiny"] = {**next(iter(params["tasks"].values())), "text": text}
    (tmp_path / "params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))
    shutil.copy(REPOSITORY / "dvc.yaml", tmp_path)
    return tmp_path


def run(project: Path, task: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs.python(), str(REPOSITORY / "pipeline" / "download.py"), task],
        cwd=project,
        env={**os.environ, "AIAYN_MIRROR": "mirror"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_writes_the_text(project: Path) -> None:
    outcome = run(project, "tiny")
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")
    folder = project / "data/text/tiny"
    assert (folder / "train.target").read_text() == "eins\nzwei\ndrei\n"
    splits = [
        f"{split}.{side}" for split in ("train", "dev", "test") for side in ("source", "target")
    ]
    assert {path.name for path in folder.iterdir()} == {*splits, "manifest.json"}


def test_a_failure_is_a_one_line_error(project: Path) -> None:
    damaged = project / "mirror/host/train.en"
    damaged.write_bytes(b"One\ntwo\nthree\n")
    outcome = run(project, "tiny")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("DataError: mirror/host/train.en: sha256 is ")
    assert outcome.stderr.count("\n") == 1
    assert not (project / "data/text/tiny").exists()
    assert "there is no task 'tinny'. Did you mean tiny?" in run(project, "tinny").stderr


def test_an_unwritable_folder_is_a_one_line_error(project: Path) -> None:
    (project / "data").write_text("a file, not a folder")
    outcome = run(project, "tiny")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("NotADirectoryError: Not a directory: data/text")
    assert outcome.stderr.count("\n") == 1
