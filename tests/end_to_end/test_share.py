"""docs/howto/share.md: what one person pushes, another pulls, and trains nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

WEIGHTS = "models/en-de.base/averaged.safetensors"


def test_a_second_clone_trains_nothing(
    finished: Any, project_in: Callable[[Path], Any], tmp_path: Path
) -> None:
    finished.succeed("dvc", "remote", "add", "--default", "storage", str(tmp_path / "remote"))
    for command in (
        "git add --all",
        "git commit -q -m results",
        "dvc push",
        "dvc push --run-cache",
    ):
        finished.succeed(*command.split())
    second = project_in(tmp_path / "second")
    finished.succeed("git", "clone", "-q", str(finished.root), str(second.root))
    assert "en-de.base" in second.succeed("dvc", "metrics", "show")  # they are in git
    second.succeed("dvc", "pull")
    done = second.run("aiayn", "repro", "report")
    assert done.returncode == 0, done.stderr
    assert "done in" not in done.stderr.replace("report: done in", "")
    assert (second.root / WEIGHTS).read_bytes() == (finished.root / WEIGHTS).read_bytes()
    assert second.succeed("git", "status", "--porcelain") == ""

    second.succeed("dvc", "get", str(finished.root), WEIGHTS, "-o", str(tmp_path / "weights"))
    assert (tmp_path / "weights").read_bytes() == (second.root / WEIGHTS).read_bytes()
