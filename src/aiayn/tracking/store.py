"""The MLflow store, at arm's length: found or created, quiet, impatient, and safe to repeat.

Nothing here adds a thing twice. A point (metric, step) that is there already stays as it is,
unless its value moved by more than rounding: then the new value is the later one.
"""

from __future__ import annotations

import logging
import math
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from aiayn.errors import AiaynError
from aiayn.tracking.names import FINGERPRINT, RunIdentity

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run

DATABASE = Path("mlflow.db")
ARTIFACTS = Path("mlartifacts")

Status = Literal["FINISHED", "FAILED", "KILLED"]
Known = dict[tuple[str, int], float]

_METRICS_A_BATCH = 1000  # MLflow's own limits
_ENTRIES_A_BATCH = 100
_PARAM_CHARACTERS = 6000
_SAME = 1e-4  # relative: a history file may round what was logged live
_OPEN_SECONDS = 45.0

# MLflow's defaults wait 120 s and try 8 times. Whoever sets one of these variables has the last word.
_MANNERS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


class StoreError(AiaynError):
    """The MLflow store cannot be used; nothing but the mirror is lost."""


class MlflowMissingError(StoreError):
    """MLflow is not installed here."""


class Point(NamedTuple):
    """One value of a metric. `time_ms` is Unix time."""

    metric: str
    step: int
    value: float
    time_ms: int


def tracking_uri(root: Path = Path()) -> str:
    """Where runs go: MLFLOW_TRACKING_URI, else a SQLite file in `root`."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(root / DATABASE).resolve()}"


def without_credentials(text: str) -> str:
    """`text` on one line, with any user:password@ of a URI left out."""
    return re.sub(r"//[^/@\s]+@", "//", " ".join(text.split()))


def now_ms() -> int:
    """Unix time in milliseconds, MLflow's clock."""
    return time.time_ns() // 1_000_000


class Store:
    """One experiment of an MLflow store. Every method raises StoreError, and nothing else."""

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client = client
        self.experiment_id = experiment_id

    @classmethod
    def open(cls, experiment: str, root: Path = Path()) -> Store:
        """Connect, and find or create `experiment`. Costs MLflow's import, about two seconds.

        Raises:
            MlflowMissingError: MLflow is not installed.
            StoreError: the store is down, slow, misconfigured, or refuses.
        """
        for variable, value in _MANNERS.items():
            os.environ.setdefault(variable, value)
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
        with _plain_errors():
            from mlflow import MlflowClient

            uri = tracking_uri(root)
            local = not os.environ.get("MLFLOW_TRACKING_URI")
            if local and not (root / DATABASE).exists():
                _build_database(root)
            client = MlflowClient(uri)
            # a server knows best where its artifacts go; the local file does not
            location = (root / ARTIFACTS / experiment).resolve().as_uri() if local else None
            return cls(client, _experiment(client, experiment, location))

    @classmethod
    def open_in_time(cls, experiment: str, root: Path = Path()) -> Store:
        """As `open`, but give up on a store that hangs; a database's own patience is minutes."""
        outcome: list[Store | StoreError] = []

        def attempt() -> None:
            try:
                outcome.append(cls.open(experiment, root))
            except StoreError as error:
                outcome.append(error)

        thread = threading.Thread(target=attempt, name="mlflow-open", daemon=True)
        thread.start()
        thread.join(_OPEN_SECONDS)
        result = outcome[0] if outcome else StoreError(f"no answer in {_OPEN_SECONDS:.0f} s")
        if isinstance(result, StoreError):
            raise result
        return result

    def find(self, identity: RunIdentity) -> Run | None:
        """The MLflow run of `identity`; the oldest, should there be several."""
        quoted = {key: value.replace("'", "''") for key, value in identity.tags().items()}
        with _plain_errors():
            found = self.client.search_runs(
                [self.experiment_id],
                f"tags.`{FINGERPRINT}` = '{quoted[FINGERPRINT]}' and tags.run = '{quoted['run']}'",
                order_by=["attributes.start_time ASC"],
                max_results=1,
            )
        return found[0] if found else None

    def create(self, identity: RunIdentity, start_ms: int) -> Run:
        """A new MLflow run for `identity`."""
        with _plain_errors():
            return self.client.create_run(
                self.experiment_id, start_ms, tags=identity.tags(), run_name=identity.run
            )

    def describe(self, run: Run, params: Mapping[str, str], tags: Mapping[str, str]) -> list[str]:
        """Set the params and tags that `run` lacks.

        Returns:
            One complaint for each param that MLflow holds with another value and cannot change.
        """
        from mlflow.entities import Param, RunTag

        held = run.data.params
        new_params = [Param(key, value) for key, value in params.items() if key not in held]
        new_tags = [
            RunTag(key, value) for key, value in tags.items() if run.data.tags.get(key) != value
        ]
        with _plain_errors():
            for start in range(0, len(new_params), _ENTRIES_A_BATCH):
                batch = new_params[start : start + _ENTRIES_A_BATCH]
                self.client.log_batch(run.info.run_id, params=batch)
            for start in range(0, len(new_tags), _ENTRIES_A_BATCH):
                self.client.log_batch(
                    run.info.run_id, tags=new_tags[start : start + _ENTRIES_A_BATCH]
                )
        return [
            f"{key} is {value}, but MLflow holds {held[key]} and never changes a param"
            for key, value in params.items()
            if key in held and held[key] != value[:_PARAM_CHARACTERS]
        ]

    def known_points(self, run: Run, metrics: Iterable[str]) -> Known:
        """What `run` holds of `metrics`: the latest value at each step."""
        known: Known = {}
        with _plain_errors():
            for name in sorted(set(metrics) & set(run.data.metrics)):
                history = self.client.get_metric_history(run.info.run_id, name)
                for point in sorted(history, key=lambda metric: metric.timestamp):
                    known[name, point.step] = point.value
        return known

    def add_points(self, run_id: str, points: Iterable[Point], known: Known) -> int:
        """Log the points that `known` lacks, and note them there. Returns how many those were."""
        from mlflow.entities import Metric

        fresh: dict[tuple[str, int], Point] = {}
        for point in points:
            key = (point.metric, point.step)
            if key not in known or not _same(known[key], point.value):
                fresh[key] = point
        new = list(fresh.values())
        with _plain_errors():
            for start in range(0, len(new), _METRICS_A_BATCH):
                batch = new[start : start + _METRICS_A_BATCH]
                self.client.log_batch(
                    run_id, metrics=[Metric(p.metric, p.value, p.time_ms, p.step) for p in batch]
                )
                known.update({(p.metric, p.step): p.value for p in batch})
        return len(new)

    def add_datasets(self, run: Run, datasets: Iterable[DatasetInput]) -> None:
        """Name what `run` read, unless it is named already."""
        held = {(i.dataset.name, i.dataset.digest) for i in run.inputs.dataset_inputs}
        new = [i for i in datasets if (i.dataset.name, i.dataset.digest) not in held]
        if new:
            with _plain_errors():
                self.client.log_inputs(run.info.run_id, datasets=new)

    def add_files(self, run_id: str, folder: Path) -> None:
        """Upload what lies in `folder` as artifacts; files of the same name are replaced."""
        with _plain_errors():
            self.client.log_artifacts(run_id, str(folder))

    def resume(self, run: Run) -> None:
        """Mark a run that was found again as running."""
        if run.info.status != "RUNNING":
            with _plain_errors():
                self.client.update_run(run.info.run_id, status="RUNNING")

    def finish(self, run_id: str, status: Status, end_ms: int) -> None:
        """Mark a run as over."""
        with _plain_errors():
            self.client.set_terminated(run_id, status, end_ms)


