"""Everything that the report reads: the parameters, the paper's figures, and what our runs left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiayn import config
from aiayn.config import Config, Folds, Kind
from aiayn.paper import PAPER, Paper
from aiayn.report import belonging
from aiayn.results import comparison, history, places, scores
from aiayn.results.comparison import Comparison
from aiayn.results.history import History
from aiayn.results.json_files import if_there
from aiayn.results.profiles import LayersProfile, ModelsProfile, read_layers, read_models
from aiayn.results.scores import SplitScores
from aiayn.results.text import Manifest, read_manifest

LEADING = 2

Scores = Mapping[str, Mapping[str, SplitScores] | None]
"""By run, in the order of params.yaml, and split; None where a run has no scores."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Mappings of runs and of tasks go in the order of params.yaml.

    A run has no history, a task no manifest and so on before the stage has run. `root` is the
    project's folder, for what is read only where it is shown: texts, outputs, illustrations.
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

    def scores_of(self, kind: Kind) -> Scores:
        """Of the runs whose task is of a kind."""
        of_kind = (run for run in self.scores if self.config.task_of(run).kind == kind)
        return {run: self.scores[run] for run in of_kind}


def gather(root: Path = Path()) -> Evidence:
    """Read what is there.

    Raises:
        ConfigError: params.yaml is missing or wrong.
        ScoreError, DataError, ProfileError: a file is there but is not what it should be, or is
            there from other parameters.
    """
    parameters = config.load(root / config.PARAMS)
    manifests = {}
    for task in parameters.tasks:
        if manifest := if_there(read_manifest, places.manifest(root / places.text(task))):
            belonging.check_manifest(parameters, task, manifest)
            manifests[task] = manifest
    histories, scored = {}, {}
    for run in parameters.runs:
        if curve := if_there(history.read, root / places.history(run)):
            belonging.check_history(parameters, run, curve)
            histories[run] = curve
        scored[run] = if_there(scores.read, root / places.scores(run))
        if found := scored[run]:
            belonging.check_scores(parameters, run, found, manifests)
    if models := if_there(read_models, root / places.MODELS_PROFILE):
        belonging.check_models(parameters, models)
    if variations := if_there(comparison.read, root / places.TABLE_3):
        belonging.check_comparison(parameters, variations, manifests)
    return Evidence(
        root=root,
        config=parameters,
        paper=PAPER,
        scores={run: found.splits if found else None for run, found in scored.items()},
        histories=histories,
        manifests=manifests,
        layers=if_there(read_layers, root / places.LAYERS_PROFILE),
        models=models,
        variations=variations,
    )


def runs_of(config: Config, task: str) -> list[str]:
    """The runs of a task."""
    return [run for run, described in config.runs.items() if described.task == task]


def leading_runs(config: Config, task: str) -> list[str]:
    """Those that are shown in full: the first of each model, tested ones before others."""
    runs = sorted(runs_of(config, task), key=lambda run: run not in config.tested)
    first: dict[str, str] = {}
    for run in runs:
        first.setdefault(config.run(run).model, run)
    return list(first.values())[:LEADING]


def tested_fold(config: Config, task: str) -> tuple[frozenset[str], Folds] | None:
    """Of a task whose test set is a fold of some text: that text's downloads, and which fold."""
    labelled = config.catalogue.corpora[config.task(task).text.tests[places.TEST]].labelled
    if labelled is None or labelled.folds is None:
        return None
    return frozenset(side.download for side in labelled.texts.values()), labelled.folds
