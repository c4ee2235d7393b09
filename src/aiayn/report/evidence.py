"""Everything that the report reads: the parameters, the paper's figures, and what our runs left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from aiayn import config
from aiayn.config import Config, Folds, Kind
from aiayn.paper import PAPER, Paper
from aiayn.results import comparison, history, paths, scores
from aiayn.results.comparison import Comparison
from aiayn.results.history import History
from aiayn.results.json_files import if_there
from aiayn.results.lock import Lock
from aiayn.results.profiles import LayersProfile, ModelsProfile, read_layers, read_models
from aiayn.results.scores import SplitScores
from aiayn.results.text import Manifest, read_manifest

T = TypeVar("T")

LEADING = 2  # runs of a task
STAGES = ("compare", "profile_layers", "profile_models")  # those without a run or task

Scores = Mapping[str, Mapping[str, SplitScores] | None]
"""By run, in the order of params.yaml, and split; None where a run has no scores."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Mappings of runs and of tasks go in the order of params.yaml.

    Results are missing until their stage has run. `root` is the scale's folder, for files that are
    read only where they are shown: texts, outputs, illustrations. `outdated` are the runs, tasks
    and stages whose files were made with other values of some parameters, with the names of these;
    `unfinished` those that the last `aiayn repro` did not finish, with the reasons. The files of
    either are not shown.
    """

    root: Path
    config: Config
    paper: Paper
    scores: Scores
    histories: Mapping[str, History]
    manifests: Mapping[str, Manifest]
    layers: LayersProfile | None
    models: ModelsProfile | None
    variations: Comparison | None
    outdated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unfinished: Mapping[str, str] = field(default_factory=dict)

    def scores_of(self, kind: Kind) -> Scores:
        """Of the runs whose task is of a kind."""
        of_kind = (run for run in self.scores if self.config.task_of(run).kind == kind)
        return {run: self.scores[run] for run in of_kind}

    def scored(self, run: str, split: str = paths.TEST) -> SplitScores | None:
        """A run's scores on a split; None where there are none, or the scale has no such run."""
        return (self.scores.get(run) or {}).get(split)

    def hypotheses(self, run: str, split: str) -> Path | None:
        """The file of what a run made of a split; None where there is none, or an outdated one."""
        path = paths.hypotheses(self.root / paths.outputs(run), split)
        return path if self.is_current(run) and path.exists() else None

    @property
    def illustrations(self) -> Path | None:
        """The folder of what was drawn of a model; None where the files of that model are not
        current."""
        drawn = (self.config.illustrations.run, "illustrate")
        return self.root / paths.ILLUSTRATIONS if all(map(self.is_current, drawn)) else None

    @property
    def awaits_comparison(self) -> bool:
        """Whether models of table 3 are to be compared, but have not been, or were outdated."""
        task = self.config.variations.task
        models = {run.model for run in self.config.runs.values() if run.task == task}
        return self.variations is None and len(models) > 1

    def is_current(self, name: str) -> bool:
        """Whether the files of a run, task or stage, where they exist, are to be shown."""
        return name not in self.outdated and name not in self.unfinished


def gather(root: Path = Path(), unfinished: Mapping[str, str] | None = None) -> Evidence:
    """Read what is there.

    Args:
        unfinished: runs, tasks and stages whose files are not to be read, with the reasons.
    Raises:
        ConfigError: params.yaml is missing or wrong.
        ScoreError, DataError, ProfileError: a file is there but is not what it should be.
    """
    parameters = config.load(root / config.PARAMS)
    outdated, unfinished = _outdated(root, parameters), unfinished or {}
    not_shown = outdated.keys() | unfinished.keys()

    def current(name: str, read: Callable[[Path], T], path: Path) -> T | None:
        return None if name in not_shown else if_there(read, root / path)

    def of_each(
        names: Iterable[str], read: Callable[[Path], T], path: Callable[[str], Path]
    ) -> dict[str, T]:
        found = {name: current(name, read, path(name)) for name in names}
        return {name: record for name, record in found.items() if record is not None}

    scored = of_each(parameters.runs, scores.read, paths.scores)
    variations = current("compare", comparison.read, paths.TABLE_3)
    return Evidence(
        root=root,
        config=parameters,
        paper=PAPER,
        scores={run: scored[run].splits if run in scored else None for run in parameters.runs},
        histories=of_each(parameters.runs, history.read, paths.history),
        manifests=of_each(
            parameters.tasks, read_manifest, lambda task: paths.manifest(paths.text(task))
        ),
        layers=current("profile_layers", read_layers, paths.LAYERS_PROFILE),
        models=current("profile_models", read_models, paths.MODELS_PROFILE),
        variations=None if variations and variations.runs & not_shown else variations,
        outdated=outdated,
        unfinished=unfinished,
    )


def _outdated(root: Path, parameters: Config) -> dict[str, Sequence[str]]:
    """Runs, tasks and stages by name, with the parameters that are not those of dvc.lock.

    DVC re-runs them; until it has, or if a stage fails, the old files stay where they are.
    """
    lock, values = Lock(root / paths.LOCK), config.read_yaml((root / config.PARAMS).read_bytes())
    items: dict[str, tuple[str, ...]] = {name: (name,) for name in (*parameters.tasks, *STAGES)}
    items |= {run: (run, parameters.run(run).task) for run in parameters.runs}
    changed = {name: lock.outdated(values, *own) for name, own in items.items()}
    return {name: keys for name, keys in changed.items() if keys}


def runs_of(config: Config, task: str) -> list[str]:
    """The runs of a task."""
    return [run for run, described in config.runs.items() if described.task == task]


def first_of_each_model(config: Config, runs: Iterable[str]) -> list[str]:
    """One run of each model, tested ones before others."""
    first: dict[str, str] = {}
    for run in sorted(runs, key=lambda run: run not in config.tested):
        first.setdefault(config.run(run).model, run)
    return list(first.values())


def leading_runs(config: Config, task: str) -> list[str]:
    """The runs that are shown in full: tested ones before others, of these table 2's models."""

    def place(run: str) -> tuple[bool, bool]:
        return run not in config.tested, config.run(run).model not in PAPER.table_2

    return sorted(first_of_each_model(config, runs_of(config, task)), key=place)[:LEADING]


def tested_fold(config: Config, task: str) -> tuple[frozenset[str], Folds] | None:
    """The downloads of the text of which a task's test set is a fold, and the fold; else None."""
    labelled = config.catalogue.corpora[config.task(task).text.tests[paths.TEST]].labelled
    if labelled is None or labelled.folds is None:
        return None
    return frozenset(side.source for side in labelled.texts.values()), labelled.folds
