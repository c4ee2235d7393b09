"""make reproduction: what a graph has left, weights aside, at the place that README names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def copy(project: Path) -> set[str]:
    command = ["make", "--file", str(ROOT / "Makefile"), "reproduction"]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    folder = project / "reproductions/toy"
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_all_but_weights_and_text_and_nothing_of_an_earlier_copy(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("scale: toy\n")
    text = "data/text/en-de/test.source"
    manifest = "data/text/en-de/manifest.json"
    for name in ("history/en-de.base.csv", "models/en-de.base/a.safetensors", text, manifest):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    published = {"README.md", "params.yaml", manifest}
    assert copy(tmp_path) == published | {"history/en-de.base.csv"}
    page = (tmp_path / "reproductions/toy/README.md").read_text()
    assert page.startswith('# toy: "Attention Is All You Need" at the scale toy\n')
    (tmp_path / "history/en-de.base.csv").rename(tmp_path / "history/en-de.big.csv")
    assert copy(tmp_path) == published | {"history/en-de.big.csv"}


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
