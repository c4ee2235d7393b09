"""Reaching an MLflow store: where it is, how long to wait for it, and plain words when it fails."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aiayn.errors import AiaynError
from aiayn.results import places

if TYPE_CHECKING:
    from mlflow import MlflowClient

DATABASE = Path("mlflow.db")
ARTIFACTS = Path("mlartifacts")

_OPEN_SECONDS = 45.0

# MLflow itself would wait 120 s, and try 8 times. Who sets a variable has the last word.
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


def tracking_uri(root: Path = Path()) -> str:
    """Where runs go: MLFLOW_TRACKING_URI, else a SQLite file in the top folder of the project
    whose folder, or a scale's, `root` is."""
    database = (places.project(root) / DATABASE).resolve()
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{database}"


def store_name(root: Path = Path()) -> str:
    """The tracking URI as it may be shown: without user and password."""
    return without_credentials(tracking_uri(root))


def without_credentials(text: str) -> str:
    """`text` on one line, with any user:password@ of a URI left out."""
    return re.sub(r"//[^/\s]*@", "//", " ".join(text.split()))


def connect(experiment: str, root: Path = Path()) -> tuple[MlflowClient, str]:
    """A client of the store, and the id of `experiment`, which is created where it is new.

    Costs MLflow's import, about two seconds.

    Raises:
        MlflowMissingError: MLflow is not installed.
        StoreError: the store is down, slow, misconfigured, or refuses.
    """
    _import()
    with plain_errors():
        from mlflow import MlflowClient

        root = places.project(root)
        uri = tracking_uri(root)
        local = not os.environ.get("MLFLOW_TRACKING_URI")
        if local and not (root / DATABASE).exists():
            _build_database(root)
        client = MlflowClient(uri)
        # a server knows best where its artifacts go; the local file does not
        location = (root / ARTIFACTS / experiment).resolve().as_uri() if local else None
        return client, _experiment(client, experiment, location)


def _import() -> None:
    """MLflow, told how to behave."""
    for variable, value in _MANNERS.items():
        os.environ.setdefault(variable, value)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    with plain_errors():
        import mlflow  # noqa: F401


def connect_in_time(experiment: str, root: Path = Path()) -> tuple[MlflowClient, str]:
    """As `connect`, but give up on a store that hangs; a database's own patience is minutes."""
    _import()  # takes as long as the machine is busy: no store's fault
    outcome: list[tuple[MlflowClient, str] | StoreError] = []

    def attempt() -> None:
        try:
            outcome.append(connect(experiment, root))
        except StoreError as error:
            outcome.append(error)

    thread = threading.Thread(target=attempt, name="mlflow-connect", daemon=True)
    thread.start()
    thread.join(_OPEN_SECONDS)
    result = outcome[0] if outcome else StoreError(f"no answer in {_OPEN_SECONDS:.0f} s")
    if isinstance(result, StoreError):
        raise result
    return result


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
    draft.unlink(missing_ok=True)  # of a process that was killed, and had the same number
    try:
        store = SqlAlchemyStore(f"sqlite:///{draft}", folder.as_uri())  # type: ignore[no-untyped-call]
        store.engine.dispose()
        if not (root / DATABASE).exists():  # another process may have been quicker
            draft.replace(root / DATABASE)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def plain_errors() -> Iterator[None]:
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
    """The operating system's error below `error` (connection refused), or `error` itself."""
    below: BaseException | None = error
    while below is not None:
        root = below
        below = root.__cause__ or (None if root.__suppress_context__ else root.__context__)
    return root if isinstance(root, OSError) else error
