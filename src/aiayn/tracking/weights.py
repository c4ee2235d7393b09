"""Averaged checkpoints as MLflow's models, by reference: the weights stay where DVC has them.

A run's averaged weights are an external LoggedModel. Its metrics are the scores of the test sets,
for these alone are made with them: dev is scored with the last checkpoint (section 6.2). What
stands in table 2 is also a version of a registered model, one a task, whose aliases are the
table's rows: models:/aiayn-demo-en-de@base is the base of the last sync.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from aiayn.config import Config
from aiayn.paper import PAPER
from aiayn.results import places
from aiayn.results.lock import Lock
from aiayn.tracking.connection import plain_errors
from aiayn.tracking.names import RunIdentity
from aiayn.tracking.results import Results
from aiayn.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput, LoggedModel, Metric, Run
    from mlflow.entities.model_registry import ModelVersion

MD5 = "weights.md5"
PATH = "weights.path"
_EXTERNAL = "mlflow.model.isExternal"
_VERSIONS = "mlflow.modelVersions"
_NOTE = "mlflow.note.content"
_OF_THE_RUN = ("commit", "dirty", "host", "device")  # tags


class Place(NamedTuple):
    """In the registry: a registered model, and its alias for a row of table 2."""

    registered: str
    alias: str


@dataclass(frozen=True, kw_only=True)
class Averaged:
    """A run's averaged weights, as MLflow shall know them.

    `metrics` are those of the run that these weights made, each with its dataset's name and digest,
    if it was measured on one. `step` is the training's last.
    """

    name: str
    kind: str
    md5: str
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: Mapping[str, tuple[str, str] | None]
    step: int
    place: Place | None

    def content(self) -> dict[str, Any]:
        """All of it, for a digest."""
        return asdict(self)


def averaged(
    config: Config,
    identity: RunIdentity,
    found: Results,
    lock: Lock,
    tags: Mapping[str, str],
    params: Mapping[str, str],
    datasets: Sequence[DatasetInput],
    finals: Mapping[str, float],
) -> Averaged | None:
    """The averaged weights of a run; None where dvc.lock has none.

    Args:
        tags, params, datasets, finals: those of the run.
    """
    path = places.averaged(places.model(identity.run)).as_posix()
    md5 = lock.out(path)
    if md5 is None or not found.history.step:
        return None
    read = {item.dataset.name: (item.dataset.name, item.dataset.digest) for item in datasets}
    measured: dict[str, tuple[str, str] | None] = {}
    for name in finals:
        split = name.partition("/")[0]
        if split in config.splits_of(identity.run) and split != places.DEV:
            measured[name] = read.get(f"{identity.task}/{split}")
    if "work/parameters" in finals:
        measured["work/parameters"] = None
    note = (
        f"The mean of the last checkpoints of `{identity.run}`. MLflow holds no copy: they are "
        f"`{path}`, md5 `{md5}` in dvc.lock. `dvc pull` fetches them from a remote that has them, "
        f"`dvc repro average@{identity.run}` makes them again."
    )
    return Averaged(
        name=identity.run.replace(".", "-"),  # which MLflow takes for no name of a model
        kind=config.task(identity.task).kind,
        md5=md5,
        params=params,
        tags={
            **identity.tags(),
            **{key: tags[key] for key in _OF_THE_RUN if key in tags},
            PATH: path,
            MD5: md5,
            _NOTE: note,
        },
        metrics=measured,
        step=found.history.step[-1],
        place=_place(identity),
    )


def _place(identity: RunIdentity) -> Place | None:
    task, _, row = identity.run.partition(".")
    printed = PAPER.table_2.get(row)
    if task not in PAPER.table_2_columns or printed is None or not printed.recipes:
        return None
    return Place(f"aiayn-{identity.scale}-{task}", row)


class Models:
    """The models of one experiment; what is there already is left as it is.

    Every method raises StoreError if the store fails; what is missing comes with the next attempt.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._client = store.client
        self._found: dict[tuple[str | None, str], LoggedModel] | None = None
        self._registered: dict[str, tuple[dict[str, str], list[ModelVersion]]] = {}

    def bring(self, run: Run, weights: Averaged) -> None:
        """Create the model of a run's weights or complete it. The run has its metrics already."""
        run_id = run.info.run_id
        with plain_errors():
            model = self._known().get((run_id, weights.md5)) or self._create(run_id, weights)
            if str(model.status) != "READY":
                self._finalize(model)
            new = {key: text for key, text in weights.tags.items() if model.tags.get(key) != text}
            if new:
                self._client.set_logged_model_tags(model.model_id, new)
            self._link(run, model, weights.step)
            self._add_metrics(run_id, model, weights)

    def shelve(self, run_id: str, weights: Averaged) -> None:
        """Let the alias of a row of table 2 lead to these weights, wherever it led."""
        if weights.place is None:
            return
        registered, alias = weights.place
        with plain_errors():
            aliases, versions = self._shelf(registered)
            version = next((v for v in versions if _is_of(v, run_id, weights)), None)
            if version is None:
                version = self._register(run_id, registered, weights)
                versions.append(version)
            number = str(version.version)
            if str(aliases.get(alias)) != number:
                self._client.set_registered_model_alias(registered, alias, number)
                aliases[alias] = number

    def _known(self) -> dict[tuple[str | None, str], LoggedModel]:
        """By the run that made it and the digest of its weights."""
        if self._found is None:
            self._found = {}
            token: str | None = None
            while token != "":
                page = self._client.search_logged_models(
                    [self._store.experiment_id], page_token=token
                )
                for model in page:
                    self._found[model.source_run_id, model.tags.get(MD5, "")] = model
                token = page.token or ""
        return self._found

    def _create(self, run_id: str, weights: Averaged) -> LoggedModel:
        model = self._client.create_logged_model(
            self._store.experiment_id,
            name=weights.name,
            source_run_id=run_id,
            tags={**weights.tags, _EXTERNAL: "true"},
            params=dict(weights.params),
            model_type=weights.kind,
        )
        self._known()[run_id, weights.md5] = model
        return model

    def _finalize(self, model: LoggedModel) -> None:
        """As mlflow.create_external_model does it, which knows no store but the process' own: the
        description that the registry asks for, and no weights."""
        from mlflow.models.utils import get_external_mlflow_model_spec

        with tempfile.TemporaryDirectory() as folder:
            get_external_mlflow_model_spec(model).save(f"{folder}/MLmodel")
            self._client.log_model_artifacts(model.model_id, folder)
        self._client.finalize_logged_model(model.model_id, "READY")

    def _link(self, run: Run, model: LoggedModel, step: int) -> None:
        """Name the model among what the run put out, unless it is named already."""
        from mlflow.entities import LoggedModelOutput

        held = run.outputs.model_outputs if run.outputs else []
        if model.model_id not in {output.model_id for output in held}:
            self._client.log_outputs(run.info.run_id, [LoggedModelOutput(model.model_id, step)])

    def _add_metrics(self, run_id: str, model: LoggedModel, weights: Averaged) -> None:
        """The run's own points once more, as the model's: MLflow keeps one point of a run once."""
        from mlflow.entities import Metric

        held = {_key(metric) for metric in model.metrics or ()}
        new = []
        for name, dataset in weights.metrics.items():
            history = self._client.get_metric_history(run_id, name)
            point = max(history, key=lambda metric: metric.timestamp)
            metric = Metric(
                name, point.value, point.timestamp, point.step, model.model_id,
                *(dataset or (None, None)),
            )  # fmt: skip
            if _key(metric) not in held:
                new.append(metric)
        if new:
            self._client.log_batch(run_id, metrics=new)

    def _shelf(self, registered: str) -> tuple[dict[str, str], list[ModelVersion]]:
        """Aliases and versions of a registered model, which is created where it is new."""
        if registered not in self._registered:
            said = f"name = '{registered}'"
            found = list(self._client.search_registered_models(said))
            if not found:
                found = [self._client.create_registered_model(registered, description=ABOUT)]
            versions = list(self._client.search_model_versions(said))
            self._registered[registered] = dict(found[0].aliases), versions
        return self._registered[registered]

    def _register(self, run_id: str, registered: str, weights: Averaged) -> ModelVersion:
        model = self._known()[run_id, weights.md5]
        version = self._client.create_model_version(
            registered,
            model.artifact_location,
            run_id,
            tags={key: text for key, text in weights.tags.items() if key != _NOTE},
            description=weights.tags[_NOTE],
            model_id=model.model_id,
        )
        # a server has set this tag by itself
        said = json.dumps([{"name": registered, "version": version.version}])
        self._client.set_logged_model_tags(model.model_id, {_VERSIONS: said})
        return version


ABOUT = (
    "What stands in table 2: each alias is a row, its version the averaged weights of the run that "
    "was last brought in. Versions refer to weights, and hold none."
)


def _is_of(version: ModelVersion, run_id: str, weights: Averaged) -> bool:
    return (version.run_id, version.tags.get(MD5)) == (run_id, weights.md5)


def _key(metric: Metric) -> tuple[object, ...]:
    return metric.key, metric.value, metric.timestamp, metric.step, metric.dataset_digest
