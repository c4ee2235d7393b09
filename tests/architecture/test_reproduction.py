"""make reproduction: nothing is copied without a scale's name; the demo's is the repository's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "variable", ["SCALE=x; touch f", "SCALE=../..", "NAME=x; touch f", "NAME=../.."]
)
def test_what_is_no_name_touches_nothing(tmp_path: Path, variable: str) -> None:
    (tmp_path / "params.yaml").write_text("scale: toy\n")
    kept = tmp_path / "reproductions/toy/file"
    kept.parent.mkdir(parents=True)
    kept.touch()
    command = ["make", "--file", str(ROOT / "Makefile"), "reproduction", variable]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert outcome.returncode
    assert "Use letters, digits, " in outcome.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"params.yaml", "reproductions"}
    assert kept.exists()


def committed(name: str) -> bytes:
    """A file as the repository has it: `make repro` writes others."""
    command = ["git", "show", f"HEAD:./{name}"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if shown.returncode:
        pytest.skip("no git, or no commit: what the repository shows cannot be told")
    return shown.stdout


def test_the_demos_is_of_the_demo_that_the_repository_shows() -> None:
    for name in ("params.yaml", "dvc.lock"):
        assert committed(f"reproductions/demo/{name}") == committed(name)
