"""Bring single MLflow runs in step with what the files say they hold."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiayn.tracking.names import MIRRORED, RunIdentity
from aiayn.tracking.store import Point, Store, now_ms
from aiayn.tracking.weights import Averaged, Models

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput, Run


@dataclass(frozen=True, kw_only=True)
class Entry:
    """All that an MLflow run shall hold.

    `course` has the metrics of single steps, by name and step; `finals` those with one value a run;
    `files` the artifacts by path; `weights` what the run put out. Times are Unix milliseconds, None
    where nobody knows.
    """

    identity: RunIdentity
    tags: Mapping[str, str]
    params: Mapping[str, str] = field(default_factory=dict)
    course: Mapping[tuple[str, int], float] = field(default_factory=dict)
    finals: Mapping[str, float] = field(default_factory=dict)
    datasets: Sequence[DatasetInput] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    weights: Averaged | None = None
    started_ms: int | None = None
    ended_ms: int | None = None

    def digest(self) -> str:
        """Of everything: two entries with the same digest are the same run in the same state."""
        content = {
            "tags": {**self.identity.tags(), **self.tags},
            "params": self.params,
            "course": [[*key, value] for key, value in self.course.items()],
            "finals": self.finals,
            "datasets": [item.to_dictionary() for item in self.datasets],
            "files": {path: hashlib.sha256(data).hexdigest() for path, data in self.files.items()},
            "weights": self.weights.content() if self.weights else None,
            "times": [self.started_ms, self.ended_ms],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass
class Changes:
    """What mirroring did: runs created, metric values added, and complaints of a line each."""

    created: int = 0
    points: int = 0
    complaints: list[str] = field(default_factory=list)


class Mirror:
    """The runs of one experiment. An entry that is there already costs no call to the store, unless
    it stands in table 2."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs = store.find_all()
        self._models = Models(store)

    def bring(self, entry: Entry, changes: Changes) -> None:
        """Create the run of `entry` or complete it, and note in `changes` what that took.

        Raises:
            StoreError: the store failed; what is missing comes with the next attempt.
        """
        run_id = self._complete(entry, changes)
        if entry.weights:
            self._models.shelve(run_id, entry.weights)

    def _complete(self, entry: Entry, changes: Changes) -> str:
        """Returns MLflow's id of the run."""
        store, identity = self._store, entry.identity
        run = self._runs.get((identity.run, identity.fingerprint))
        digest = entry.digest()
        if run and run.data.tags.get(MIRRORED) == digest and run.info.status == "FINISHED":
            return str(run.info.run_id)
        if run is None:
            run = store.create(identity, entry.started_ms or now_ms())
            changes.created += 1
        run_id = run.info.run_id
        conflicts = store.describe(run, entry.params, {**identity.tags(), **entry.tags})
        changes.complaints += [f"{identity.run}: {conflict}." for conflict in conflicts]
        changes.points += self._add_metrics(run, entry)
        store.add_datasets(run, entry.datasets)
        if entry.files:
            with tempfile.TemporaryDirectory() as folder:
                for name, content in entry.files.items():
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                store.add_files(run_id, Path(folder))
        if entry.weights:
            self._models.bring(run, entry.weights)
        if run.info.status != "FINISHED":
            store.finish(run_id, "FINISHED", entry.ended_ms or now_ms())
        if not conflicts:  # these are to be heard of again
            store.describe(run, {}, {MIRRORED: digest})
        return str(run_id)

    def _add_metrics(self, run: Run, entry: Entry) -> int:
        """Add the points that `run` lacks. Returns how many those were."""
        known = self._store.known_points(run, {metric for metric, _ in entry.course})
        # a value that replaces another must be the later one
        now, ended = now_ms(), entry.ended_ms or now_ms()
        points = [
            Point(*key, value, now if key in known else ended)
            for key, value in entry.course.items()
        ]
        points += [Point(metric, 0, value, now) for metric, value in entry.finals.items()]
        known |= {
            (metric, 0): run.data.metrics[metric]
            for metric in entry.finals
            if metric in run.data.metrics
        }
        return self._store.add_points(run.info.run_id, points, known)
