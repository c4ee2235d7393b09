"""The experiments of "Attention Is All You Need" (Vaswani et al., 2017), re-run and re-measured.

The public Python API is `load`, `read_results`, `reproduction` and, for experiments with parts of
the model and of its training, the module `aiayn.components`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiayn.report.scale_results import ScaleResults
    from aiayn.trained_run import TrainedRun

__all__ = ["SHIPPED", "load", "read_results", "reproduction"]

SHIPPED = "shipped"
"""The name of the English-German model that comes with the package; src/aiayn/shipped/README.md."""


def load(run: str, root: Path | str = ".") -> TrainedRun:
    """A trained run: `aiayn.load("en-de.base").translate(["A dog sleeps."])`.

    Weights are loaded lazily. Then torch gets the settings of the project's stages, for the whole
    process: deterministic algorithms, and the threads and precision of `machine` in params.yaml.

    Args:
        run: a run in params.yaml, or SHIPPED, which needs no project.
        root: the folder with params.yaml and the run's files.
    Raises:
        ConfigError: params.yaml has no such run.
    """
    from aiayn.trained_run import TrainedRun

    return TrainedRun(*place(run, Path(root)))


def place(run: str, root: Path = Path()) -> tuple[str, Path]:
    """The name of a run, or of SHIPPED, in its params.yaml, and the folder of that file."""
    if run == SHIPPED:
        return "en-de.base", Path(__file__).with_name(SHIPPED)
    return run, root


def read_results(root: Path | str = ".") -> ScaleResults:
    """A scale's results as pandas DataFrames: `aiayn.read_results("scales/copy").scores`.

    Needs neither weights nor torch.

    Args:
        root: the folder with params.yaml: the project's folder for the demo, or scales/NAME.
    Raises:
        ConfigError: params.yaml is missing or wrong.
    """
    from aiayn.report.scale_results import ScaleResults

    return ScaleResults(Path(root))


def reproduction(name: str) -> ScaleResults:
    """A published reproduction's results: `aiayn.reproduction("multi30k_table3").table(3)`.

    Args:
        name: a folder of reproductions/ in the clone from which this package is installed.
    Raises:
        ConfigError: there is no such reproduction.
    """
    from aiayn.errors import ConfigError
    from aiayn.results import paths
    from aiayn.validation import nearest

    folder = Path(__file__).parents[2] / paths.REPRODUCTIONS
    names = [path.parent.name for path in folder.glob("[!.]*/params.yaml")]
    if name not in names:
        raise ConfigError(f"{folder} has no reproduction {name!r}.{nearest(name, names)}")
    return read_results(folder / name)
