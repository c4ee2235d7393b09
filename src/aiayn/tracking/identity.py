"""What a run is called in MLflow: its identity, its params and its metrics.

Live logging and the mirror use the same names, so that a live curve looks like the final one.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.config import Config
from aiayn.results.json_files import leaves

FINGERPRINT = "aiayn.fingerprint"
DIGEST = "aiayn.digest"  # of all that a mirrored run holds; a live run has none
STATE = "state"  # one of these
TRAINING = "training"  # live, not yet mirrored from files
CURRENT = "current"  # the files in the project's folder
SUPERSEDED = "superseded"  # by a later run of the same name
EXPERIMENT = "experiment"  # of dvc exp, in a folder of its own


@dataclass(frozen=True, kw_only=True)
class RunIdentity:
    """Which run this is.

    `fingerprint` is a digest of everything that the training depends on. The report has neither
    task nor model.
    """

    scale: str
    run: str
    fingerprint: str
    task: str = ""
    model: str = ""

    @property
    def experiment(self) -> str:
        """The MLflow experiment: one for each scale."""
        return f"aiayn/{self.scale}"

    @property
    def search(self) -> str:
        """MLflow's filter for the runs with this identity."""
        return f"tags.`{FINGERPRINT}` = '{self.fingerprint}' and tags.run = '{self.run}'"

    def tags(self) -> dict[str, str]:
        """The identity as MLflow tags."""
        tags = {
            "scale": self.scale,
            "run": self.run,
            "task": self.task,
            "model": self.model,
            FINGERPRINT: self.fingerprint,
        }
        return {key: value for key, value in tags.items() if value}


def run_params(config: Config, run: str) -> dict[str, str]:
    """MLflow params: the model, the task, the recipe, the machine and how outputs are searched.

    Raises:
        ConfigError: there is no such run.
    """
    task = config.task_of(run)
    values = {
        **config.model_of(run).columns,
        "seed": config.run(run).seed,
        "source": task.text.source,
        "target": task.text.target,
        "corpora": ", ".join(task.text.train),
        "bpe": task.bpe.model_dump(),
        "training": config.training.model_dump(),
        "decoding": task.decoding.model_dump() if task.decoding else {},
        "machine": config.machine.model_dump(),
        "launcher": config.launcher.command,
    }
    return {key: str(value) for key, value in leaves(values)}


def metric_name(column: str) -> str:
    """The MLflow metric for a column of history/RUN.csv: `loss` is train/loss, `dev_loss` dev/loss.

    MLflow groups its charts by the part before the slash.
    """
    if column.startswith("dev_"):
        return f"dev/{column.removeprefix('dev_')}"
    return f"train/{column}"
