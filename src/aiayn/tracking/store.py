"""The MLflow store: where it is, how long to wait for it, and its errors in one line."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiayn.errors import AiaynError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

DATABASE = "mlflow.db"
ARTIFACTS = "mlartifacts"
CONNECT_SECONDS = 45.0

# Defaults; what the user sets wins. MLflow itself would wait for 120 s and try 8 times. Points that
# are logged asynchronously go out every few seconds: with MLflow's ten threads and these timeouts,
# none pile up before a store that does not answer, and the process can end.
DEFAULT_ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_ASYNC_LOGGING_BUFFERING_SECONDS": "5",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


class StoreError(AiaynError):
    """The MLflow store cannot be used. Only the mirror is affected."""


class MlflowMissingError(StoreError):
    """MLflow is not installed."""


class Store(NamedTuple):
    """A client of the store, and the id of the experiment."""

    client: MlflowClient
    experiment_id: str


def project_folder(folder: Path = Path()) -> Path:
    """The DVC project that `folder` is in, or `folder` itself if there is none.

    The outermost one: an experiment that DVC runs in a temporary folder below .dvc/ belongs to the
    project around it.
    """
    folder = folder.resolve()
    projects = [parent for parent in (folder, *folder.parents) if (parent / ".dvc").is_dir()]
    return projects[-1] if projects else folder


def tracking_uri(folder: Path = Path()) -> str:
    """MLFLOW_TRACKING_URI, or the SQLite file of the project that `folder` is in."""
    return os.environ.get("MLFLOW_TRACKING_URI") or _default_uri(folder)


def store_name(folder: Path = Path()) -> str:
    """The tracking URI for messages: without user and password."""
    return without_credentials(tracking_uri(folder))


def without_credentials(text: str) -> str:
    """`text` on one line, without any user:password@ of a URI."""
    return re.sub(r"//[^/\s]*@", "//", " ".join(text.split()))


def connect(experiment: str, folder: Path = Path()) -> Store:
    """Open the store and the experiment, which is created if it is new.

    Takes as long as the store does. Importing MLflow takes some two seconds.

    Raises:
        MlflowMissingError: MLflow is not installed.
        StoreError: the store is down, misconfigured, or refuses.
    """
    import_mlflow()
    with one_line_store_errors():
        from mlflow import MlflowClient

        uri, location = tracking_uri(folder), None
        if uri == _default_uri(folder):
            project = project_folder(folder)
            _create_database(project)
            location = _location(experiment, folder)
        client = MlflowClient(uri)
        store = Store(client, _experiment_id(client, experiment, location))
        if location:
            check_location(client.get_experiment(store.experiment_id), folder)
        return store


def check_location(experiment: Experiment, folder: Path = Path()) -> None:
    """Raises StoreError if an experiment of the default store belongs to another folder."""
    found = experiment.artifact_location
    if found != _location(experiment.name, folder):
        raise StoreError(
            f"{DATABASE} was copied from another folder and would write artifacts to {found}. "
            f"Remove {DATABASE}; make sync writes it again"
        )


def default_database(folder: Path = Path()) -> Path | None:
    """The SQLite file of the project that `folder` is in; None if MLFLOW_TRACKING_URI names another
    store."""
    is_default = tracking_uri(folder) == _default_uri(folder)
    return project_folder(folder) / DATABASE if is_default else None


def import_mlflow() -> None:
    """Import MLflow with our defaults in the environment. Raises MlflowMissingError."""
    for variable, value in DEFAULT_ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    with one_line_store_errors():
        import mlflow  # noqa: F401


def connect_in_time(experiment: str, folder: Path = Path()) -> Store:
    """`connect`, or a StoreError after CONNECT_SECONDS: a database's own timeout can be minutes."""
    import_mlflow()  # how long this takes says nothing about the store
    results: list[Store | StoreError] = []

    def attempt() -> None:
        try:
            results.append(connect(experiment, folder))
        except StoreError as error:
            results.append(error)

    thread = threading.Thread(target=attempt, name="mlflow-connect", daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    result = results[0] if results else StoreError(f"no answer in {CONNECT_SECONDS:.0f} s")
    if isinstance(result, StoreError):
        raise result
    return result


def _location(experiment: str, folder: Path) -> str:
    return (project_folder(folder) / ARTIFACTS / experiment).as_uri()


def _default_uri(folder: Path) -> str:
    return f"sqlite:///{project_folder(folder) / DATABASE}"


def _experiment_id(client: MlflowClient, name: str, location: str | None) -> str:
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return client.create_experiment(name, artifact_location=location)
        except MlflowException:
            found = client.get_experiment_by_name(name)  # created by another process meanwhile
            if found is None:
                raise
    if found.lifecycle_stage != "active":
        raise StoreError(
            f"the experiment {name} was deleted; restore it (mlflow experiments restore "
            f"--experiment-id {found.experiment_id}) or remove it for good (mlflow gc)"
        )
    return str(found.experiment_id)


def _create_database(project: Path) -> None:
    """Create the SQLite store under a temporary name, then rename it.

    MLflow fills a new database by dozens of migrations and cannot resume them if it is killed.
    """
    from mlflow import MlflowClient

    database = project / DATABASE
    if database.exists():
        return
    (project / ARTIFACTS).mkdir(exist_ok=True)
    draft = project / ARTIFACTS / f".{DATABASE}.{os.getpid()}"
    draft.unlink(missing_ok=True)  # of a killed process with the same id
    try:
        MlflowClient(f"sqlite:///{draft}").search_experiments(max_results=1)
        if not database.exists():  # created by another process meanwhile
            draft.replace(database)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def one_line_store_errors() -> Iterator[None]:
    """Turn every error of MLflow, its database and its network into a StoreError of one line."""
    try:
        yield
    except StoreError:
        raise
    except ImportError as error:
        if error.name == "mlflow":
            raise MlflowMissingError("MLflow is not installed") from error
        raise StoreError(f"MLflow cannot be imported: {without_credentials(str(error))}") from error
    except Exception as error:  # database drivers raise errors of every family
        cause = _root_cause(error)
        text = f"{type(cause).__name__}: {without_credentials(str(cause))}"
        raise StoreError(text if len(text) <= 300 else f"{text[:297]}...") from error


def _root_cause(error: BaseException) -> BaseException:
    """The operating system's error below `error` (connection refused), or `error` itself."""
    below: BaseException | None = error
    while below is not None:
        root = below
        below = root.__cause__ or (None if root.__suppress_context__ else root.__context__)
    return root if isinstance(root, OSError) else error
