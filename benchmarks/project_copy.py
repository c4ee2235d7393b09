"""A copy of the working tree, for experiments with the whole pipeline."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dvc.utils.hydra import compose_and_dump

from aiayn.results import paths

REPOSITORY = Path(__file__).resolve().parent.parent


def copy_project(root: Path, overrides: Sequence[str]) -> None:
    """Fill a folder with the working tree, dvc.lock left out, and with params.yaml.

    Args:
        root: an empty folder or a new one.
        overrides: of conf/, as Hydra takes them.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if name != str(paths.LOCK) and (REPOSITORY / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, root / name, follow_symlinks=False)
    params, conf = str(root / "params.yaml"), str(root / "conf")
    compose_and_dump(params, conf, None, "config", "", list(overrides))
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
