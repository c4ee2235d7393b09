"""The experiments of "Attention Is All You Need" (Vaswani et al., 2017), re-run and re-measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiayn.trained_run import TrainedRun


def load(run: str, root: Path = Path()) -> TrainedRun:
    """A trained run, for use in Python: `aiayn.load("en-de.base").translate(["A dog sleeps."])`.

    Args:
        root: the folder with params.yaml and the run's files.
    Raises:
        ConfigError: params.yaml has no such run.
    """
    from aiayn.trained_run import TrainedRun

    return TrainedRun(run, root)
