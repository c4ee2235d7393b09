"""An experiment in an MLflow store, written to so that repeating oneself does no harm.

Nothing here adds a thing twice. A point (metric, step) that is there already stays as it is,
unless its value moved by more than rounding: then the new value is the later one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from aiayn.tracking.connection import plain_errors
from aiayn.tracking.names import FINGERPRINT, MIRRORED, RunIdentity

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run

Status = Literal["FINISHED", "FAILED", "KILLED"]
Known = dict[tuple[str, int], float]

_METRICS_A_BATCH = 1000  # MLflow's own limit
_PARAM_CHARACTERS = 6000  # likewise
_NOTE = "mlflow.note.content"
_SAME = 1e-4  # relative: a history file may round what was logged live


class Point(NamedTuple):
    """One value of a metric. `time_ms` is Unix time."""

    metric: str
    step: int
    value: float
    time_ms: int


def now_ms() -> int:
    """Unix time in milliseconds, MLflow's clock."""
    return time.time_ns() // 1_000_000


class Store:
    """One experiment of an MLflow store, as `connection.connect` gives it.

    Every method raises StoreError if the store fails.
    """

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client = client
        self.experiment_id = experiment_id

    def find(self, identity: RunIdentity) -> Run | None:
        """The MLflow run of `identity`; the oldest, should there be several."""
        with plain_errors():
            found = self.client.search_runs(
                [self.experiment_id],
                f"tags.`{FINGERPRINT}` = '{identity.fingerprint}' and tags.run = '{identity.run}'",
                order_by=["attributes.start_time ASC"],
                max_results=1,
            )
        return found[0] if found else None

    def find_all(self) -> dict[tuple[str, str], Run]:
        """Every MLflow run by its tags run and fingerprint; the oldest, should there be several."""
        found: dict[tuple[str, str], Run] = {}
        token: str | None = None
        with plain_errors():
            while token != "":
                page = self.client.search_runs(
                    [self.experiment_id],
                    f"tags.`{FINGERPRINT}` LIKE '%'",
                    order_by=["attributes.start_time ASC"],
                    page_token=token,
                )
                for run in page:
                    tags = run.data.tags
                    found.setdefault((tags.get("run", ""), tags[FINGERPRINT]), run)
                token = page.token or ""
        return found

    def explain(self, text: str) -> None:
        """Set the experiment's note, unless it says so already."""
        with plain_errors():
            held = self.client.get_experiment(self.experiment_id).tags.get(_NOTE)
            if held != text:
                self.client.set_experiment_tag(self.experiment_id, _NOTE, text)

    def create(self, identity: RunIdentity, start_ms: int) -> Run:
        """A new MLflow run for `identity`."""
        with plain_errors():
            return self.client.create_run(
                self.experiment_id, start_ms, tags=identity.tags(), run_name=identity.run
            )

    def describe(self, run: Run, params: Mapping[str, str], tags: Mapping[str, str]) -> list[str]:
        """Set the params and tags that `run` lacks; MLflow takes a hundred of each at a time.

        Returns:
            One complaint for each param that MLflow holds with another value and cannot change.
        """
        from mlflow.entities import Param, RunTag

        held = run.data.params
        new_params = [Param(key, value) for key, value in params.items() if key not in held]
        new_tags = [
            RunTag(key, value) for key, value in tags.items() if run.data.tags.get(key) != value
        ]
        if new_params or new_tags:
            with plain_errors():
                self.client.log_batch(run.info.run_id, params=new_params, tags=new_tags)
        return [
            f"{key} is {value}, but MLflow holds {held[key]} and never changes a param"
            for key, value in params.items()
            if key in held and held[key] != value[:_PARAM_CHARACTERS]
        ]

    def known_points(self, run: Run, metrics: Iterable[str]) -> Known:
        """What `run` holds of `metrics`: the latest value at each step."""
        known: Known = {}
        with plain_errors():
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
        with plain_errors():
            for start in range(0, len(new), _METRICS_A_BATCH):
                batch = new[start : start + _METRICS_A_BATCH]
                self.client.log_batch(
                    run_id, metrics=[Metric(p.metric, p.value, p.time_ms, p.step) for p in batch]
                )
                known.update({(p.metric, p.step): p.value for p in batch})
        return len(new)

    def add_datasets(self, run: Run, datasets: Iterable[DatasetInput]) -> None:
        """Name what `run` read, unless it is named already."""
        inputs = run.inputs.dataset_inputs if run.inputs else []
        held = {(i.dataset.name, i.dataset.digest) for i in inputs}
        new = [i for i in datasets if (i.dataset.name, i.dataset.digest) not in held]
        if new:
            with plain_errors():
                self.client.log_inputs(run.info.run_id, datasets=new)

    def add_files(self, run_id: str, folder: Path) -> None:
        """Upload what lies in `folder` as artifacts; files of the same name are replaced."""
        with plain_errors():
            self.client.log_artifacts(run_id, str(folder))

    def resume(self, run: Run) -> None:
        """Mark a run that was found again as running; the sync will have to look at it anew."""
        with plain_errors():
            if run.info.status != "RUNNING":
                self.client.update_run(run.info.run_id, status="RUNNING")
            if run.data.tags.get(MIRRORED):
                self.client.set_tag(run.info.run_id, MIRRORED, "")

    def finish(self, run_id: str, status: Status, end_ms: int) -> None:
        """Mark a run as over."""
        with plain_errors():
            self.client.set_terminated(run_id, status, end_ms)


def _same(held: float, value: float) -> bool:
    return math.isclose(held, value, rel_tol=_SAME) or (math.isnan(held) and math.isnan(value))
