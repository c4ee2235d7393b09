"""Mirror what the graph left on disk into MLflow; as often as one likes: nothing is added twice.

The experiment is the scale (aiayn/demo), the run is called as in the graph (en-de.base). A run that
was logged live is completed; results restored by dvc checkout into an empty store are all there.

Searches to begin with, in the UI's search field or `mlflow.search_runs`:

    tags.task = 'en-de' and metrics.`test/bleu` > 30
    tags.model = 'base' and tags.stage = 'score'
    params.d_model = '512' and params.h = '8' and metrics.`dev/perplexity` < 5
    tags.commit LIKE '4f2a%' and tags.dirty = 'false'
    tags.`decoding.beam` = '4' and tags.`dvc.train` LIKE '%'
    dataset.name = 'en-de/train' and dataset.context = 'training'
    attributes.run_name LIKE 'en-fr.%' and attributes.status = 'FINISHED'

Columns that matter first: metrics `test/bleu` and `dev/perplexity`, params `N`, `d_model`, `h`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from aiayn.config import PARAMS, Config
from aiayn.tracking import attachments, results
from aiayn.tracking.connection import connect_in_time, store_name
from aiayn.tracking.datasets import dataset_inputs
from aiayn.tracking.facts import final_metrics, tags_of
from aiayn.tracking.lock import Lock
from aiayn.tracking.names import RunIdentity, metric_name, run_params, run_settings
from aiayn.tracking.results import Results
from aiayn.tracking.store import Point, Store, now_ms

_ATTACHED = "aiayn.attached"


@dataclass
class Synced:
    """What a sync found and did. `complaints` are single lines; `points` counts metric values."""

    store: str
    runs: int = 0
    created: int = 0
    points: int = 0
    complaints: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"MLflow at {self.store}: runs {self.runs}, "
            f"of these new {self.created}, metric values added {self.points}"
        )


def sync(config: Config, root: Path = Path()) -> Synced:
    """Mirror every run of `config` that has results below `root`.

    A run made with other parameters than those in force is left alone, with a complaint.

    Raises:
        StoreError: MLflow is missing, or its store cannot be used.
        DataError: a file of results is damaged.
    """
    lock = Lock(root / "dvc.lock")
    params = yaml.load((root / PARAMS).read_bytes(), yaml.CSafeLoader)
    done = Synced(store_name(root))
    store: Store | None = None
    for run, settings in config.runs.items():
        found = results.read(root, run, settings.task)
        if found is None:
            continue
        outdated = lock.outdated(params, run, settings.task)
        if outdated:
            done.complaints.append(
                f"{run} was made with other parameters than {PARAMS} has now "
                f"({', '.join(outdated)}); left out. Run dvc repro, or restore {PARAMS}."
            )
            continue
        identity = RunIdentity(
            scale=config.scale,
            run=run,
            task=settings.task,
            model=settings.model,
            fingerprint=found.fingerprint,
        )
        store = store or Store(*connect_in_time(identity.experiment, root))
        _mirror(store, identity, found, lock, config, root, done)
    return done


def _mirror(
    store: Store,
    identity: RunIdentity,
    found: Results,
    lock: Lock,
    config: Config,
    root: Path,
    done: Synced,
) -> None:
    """Bring one MLflow run in step with its files."""
    started, ended = found.started_ms or now_ms(), found.ended_ms or now_ms()
    run = store.find(identity)
    if run is None:
        run = store.create(identity, started)
        done.created += 1
    run_id = run.info.run_id
    tags = {
        **identity.tags(),
        **run_settings(config, identity.run),
        **tags_of(identity, found, lock),
    }
    conflicts = store.describe(run, run_params(config, identity.run), tags)
    done.complaints += [f"{identity.run}: {conflict}." for conflict in conflicts]

    steps = {
        (metric_name(column), int(row["step"])): value
        for row in found.history
        for column, value in row.items()
        if column != "step"
    }
    known = store.known_points(run, {metric for metric, _ in steps})
    # a value that replaces another must be the later one
    times = {key: now_ms() if key in known else ended for key in steps}
    course = [Point(*key, value, times[key]) for key, value in steps.items()]
    done.points += store.add_points(run_id, course, known)
    finals = [Point(metric, 0, value, now_ms()) for metric, value in final_metrics(found)]
    latest = {(metric, 0): value for metric, value in run.data.metrics.items()}
    done.points += store.add_points(run_id, finals, latest)

    data = lock.out(f"data/text/{identity.task}")
    store.add_datasets(run, dataset_inputs(identity.task, found.manifest, data))
    with tempfile.TemporaryDirectory() as folder:
        digest = attachments.gather(root, identity.run, identity.task, Path(folder))
        if digest is not None and run.data.tags.get(_ATTACHED) != digest:
            store.add_files(run_id, Path(folder))
            store.describe(run, {}, {_ATTACHED: digest})
    if run.info.status != "FINISHED":
        store.finish(run_id, "FINISHED", ended)
    done.runs += 1
