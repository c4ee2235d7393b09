"""Mirror what the graph left on disk into MLflow; as often as one likes: nothing is added twice.

The experiment is the scale (aiayn/demo), the run is called as in the graph (en-de.base). A run that
was logged live is completed; results restored by dvc checkout into an empty store are all there.
What to search for is in `aiayn.tracking.views`, and in the experiment's description.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from aiayn.config import PARAMS, Config
from aiayn.results import places
from aiayn.results.json_files import plain
from aiayn.results.lock import Lock
from aiayn.tracking import attachments, results
from aiayn.tracking.connection import connect_in_time, store_name
from aiayn.tracking.datasets import dataset_inputs
from aiayn.tracking.facts import final_metrics, report_tags, tags_of
from aiayn.tracking.measurements import Measurements
from aiayn.tracking.mirror import Changes, Entry, Mirror
from aiayn.tracking.names import (
    RunIdentity,
    metric_name,
    place_in_the_paper,
    run_params,
    run_settings,
)
from aiayn.tracking.results import Results
from aiayn.tracking.store import Store
from aiayn.tracking.views import description
from aiayn.tracking.weights import averaged

REPORT = "report"


@dataclass
class Synced(Changes):
    """What a sync found and did with the runs of the graph; the report is not counted."""

    store: str = ""
    runs: int = 0

    def __str__(self) -> str:
        return (
            f"MLflow at {self.store}: runs {self.runs}, "
            f"of these new {self.created}, metric values added {self.points}"
        )


def sync(config: Config, root: Path = Path()) -> Synced:
    """Mirror every run of `config` that has results below `root`, and the report on them.

    A run made with other parameters than those in force is left alone, with a complaint.

    Raises:
        StoreError: MLflow is missing, or its store cannot be used.
        DataError, ScoreError, ProfileError: a file of results is damaged.
    """
    lock = Lock(root / places.LOCK)
    params = yaml.load((root / PARAMS).read_bytes(), yaml.CSafeLoader)
    measurements = Measurements.read(root)
    done = Synced(store=store_name(root))
    found: dict[str, Results] = {}
    for run, described in config.runs.items():
        result = results.read(root, run, described.task)
        if result is None:
            continue
        outdated = lock.outdated(params, run, described.task)
        if outdated:
            done.complaints.append(
                f"{run} was made with other parameters than {PARAMS} has now "
                f"({', '.join(outdated)}); left out. Run dvc repro, or restore {PARAMS}."
            )
            continue
        found[run] = result
    if not found:
        return done
    report = RunIdentity(scale=config.scale, run=REPORT, fingerprint=REPORT)
    store = Store(*connect_in_time(report.experiment, root))
    store.explain(description(config.scale, store.experiment_id))
    mirror = Mirror(store)
    for run, result in found.items():
        mirror.bring(_entry(config, root, run, result, lock, measurements), done)
        done.runs += 1
    files = attachments.of_report(root)
    if files:
        mirror.bring(Entry(identity=report, tags=report_tags(lock), files=files), Changes())
    return done


def _entry(
    config: Config,
    root: Path,
    run: str,
    found: Results,
    lock: Lock,
    measurements: Measurements,
) -> Entry:
    """What MLflow shall hold of `run`."""
    described = config.run(run)
    task = described.task
    identity = RunIdentity(
        scale=config.scale,
        run=run,
        task=task,
        model=described.model,
        fingerprint=found.fingerprint,
    )
    params = run_params(config, run)
    tags = {
        **run_settings(config, run),
        **place_in_the_paper(config, run),
        **tags_of(identity, found, lock),
        **measurements.tags(identity),
    }
    finals = dict(final_metrics(found)) | dict(measurements.of(identity))
    datasets = dataset_inputs(task, found.manifest, lock.out(places.text(task).as_posix()))
    return Entry(
        identity=identity,
        params=params,
        tags=tags,
        course={
            (metric_name(column), line.step): float(value)
            for line in found.history.lines
            for column, value in plain(line).items()
            if column != "step"
        },
        finals=finals,
        datasets=datasets,
        files=attachments.of_run(root, run, task),
        weights=averaged(config, identity, found, lock, tags, params, datasets, finals),
        started_ms=found.started_ms,
        ended_ms=found.ended_ms,
    )
