"""make reproduction: what a graph has left, weights aside, at the place that README names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def copy(project: Path, *variables: str) -> set[str]:
    command = ["make", "--file", str(ROOT / "Makefile"), "reproduction", *variables]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    folder = project / "reproductions/toy"
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("folder", "variable"), [("scales/toy", "SCALE=toy"), ("", "NAME=toy")])
def test_all_but_weights_and_text_and_nothing_of_an_earlier_copy(
    tmp_path: Path, folder: str, variable: str
) -> None:
    scale = tmp_path / folder
    text = "data/text/en-de/test.source"
    manifest = "data/text/en-de/manifest.json"
    for name in ("history/en-de.base.csv", "models/en-de.base/a.safetensors", text, manifest):
        (scale / name).parent.mkdir(parents=True, exist_ok=True)
        (scale / name).write_text(name)
    (scale / "params.yaml").write_text("scale: toy\n")
    published = {"README.md", "params.yaml", manifest}
    assert copy(tmp_path, variable) == published | {"history/en-de.base.csv"}
    page = (tmp_path / "reproductions/toy/README.md").read_text()
    assert page.startswith('# toy: "Attention Is All You Need" at the scale toy\n')
    (scale / "history/en-de.base.csv").rename(scale / "history/en-de.big.csv")
    assert copy(tmp_path, variable) == published | {"history/en-de.big.csv"}


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
    assert "letters, digits, _, - and .: NAME=..." in outcome.stderr
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