def _same(held: float, value: float) -> bool:
    return math.isclose(held, value, rel_tol=_SAME) or (math.isnan(held) and math.isnan(value))


def _experiment(client: MlflowClient, name: str, location: str | None) -> str:
    """The id of the experiment called `name`, created where it does not exist yet."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return client.create_experiment(name, artifact_location=location)
        except MlflowException:
            found = client.get_experiment_by_name(name)  # another process was quicker
            if found is None:
                raise
    if found.lifecycle_stage != "active":
        raise StoreError(
            f"the experiment {name} was deleted; restore it (mlflow experiments restore "
            f"--experiment-id {found.experiment_id}) or clear it away (mlflow gc)"
        )
    return str(found.experiment_id)


def _build_database(root: Path) -> None:
    """Create the SQLite store whole: beside its place, then moved in.

    MLflow fills a new database by dozens of migrations; killed among them, it cannot go on later.
    """
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    folder = (root / ARTIFACTS).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{DATABASE}.{os.getpid()}"
    try:
        store = SqlAlchemyStore(f"sqlite:///{draft}", folder.as_uri())
        store.engine.dispose()
        if not (root / DATABASE).exists():  # another process may have been quicker
            draft.replace(root / DATABASE)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn whatever MLflow, its database and its network raise into a StoreError of one line."""
    try:
        yield
    except StoreError:
        raise
    except ImportError as error:
        if error.name == "mlflow":
            raise MlflowMissingError("MLflow is not installed") from error
        raise StoreError(f"MLflow cannot be imported: {without_credentials(str(error))}") from error
    except Exception as error:  # the store's drivers raise errors of every family
        cause = _root(error)
        said = f"{type(cause).__name__}: {without_credentials(str(cause))}"
        raise StoreError(said if len(said) <= 300 else f"{said[:297]}...") from error


def _root(error: BaseException) -> BaseException:
    """The operating system's own error at the bottom of `error` (connection refused), or `error`."""
    below: BaseException | None = error
    while below is not None:
        root, below = below, below.__cause__ or below.__context__
    return root if isinstance(root, OSError) else error
