"""Live logging while a run trains: handed over in microseconds, sent by a thread of its own.

Whatever the store does (down, slow, misconfigured, not installed), training hears one warning and
goes on. A store that comes back is used again; what it missed is brought in by the sync at the end.
So is all of a training that is over within PATIENCE_SECONDS, well or not: importing MLflow would
slow it down for curves that nobody has the time to watch.

Where the user turns system metrics on (MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING=true), MLflow's own
monitor logs this machine's load into the run, as system/..., until the training ends.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from aiayn.tracking.connection import MlflowMissingError, connect, store_name, tracking_uri
from aiayn.tracking.names import RunIdentity, metric_name
from aiayn.tracking.store import Known, Point, Status, Store, now_ms

if TYPE_CHECKING:
    from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

PATIENCE_SECONDS = 40.0
FLUSH_SECONDS = 1.0
RETRY_SECONDS = 60.0
CLOSE_SECONDS = 5.0
ROWS = 20_000  # the oldest go first; hours of logging, a few MB

_logger = logging.getLogger(__name__)


class _Row(NamedTuple):
    step: int
    metrics: Mapping[str, float | None]
    time_ms: int


class LiveRun:
    """A training run as MLflow sees it. No method raises or waits, but `close`, for a few seconds.

    As a context manager it ends FINISHED, FAILED after an exception, KILLED after an interrupt.
    """

    def __init__(
        self,
        identity: RunIdentity,
        params: Mapping[str, object],
        warn: Callable[[str], object],
        root: Path,
    ) -> None:
        self._identity = identity
        self._params = {key: str(value) for key, value in params.items()}
        self._warn = warn
        self._root = root
        self._rows: deque[_Row] = deque(maxlen=ROWS)
        self._begun_ms = now_ms()
        self._ended_ms = 0
        self._stop = threading.Event()
        self._status: Status = "FINISHED"
        self._warned = False
        self._store: Store | None = None
        self._run_id: str | None = None
        self._known: Known = {}
        self._monitor: SystemMetricsMonitor | None = None
        self._thread = threading.Thread(target=self._work, name="mlflow-live", daemon=True)
        self._thread.start()

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the run; None until the store has answered."""
        return self._run_id

    def log(self, step: int, metrics: Mapping[str, float | None]) -> None:
        """Hand over the metrics of a step, by their columns in history/RUN.csv; None is skipped."""
        if self._thread.is_alive():
            self._rows.append(_Row(step, dict(metrics), now_ms()))

    def close(self, status: Status = "FINISHED") -> None:
        """Send what is left and end the run; give up after CLOSE_SECONDS."""
        if self._stop.is_set():
            return
        self._status = status
        self._ended_ms = now_ms()
        self._stop.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._complain(f"no answer within {CLOSE_SECONDS:.0f} s of the end")

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close("FINISHED")
        else:
            self.close("FAILED" if issubclass(kind, Exception) else "KILLED")

    def _work(self) -> None:
        if PATIENCE_SECONDS and self._stop.wait(PATIENCE_SECONDS):
            return
        pending: deque[_Row] = deque(maxlen=ROWS)
        pause = 0.0
        while True:
            stopping = self._stop.wait(pause)
            while self._rows:
                pending.append(self._rows.popleft())
            try:
                self._send(pending)
                pause = FLUSH_SECONDS
                if stopping and self._monitor:
                    self._monitor.finish()  # type: ignore[no-untyped-call]
                if stopping and self._store and self._run_id:
                    self._store.finish(self._run_id, self._status, self._ended_ms)
            except Exception as error:  # whatever it is, it is not worth a training
                self._complain(str(error))
                pause = RETRY_SECONDS
                if isinstance(error, MlflowMissingError):
                    return
            if stopping:
                return

    def _send(self, pending: deque[_Row]) -> None:
        """Log what is pending; it stays pending if that fails."""
        if self._run_id is None:
            self._connect()
        assert self._store is not None
        assert self._run_id is not None
        # a resumed training repeats steps, bit for bit, since its last checkpoint
        points = (
            Point(metric_name(column), row.step, value, row.time_ms)
            for row in pending
            for column, value in row.metrics.items()
            if value is not None and column != "step"
        )
        new = [point for point in points if (point.metric, point.step) not in self._known]
        self._store.add_points(self._run_id, new, self._known)
        pending.clear()

    def _connect(self) -> None:
        """Find the run that an interrupted training left, or begin a new one."""
        self._store = store = Store(*connect(self._identity.experiment, self._root))
        run = store.find(self._identity)
        if run is None:
            run = store.create(self._identity, self._begun_ms)
        else:
            store.resume(run)
            self._known = store.known_points(run, run.data.metrics)
        store.describe(run, self._params, {"stage": "train"})
        self._run_id = run.info.run_id
        try:
            self._monitor = _started_monitor(run.info.run_id, self._root)
        except Exception as error:  # psutil is not there, say: the curves come all the same
            self._warn(f"MLflow cannot log system metrics: {error}. The rest is logged.")

    def _complain(self, what: str) -> None:
        """Warn, once a run."""
        if not self._warned:
            self._warned = True
            self._warn(
                f"MLflow at {store_name(self._root)}: {what}. "
                "Training goes on; make sync brings the run in afterwards."
            )


def _started_monitor(run_id: str, root: Path) -> SystemMetricsMonitor | None:
    """MLflow's monitor of this machine, which goes on where an interrupted training's ended."""
    from mlflow.environment_variables import MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING

    if not MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING.get():  # type: ignore[no-untyped-call]
        return None
    from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

    monitor = SystemMetricsMonitor(  # type: ignore[no-untyped-call]
        run_id, resume_logging=True, tracking_uri=tracking_uri(root)
    )
    monitor.start()  # type: ignore[no-untyped-call]
    return monitor


def open_run(
    identity: RunIdentity,
    params: Mapping[str, object],
    *,
    warn: Callable[[str], object] = _logger.warning,
    root: Path = Path(),
) -> LiveRun:
    """Begin, or go on with, the MLflow run of `identity`. Returns at once and never raises.

    Args:
        identity: which run; the MLflow run with its name and fingerprint is continued.
        params: see `names.run_params`.
        warn: is told one line if the store fails; from a thread.
        root: folder of the default store.
    """
    return LiveRun(identity, params, warn, root)
