"""Whether what lies in the project's folders is of the parameters in force.

DVC sees to that where it runs the stage report. Run by hand, the report finds whatever was left
there, by another scale perhaps, whose runs and tasks have the same names. So each file is held
against params.yaml, and against the manifest of the text that it was made from. What belongs to
other parameters is an error, never a figure.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from aiayn.config import Config
from aiayn.errors import AiaynError, DataError, ProfileError, ScoreError
from aiayn.results import places
from aiayn.results.comparison import Comparison
from aiayn.results.history import History
from aiayn.results.profiles import ModelsProfile
from aiayn.results.scores import RunScores, TestSet
from aiayn.results.text import Manifest


def check_manifest(config: Config, task: str, manifest: Manifest) -> None:
    """Raises DataError if a task's text was put together from other corpora."""
    text = config.tasks[task].text
    corpora = {"train": text.train, "dev": (text.dev,)}
    corpora |= {split: (corpus,) for split, corpus in text.tests.items()}
    _refuse(
        DataError,
        places.manifest(places.text(task)),
        f"download@{task}",
        _unequal("task", manifest.task, task),
        _unequal("splits", _names(manifest.splits), _names(corpora)),
        *(
            _unequal(f"corpora of {split}", _names(held.corpora), _names(corpora[split]))
            for split, held in manifest.splits.items()
            if split in corpora
        ),
    )


def check_history(config: Config, run: str, history: History) -> None:
    """Raises DataError if a curve ends at another step than its run."""
    last = history.step[-1] if history.step else 0
    _refuse(
        DataError,
        places.history(run),
        f"train@{run}",
        _unequal("last step", last, config.model_of(run).steps),
    )


def check_scores(
    config: Config, run: str, scores: RunScores, manifests: Mapping[str, Manifest]
) -> None:
    """Raises ScoreError if scores are another run's, or of other sentences."""
    task, model = config.run(run).task, config.run(run).model
    _refuse(
        ScoreError,
        places.scores(run),
        f"score@{run}",
        _unequal("run", scores.run, run),
        _unequal("task", scores.task, task),
        _unequal("model", scores.model, model),
        *(
            complaint
            for split, scored in scores.splits.items()
            for complaint in _sentences(config, task, split, scored.test_set, manifests.get(task))
        ),
    )


def check_comparison(
    config: Config, comparison: Comparison, manifests: Mapping[str, Manifest]
) -> None:
    """Raises ScoreError if table 3's comparison is of other runs, or of other sentences."""
    task = config.variations.task
    runs = [seed.run for model in comparison.models.values() for seed in model.seeds.values()]
    _refuse(
        ScoreError,
        places.TABLE_3,
        "compare",
        _unequal("task", comparison.task, task),
        _unequal("base", comparison.base, config.variations.base),
        *_strangers("model", comparison.models, config.models),
        *_strangers("run", (*runs, *comparison.ways), config.runs),
        *_sentences(config, task, comparison.split, comparison.test_set, manifests.get(task)),
    )


def check_models(config: Config, profile: ModelsProfile) -> None:
    """Raises ProfileError if other models were counted, or over vocabularies of other sizes."""
    _refuse(
        ProfileError,
        places.MODELS_PROFILE,
        "profile_models",
        *_strangers("model", profile.models, config.models),
        *(
            _unequal(
                f"vocabulary of {model} for {task}",
                cost.vocabulary,
                config.tasks[task].bpe.vocabulary,
            )
            for model, tasks in profile.models.items()
            for task, cost in tasks.items()
            if task in config.tasks
        ),
    )


def _sentences(
    config: Config, task: str, split: str, scored: TestSet, manifest: Manifest | None
) -> Iterator[str]:
    """How a scored set differs from the task's own: in name, and line by line."""
    text = config.tasks[task].text
    corpora = {"dev": text.dev, **text.tests}
    yield _unequal(f"corpora of {split}", _names(scored.corpora), corpora.get(split, "none"))
    if manifest and split in manifest.splits and scored.sha256 != manifest.splits[split].sha256:
        yield f"{split} is not the text of {places.text(task)}"


def _strangers(noun: str, found: Iterable[str], known: Container[str]) -> Iterator[str]:
    return (f"params.yaml has no {noun} {name}" for name in found if name not in known)


def _names(names: Iterable[str]) -> str:
    return " + ".join(sorted(names))


def _unequal(what: str, here: object, there: object) -> str:
    """A complaint, or nothing."""
    return "" if here == there else f"{what} {here}, but {there} in params.yaml"


def _refuse(error: type[AiaynError], path: Path, stage: str, *complaints: str) -> None:
    for complaint in filter(None, complaints):
        raise error(
            f"{path}: belongs to other parameters ({complaint}). Make it again: dvc repro {stage}."
        )
