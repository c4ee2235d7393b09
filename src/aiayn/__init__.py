"""The experiments of "Attention Is All You Need" (Vaswani et al., 2017), re-run and re-measured.

The public Python API is `load` and `read_results`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiayn.results.frames import Results
    from aiayn.trained_run import TrainedRun

__all__ = ["SHIPPED", "load", "read_results"]

SHIPPED = "shipped"
"""The name of the English-German model that comes with the package; src/aiayn/shipped/README.md."""


def load(run: str, root: Path | str = ".") -> TrainedRun:
    """A trained run: `aiayn.load("en-de.base").translate(["A dog sleeps."])`.

    Args:
        run: of params.yaml, or SHIPPED, which needs no project.
        root: the folder with params.yaml and the run's files.
    Raises:
        ConfigError: params.yaml has no such run.
    """
    from aiayn.trained_run import TrainedRun

    return TrainedRun(*place(run, Path(root)))


def place(run: str, root: Path = Path()) -> tuple[str, Path]:
    """The name that params.yaml has for a run or for SHIPPED, and the folder of that file."""
    if run == SHIPPED:
        return "en-de.base", Path(__file__).with_name(SHIPPED)
    return run, root


def read_results(root: Path | str = ".") -> Results:
    """What a scale has left, as pandas DataFrames: `aiayn.read_results("scales/copy").scores`.

    Args:
        root: the folder with params.yaml: the project's for the demo, scales/NAME, or a published
            reproduction.
    Raises:
        ConfigError: params.yaml is missing or wrong.
    """
    from aiayn.results.frames import Results

    return Results(Path(root))
