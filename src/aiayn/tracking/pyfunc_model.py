"""How MLflow loads a run of the project: mlflow.pyfunc.load_model("models:/aiayn-demo-en-de@base").

Nothing is unpickled and no weights are copied: they are read from the project's folder. On another
machine, name that folder: load_model(URI, model_config={"root": "/path/to/project"}).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiayn.errors import CheckpointError
from aiayn.results import paths

if TYPE_CHECKING:
    from aiayn.trained_run import TrainedRun


class PyfuncModel:
    """A run whose averaged weights are those that MLflow's model refers to."""

    def __init__(self, run: TrainedRun) -> None:
        self._run = run

    def predict(
        self, model_input: Sequence[str], params: Mapping[str, Any] | None = None
    ) -> list[str]:
        """A translation, tree or label for each sentence."""
        return self._run.predict(list(model_input))


def _load_pyfunc(path: str, model_config: Mapping[str, str]) -> PyfuncModel:
    """Called by mlflow.pyfunc.load_model.

    Raises:
        CheckpointError: the weights are missing, or are not those of this model.
        ConfigError: the project has no such run.
    """
    import aiayn

    root, run = Path(model_config["root"]), model_config["run"]
    weights = root / paths.averaged(paths.model(run))
    if not weights.exists():
        raise CheckpointError(
            f"{weights}: not there. In that folder, run dvc pull or dvc repro average@{run}; or "
            'name another: load_model(URI, model_config={"root": "/path/to/project"}).'
        )
    with weights.open("rb") as file:
        md5 = hashlib.file_digest(file, "md5").hexdigest()
    if md5 != model_config["md5"]:
        raise CheckpointError(
            f"{weights}: other weights than those of this model, which have md5 "
            f"{model_config['md5']}. In {root}, check out the commit that has this digest in "
            "dvc.lock, then run dvc checkout."
        )
    return PyfuncModel(aiayn.load(run, root))
