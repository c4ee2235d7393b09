"""make reproduction: nothing is copied under an invalid name; the demo's files are those of the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "variable", ["SCALE=x; touch f", "SCALE=../..", "NAME=x; touch f", "NAME=../.."]
)
def test_an_invalid_name_changes_nothing(tmp_path: Path, variable: str) -> None:
    (tmp_path / "params.yaml").write_text("scale: toy\n")
    existing = tmp_path / "reproductions/toy/file"
    existing.parent.mkdir(parents=True)
    existing.touch()
    command = ["make", "--file", str(ROOT / "Makefile"), "reproduction", variable]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert outcome.returncode
    assert "Use letters, digits, " in outcome.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"params.yaml", "reproductions"}
    assert existing.exists()


def committed(name: str) -> bytes:
    """A file as committed, as `make repro` overwrites it."""
    command = ["git", "show", f"HEAD:./{name}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if result.returncode:
        pytest.skip("no git, or no commit: the committed file cannot be read")
    return result.stdout


def test_the_demos_files_are_those_of_the_repository() -> None:
    for name in ("params.yaml", "dvc.lock"):
        assert committed(f"reproductions/demo/{name}") == committed(name)
