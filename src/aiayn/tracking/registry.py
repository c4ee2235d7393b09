"""Averaged weights as MLflow models that can be loaded, while the weights stay where DVC has them.

Each is a model with the scores that these weights got on the test sets (dev is scored with the last
checkpoint, section 6.2). Those in table 2 are also versions of a registered model, one for each
task, with the table's rows as aliases: models:/aiayn-demo-en-de@base. What MLflow stores is the
project's folder and the run's name; `aiayn.tracking.pyfunc_model` loads the run from there.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiayn.config import Config
from aiayn.paper import PAPER
from aiayn.results import paths
from aiayn.results.history import History
from aiayn.results.lock import Lock
from aiayn.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

LOADER = "aiayn.tracking.pyfunc_model"
DESCRIPTION = (
    "Table 2: each alias is a row, its version the averaged weights of the run that was last "
    "mirrored. Versions refer to weights and hold none."
)


class Weights(NamedTuple):
    """A run's averaged weights.

    `datasets` are the test sets, by split, each with name and digest; `step` is the training's
    last; `registered` and `alias` are empty where the run is not in table 2.
    """

    run: str
    kind: str
    path: str
    md5: str
    step: int
    datasets: Mapping[str, tuple[str, str]]
    registered: str = ""
    alias: str = ""

    def tags(self) -> dict[str, str]:
        """Which weights these are."""
        return {"run": self.run, "weights.path": self.path, "weights.md5": self.md5}

    def measured(self, metric: str) -> tuple[str, str] | None:
        """Name and digest of the test set for which these weights got a metric, if they did."""
        return self.datasets.get(metric.partition("/")[0])


def weights_of(
    config: Config, run: str, lock: Lock, datasets: Sequence[DatasetInput], curve: History
) -> Weights | None:
    """The averaged weights of a run; None if dvc.lock has none.

    Args:
        datasets: those of the run's task.
        curve: of the training.
    """
    path = paths.averaged(paths.model(run)).as_posix()
    md5 = lock.out(path)
    if md5 is None or not curve.lines:
        return None
    task, _, row = run.partition(".")
    printed = PAPER.table_2.get(row)
    in_table_2 = task in PAPER.table_2_columns and printed is not None and bool(printed.recipes)
    tested = [split for split in config.splits_of(run) if split != paths.DEV]
    digests = {item.dataset.name: item.dataset.digest for item in datasets}
    names = {split: f"{config.run(run).task}/{split}" for split in tested}
    return Weights(
        run=run,
        kind=config.task_of(run).kind,
        path=path,
        md5=md5,
        step=curve.lines[-1].step,
        datasets={s: (name, digests[name]) for s, name in names.items() if name in digests},
        registered=f"aiayn-{config.scale}-{task}" if in_table_2 else "",
        alias=row if in_table_2 else "",
    )


def create_model(
    store: Store, run_id: str, root: Path, weights: Weights, params: Mapping[str, str]
) -> str:
    """Create the model of a run's weights, and a version of the registered one. Returns its id.

    Args:
        root: folder of the scale's files.
        params: those of the run.
    """
    from mlflow.entities import LoggedModelOutput

    with warnings.catch_warnings(action="ignore"):  # MLflow warns of its own type hints
        import mlflow.pyfunc

    client = store.client
    model = client.create_logged_model(
        store.experiment_id,
        name=weights.run.replace(".", "-"),  # MLflow allows no dot
        source_run_id=run_id,
        tags=weights.tags(),
        params=dict(params),
        model_type=weights.kind,
    )
    with tempfile.TemporaryDirectory() as folder:
        mlflow.pyfunc.save_model(
            f"{folder}/model",
            loader_module=LOADER,
            pip_requirements=[],  # that of the project, which has to be there in any case
            model_config={"root": str(root.resolve()), "run": weights.run, "md5": weights.md5},
        )
        client.log_model_artifacts(model.model_id, f"{folder}/model")
    client.finalize_logged_model(model.model_id, "READY")
    client.log_outputs(run_id, [LoggedModelOutput(model.model_id, weights.step)])
    if weights.registered:
        found = client.search_registered_models(f"name = '{weights.registered}'")
        if not found:
            client.create_registered_model(weights.registered, description=DESCRIPTION)
        client.create_model_version(
            weights.registered,
            model.artifact_location,
            run_id,
            tags=weights.tags(),
            model_id=model.model_id,
            description=(
                f"The mean of the last checkpoints of `{weights.run}`: `{weights.path}`, md5 "
                f"`{weights.md5}` in dvc.lock. `dvc pull` fetches it from a remote that has it; "
                f"`dvc repro average@{weights.run}` makes it again."
            ),
        )
    return str(model.model_id)


def set_alias(store: Store, run_id: str, weights: Weights) -> None:
    """Point the alias of a row of table 2 to the version that the MLflow run made."""
    if not weights.registered:
        return
    name, alias, client = weights.registered, weights.alias, store.client
    versions = client.search_model_versions(f"name = '{name}' and run_id = '{run_id}'")
    for version in versions[:1]:
        if str(client.get_registered_model(name).aliases.get(alias)) != str(version.version):
            client.set_registered_model_alias(name, alias, str(version.version))


def delete_models(store: Store, run_id: str) -> None:
    """Delete the model that an MLflow run made, and the version that refers to it."""
    client = store.client
    for version in client.search_model_versions(f"run_id = '{run_id}'"):
        client.delete_model_version(version.name, version.version)
    models = client.search_logged_models(
        [store.experiment_id], filter_string=f"source_run_id = '{run_id}'"
    )
    for model in models:
        client.delete_logged_model(model.model_id)
