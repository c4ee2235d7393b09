"""What a change re-runs, by `dvc repro --dry` over a finished graph: what only carries, or starts a
process, re-runs nothing that costs hours; a line of the model exactly what it can affect. Every
stage's deps are compared with what it imports in tests/architecture/test_graph.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

COSTLY = {"download", "train_bpe", "encode", "train", "average", "decode"}
CARRIERS = ("circumstances", "config", "layer_types", "paper", "records")
COMMENT = "\n# a remark\n"


@pytest.fixture(scope="module")
def finished(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The tiny project after its run; each test puts back what it changes."""
    project = type(made)(tmp_path_factory.mktemp("finished"))
    shutil.copytree(made.root, project.root, symlinks=True, dirs_exist_ok=True)
    return project


def stages_to_run(project: Any) -> set[str]:
    """Names of the stages that `dvc repro` would run, without their task or run."""
    named = project.ran(project.succeed("dvc", "repro", "--dry"))
    return {name.partition("@")[0] for name in named}


def after_changing(project: Any, *files: Path, remark: str = COMMENT) -> set[str]:
    """What would run with a line more in each of these files."""
    before = {file: file.read_bytes() for file in files}
    try:
        for file, content in before.items():
            file.write_bytes(content + remark.encode())
        return stages_to_run(project)
    finally:
        for file, content in before.items():
            file.write_bytes(content)


def test_another_launcher_re_runs_nothing(finished: Any) -> None:
    params = finished.root / "params.yaml"
    before = params.read_text()
    finished.compose("scale=tiny", "launcher=torchrun")
    assert "torchrun" in yaml.load(params.read_text(), yaml.CSafeLoader)["launcher"]["command"]
    assert stages_to_run(finished) == set()
    params.write_text(before)


def test_what_only_carries_re_runs_nothing_costly(finished: Any) -> None:
    source = finished.root / "src/aiayn"
    files = [path for room in CARRIERS for path in sorted((source / room).rglob("*.py"))]
    files += [
        source / name
        for name in ("errors.py", "files.py", "typed.py", "validation.py", "launcher.py")
    ]
    run = after_changing(finished, *files)
    assert {"profile_layers", "report"} <= run  # their deps are seen to have changed
    assert not run & COSTLY


@pytest.mark.parametrize(
    ("file", "affected"),
    [
        ("model/attention.py", {"train", "decode", "illustrate", "profile_layers", "profile_models"}),
        ("tokens/batching.py", {"train"}),
        ("corpora/cleaning.py", {"download"}),
    ],
)  # fmt: skip
def test_a_changed_line_re_runs_what_it_can_affect(
    finished: Any, file: str, affected: set[str]
) -> None:
    assert after_changing(finished, finished.root / "src/aiayn" / file) == affected
