"""make reproduction: nothing is copied without a scale's name; the demo's is the repository's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("params", ["runs: {}\n", "scale: x; touch f\n", "scale: ../..\n"])
def test_without_the_name_of_a_scale_nothing_is_touched(tmp_path: Path, params: str) -> None:
    (tmp_path / "params.yaml").write_text(params)
    kept = tmp_path / "reproductions/toy/file"
    kept.parent.mkdir(parents=True)
    kept.touch()
    command = ["make", "--file", str(ROOT / "Makefile"), "reproduction"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert outcome.returncode
    assert "params.yaml: names no scale. Compose it: make params.\n" in outcome.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml", "reproductions"]
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
