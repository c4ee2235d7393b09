"""Mirror the files of finished runs to MLflow.

Files are the truth: if a run's contents differ from what MLflow has, a new MLflow run is written
and the old one deleted. The experiment is the scale (aiayn/demo), the run is named as in
params.yaml (en-de.base), and the run `report` has the page, figures and tables. A model that was
trained with several seeds has one more run, the parent of its seeds'. The tag `state` says which
run of a name the files hold: `current`, or `superseded`, also if params.yaml no longer names it; a
run of dvc exp in a temporary folder is an `experiment`, and replaces nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from aiayn.config import PARAMS, Config
from aiayn.config import Run as ConfigRun
from aiayn.results.seeds import by_seed
from aiayn.tracking.contents import SEEDS, Project, RunContents
from aiayn.tracking.identity import CURRENT, DIGEST, EXPERIMENT, FINGERPRINT, STATE, SUPERSEDED
from aiayn.tracking.registry import create_model, delete_models, set_alias
from aiayn.tracking.searches import experiment_tags
from aiayn.tracking.store import (
    Store,
    connect_in_time,
    import_mlflow,
    one_line_store_errors,
    store_name,
)

if TYPE_CHECKING:
    from mlflow.entities import Metric, Run

_METRICS_IN_A_BATCH = 1000  # MLflow's limit
_MAX_RESULTS = 50_000  # the same
_PARENT = "mlflow.parentRunId"  # documented: what MLflow nests runs by


@dataclass
class Synced:
    """What a sync did: runs found and runs written, without the report; a line for each skipped."""

    store: str
    runs: int = 0
    written: int = 0
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"MLflow at {self.store}: {self.runs} runs, {self.written} of them new or changed"


def sync(config: Config, root: Path = Path()) -> Synced:
    """Mirror every run of `config` that has results below `root`, and the report.

    A run that was made with other parameters than today's is skipped, with a warning.

    Raises:
        StoreError: MLflow is missing, or its store cannot be used.
        DataError, ScoreError, ProfileError: a file of results is damaged.
    """
    project = Project(config, root)
    params = yaml.load((root / PARAMS).read_bytes(), yaml.CSafeLoader)
    done = Synced(store=store_name(root))
    names = []
    for run in filter(project.is_trained, config.runs):
        if outdated := project.lock.outdated(params, run, config.run(run).task):
            done.warnings.append(
                f"{run} was made with other parameters than {PARAMS} has now "
                f"({', '.join(outdated)}); skipped. Run dvc repro, or restore {PARAMS}."
            )
        else:
            names.append(run)
    if not names:
        return done
    import_mlflow()
    runs = {name: project.run(name) for name in names}
    store = connect_in_time(runs[names[0]].identity.experiment, root)
    with one_line_store_errors():
        mirror = _Mirror(store, root)
        mirror.describe_experiment(config.scale)
        for contents in runs.values():
            done.written += mirror.write(contents)
        for seeds in by_seed({name: config.run(name) for name in names}).values():
            if len(seeds) > 1:
                mirror.write_parent(project.over_seeds([runs[n] for n in seeds.values()]), seeds)
        mirror.supersede_removed(config.runs)
        if report := project.report():
            mirror.write(report)
    done.runs = len(runs)
    return done


class _Mirror:
    """One experiment of the store."""

    def __init__(self, store: Store, root: Path) -> None:
        self._store = store
        self._client = store.client
        self._root = root
        # DVC deletes the temporary folder of an experiment: no model could be loaded from there
        self._is_temporary = ".dvc" in root.resolve().parts
        self._state = EXPERIMENT if self._is_temporary else CURRENT
        self._ids: dict[str, str] = {}  # of the runs written, by name

    def write(self, contents: RunContents) -> bool:
        """Make MLflow have exactly these contents. Returns whether anything was written."""
        digest, name = contents.digest(), contents.identity.run
        named = self._search(name)
        found = [run for run in named if self._is_of(contents, run)]
        current = next((run for run in found if run.data.tags.get(DIGEST) == digest), None)
        run_id = current.info.run_id if current else self._create(contents, digest, found)
        self._ids[name] = run_id
        if self._is_temporary:
            return current is None
        if contents.weights:
            set_alias(self._store, run_id, contents.weights)
        for old in found:
            if old.info.run_id != run_id:
                delete_models(self._store, old.info.run_id)
                self._client.delete_run(old.info.run_id)
        for run in named:
            is_this = run.info.run_id == run_id
            is_mirrored = DIGEST in run.data.tags  # another may train just now
            if is_this or (is_mirrored and run not in found):
                self._set_state(run, CURRENT if is_this else SUPERSEDED)
        return current is None

    def write_parent(self, contents: RunContents, seeds: Mapping[int, str]) -> None:
        """Write the run over `seeds`, which have been written, and make it their parent."""
        self.write(contents)
        parent = self._ids[contents.identity.run]
        for name in seeds.values():
            child = self._client.get_run(self._ids[name])
            if child.data.tags.get(_PARENT) != parent and child.data.tags.get(STATE) == self._state:
                self._client.set_tag(child.info.run_id, _PARENT, parent)

    def supersede_removed(self, runs: Mapping[str, ConfigRun]) -> None:
        """Mark the runs that `runs`, those of params.yaml, no longer has, and parents likewise."""
        if self._is_temporary:
            return
        over_seeds = {model for model, seeds in by_seed(runs).items() if len(seeds) > 1}
        current = self._client.search_runs(
            [self._store.experiment_id], f"tags.{STATE} = '{CURRENT}'", max_results=_MAX_RESULTS
        )
        for run in current:
            tags = run.data.tags
            if "task" not in tags:  # the report
                continue
            is_parent = tags["stage"] == SEEDS
            model = (tags["task"], tags["model"])
            if not (model in over_seeds if is_parent else tags["run"] in runs):
                self._set_state(run, SUPERSEDED)

    def _set_state(self, run: Run, state: str) -> None:
        if run.data.tags.get(STATE) not in (state, EXPERIMENT):
            self._client.set_tag(run.info.run_id, STATE, state)

    def _search(self, name: str) -> list[Run]:
        return list(self._client.search_runs([self._store.experiment_id], f"tags.run = '{name}'"))

    def _is_of(self, contents: RunContents, run: Run) -> bool:
        """Whether a run is of the same training; from outside an experiment, no experiment's."""
        tags = run.data.tags
        return tags.get(FINGERPRINT) == contents.identity.fingerprint and (
            self._is_temporary or tags.get(STATE) != EXPERIMENT
        )

    def _create(self, contents: RunContents, digest: str, replaced: list[Run]) -> str:
        """Write a new run. The digest comes last: a run without one is replaced next time."""
        from mlflow.entities import Param, RunTag

        client, now_ms = self._client, time.time_ns() // 1_000_000
        dvc_name = os.environ.get("DVC_EXP_NAME")  # set while `dvc exp run` runs a stage
        experiment = {"experiment": dvc_name} if dvc_name else {}
        started_ms, ended_ms = contents.started_ms or now_ms, contents.ended_ms or now_ms
        run_id: str = client.create_run(
            self._store.experiment_id,
            started_ms,
            tags={**contents.identity.tags(), STATE: self._state, **experiment},
            run_name=contents.identity.run,
        ).info.run_id
        client.log_batch(
            run_id,
            params=[Param(key, text) for key, text in contents.params.items()],
            tags=[RunTag(key, text) for key, text in contents.tags.items()],
        )
        weights, model_id = contents.weights, None
        if weights and not self._is_temporary:
            model_id = create_model(self._store, run_id, self._root, weights, contents.params)
        metrics = [*_metrics(contents, ended_ms, model_id), *self._system_metrics(replaced)]
        for start in range(0, len(metrics), _METRICS_IN_A_BATCH):
            client.log_batch(run_id, metrics=metrics[start : start + _METRICS_IN_A_BATCH])
        if contents.datasets:
            client.log_inputs(run_id, datasets=contents.datasets)
        for path, text in contents.files.items():
            client.log_text(run_id, text, path)
        client.set_terminated(run_id, "FINISHED", ended_ms)
        client.set_tag(run_id, DIGEST, digest)
        return run_id

    def _system_metrics(self, replaced: list[Run]) -> Iterator[Metric]:
        """What MLflow itself measured while the run trained; no file has it."""
        for run in replaced:
            for name in run.data.metrics:
                if name.startswith("system/"):
                    yield from self._client.get_metric_history(run.info.run_id, name)

    def describe_experiment(self, scale: str) -> None:
        """Set the experiment's description and its views, if they differ."""
        experiment_id = self._store.experiment_id
        tags = self._client.get_experiment(experiment_id).tags
        for key, text in experiment_tags(scale, experiment_id).items():
            if tags.get(key) != text:
                self._client.set_experiment_tag(experiment_id, key, text)


def _metrics(contents: RunContents, time_ms: int, model_id: str | None) -> Iterator[Metric]:
    """All points of a run; those that its weights got on test sets are also their model's. Scores
    come first: MLflow keeps the order, and begins a comparison of runs with the first metric."""
    from mlflow.entities import Metric

    for name, value in contents.metrics.items():
        dataset = contents.weights.measured(name) if contents.weights else None
        if dataset or name == "work/parameters":
            yield Metric(name, value, time_ms, 0, model_id, *(dataset or (None, None)))
        else:
            yield Metric(name, value, time_ms, 0)
    for (name, step), value in contents.curve.items():
        yield Metric(name, value, time_ms, step)
