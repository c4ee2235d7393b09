"""Live logging while a run trains, by MLflow's own asynchronous logging.

The training only ever appends to a queue. Opening the run and ending it, which may take as long as
the store does, happen in a background thread. If the store fails, training prints one warning and
goes on; `track` mirrors the whole run from its files afterwards. Trainings shorter than
DELAY_SECONDS are left to `track` too: their curves are too short to watch, and importing MLflow
would slow them down.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from aiayn.tracking.identity import DIGEST, STATE, TRAINING, RunIdentity, metric_name
from aiayn.tracking.store import (
    MlflowMissingError,
    connect,
    one_line_store_errors,
    store_name,
    tracking_uri,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient

DELAY_SECONDS = 40.0
RETRY_SECONDS = 60.0
CLOSE_SECONDS = 5.0

_logger = logging.getLogger(__name__)

Status = Literal["FINISHED", "FAILED", "KILLED"]


class _Row(NamedTuple):
    step: int
    metrics: Mapping[str, float | None]
    time_ms: int


class LiveRun:
    """The MLflow run of a training. No method raises, and only `close` waits, a few seconds."""

    def __init__(self, identity: RunIdentity, params: Mapping[str, object]) -> None:
        self._identity = identity
        self._params = params
        self._rows: list[_Row] = []  # not yet in MLflow's queue
        self._wait_for_last: Callable[[], object] = lambda: None
        self._client: MlflowClient | None = None
        self.run_id: str | None = None  # set when the store has answered: rows then go to the queue
        self._logged_step = -1
        self._status: Status = "KILLED"
        self._has_warned = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._open_and_end, name="mlflow-live", daemon=True)
        self._thread.start()

    def log(self, step: int, metrics: Mapping[str, float | None]) -> None:
        """Log the metrics of a step, named like the columns of history/RUN.csv; None is skipped."""
        self._rows.append(_Row(step, dict(metrics), time.time_ns() // 1_000_000))
        if self.run_id:
            try:
                self._enqueue()
            except Exception as error:  # no error of MLflow is worth a training
                self._complain(str(error))

    def close(self, status: Status) -> None:
        """Send what is left and end the run; give up after CLOSE_SECONDS."""
        self._status = status
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._complain(f"no answer within {CLOSE_SECONDS:.0f} s of the end")

    def _open_and_end(self) -> None:
        """All that waits for the store, in a thread of its own."""
        pause = DELAY_SECONDS
        while not self.run_id:
            if self._closing.wait(pause):
                return
            try:
                self.run_id = self._open()
            except Exception as error:
                self._complain(str(error))
                if isinstance(error, MlflowMissingError):
                    return
                pause = RETRY_SECONDS
        self._closing.wait()
        try:
            self._end()
        except Exception as error:
            self._complain(str(error))

    def _open(self) -> str:
        """Resume the run of an interrupted training, or create one. Returns MLflow's id."""
        store = connect(self._identity.experiment)
        with one_line_store_errors():
            import mlflow
            from mlflow.entities import Param

            self._client = store.client
            found = store.client.search_runs([store.experiment_id], self._identity.search)
            run = next((run for run in found if DIGEST not in run.data.tags), None)
            if run is None:
                tags = {**self._identity.tags(), "stage": "train", STATE: TRAINING}
                run = store.client.create_run(
                    store.experiment_id, tags=tags, run_name=self._identity.run
                )
                params = [Param(key, str(value)) for key, value in self._params.items()]
                store.client.log_batch(run.info.run_id, params=params)
            else:  # the steps since its last checkpoint come again, with the same values
                history = store.client.get_metric_history(run.info.run_id, metric_name("loss"))
                self._logged_step = max((point.step for point in history), default=-1)
            # marks it as running, and logs system metrics if the user has turned them on
            mlflow.set_tracking_uri(tracking_uri())
            mlflow.start_run(run.info.run_id)
            return str(run.info.run_id)

    def _enqueue(self) -> None:
        """Move the rows to MLflow's queue, which its own threads send."""
        from mlflow.entities import Metric

        assert self._client
        assert self.run_id
        rows, self._rows = self._rows, []
        metrics = [
            Metric(metric_name(column), value, row.time_ms, row.step)
            for row in rows
            if row.step > self._logged_step
            for column, value in row.metrics.items()
            if value is not None and column != "step"
        ]
        operation = self._client.log_batch(self.run_id, metrics=metrics, synchronous=False)
        if operation:  # there were metrics
            self._wait_for_last = operation.wait

    def _end(self) -> None:
        import mlflow

        with one_line_store_errors():
            self._enqueue()
            mlflow.end_run(self._status)  # after MLflow's queue is empty
            self._wait_for_last()  # raises the error of the last points

    def _complain(self, what: str) -> None:
        """Warn, once in a training."""
        if not self._has_warned:
            self._has_warned = True
            _logger.warning(
                "MLflow at %s: %s. Training goes on; make sync mirrors the run afterwards.",
                store_name(),
                what,
            )


@contextmanager
def live_run(identity: RunIdentity, params: Mapping[str, object]) -> Iterator[LiveRun]:
    """Log a training to the store of the working directory's project.

    The MLflow run ends FINISHED, FAILED after an exception, KILLED after an interrupt. An
    unfinished one with the same name and fingerprint is resumed.

    Args:
        params: see `identity.run_params`.
    """
    run = LiveRun(identity, params)
    try:
        yield run
    except Exception:
        run.close("FAILED")
        raise
    except BaseException:
        run.close("KILLED")
        raise
    run.close("FINISHED")
