"""What a change re-runs, by `dvc repro --dry` over a finished graph. Which stages depend on which
packages is tested in tests/architecture/test_graph.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

COSTLY = {"download", "train_bpe", "encode", "train", "average", "decode"}
NEUTRAL = ("config", "results", "tracking", "commands")
SEQUENCES = {"split": "dev", "number": 9, "symbols": 16, "shortest": 3, "longest": 4, "seed": 1}
COMMENT = "\n# a remark\n"


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


def test_code_that_changes_no_output_re_runs_nothing_costly(finished: Any) -> None:
    source = finished.root / "src/aiayn"
    files = [path for name in NEUTRAL for path in sorted((source / name).rglob("*.py"))]
    files += [source / name for name in ("errors.py", "files.py", "validation.py", "launcher.py")]
    run = after_changing(finished, *files)
    assert {"report", "track"} <= run  # the change is seen
    assert not run & COSTLY


def test_a_changed_line_re_runs_what_depends_on_it(finished: Any) -> None:
    file = finished.root / "src/aiayn/training/loss.py"
    assert after_changing(finished, file) == {"train", "illustrate"}


def runs_with(finished: Any, change: Callable[[Any], None]) -> set[str]:
    """Names of the stages up to download that `dvc repro` runs after a change of params.yaml."""
    files = {
        finished.root / name: (finished.root / name).read_bytes()
        for name in ("params.yaml", "dvc.lock")
    }
    params = yaml.load((finished.root / "params.yaml").read_text(), yaml.CSafeLoader)
    change(params)
    (finished.root / "params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))
    try:
        return {*finished.ran(finished.succeed("dvc", "repro", "download"))}
    finally:
        for file, content in files.items():
            file.write_bytes(content)
        finished.succeed("dvc", "checkout", "--force")


def test_a_further_corpus_makes_no_text_again(finished: Any) -> None:
    def add(params: Any) -> None:
        params["catalogue"]["corpora"]["another"] = {"sequences": SEQUENCES}

    ran = runs_with(finished, add)
    assert ran
    assert {name.partition("@")[0] for name in ran} == {"sources"}


def test_a_corpus_makes_the_texts_of_its_tasks_again(finished: Any) -> None:
    def change(params: Any) -> None:
        dev = params["tasks"]["en-de"]["text"]["dev"]
        params["catalogue"]["corpora"][dev]["grammar"]["seed"] += 1

    assert "download@en-de" in runs_with(finished, change)
