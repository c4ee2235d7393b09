"""What keeps a run of ours from being the paper's experiment: every departure, named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import SimpleNamespace

from aiayn.config import Config
from aiayn.paper import EvaluationSet, Recipe, Requirement, TrainingText
from aiayn.paper.corpora import COUNT_TOLERANCE
from aiayn.report.parts.verdict import Judgement, judge
from aiayn.results import places
from aiayn.results.scores import SplitScores, TestSet
from aiayn.results.text import RAW, Manifest

TEXT, FORM = "text", "text.form"


def judge_run(
    paper: float,
    ours: float | None,
    *,
    tolerance: float,
    recipe: Recipe,
    config: Config,
    run: str,
    scored: SplitScores | None,
    manifests: Mapping[str, Manifest],
) -> Judgement:
    """Hold a run's figure against a printed one, if the run is the paper's.

    Args:
        scored: the sentences that `ours` was measured on; None where nothing was scored.
        manifests: of the tasks' texts, by task.
    """
    if scored is None:
        return judge(paper, None, tolerance=tolerance)
    manifest = manifests.get(config.run(run).task)
    return judge(
        paper,
        ours,
        other_set=tuple(set_departures(recipe.evaluation_set, scored.test_set)),
        departures=tuple(recipe_departures(recipe, config, run, manifest)),
        tolerance=tolerance,
    )


@dataclass(frozen=True)
class Departure:
    """A difference from a recipe, `said` in words; `key` is a dotted parameter, or TEXT or FORM."""

    key: str
    said: str


def recipe_departures(
    recipe: Recipe, config: Config, run: str, manifest: Manifest | None
) -> Iterator[str]:
    """How a run differs from a recipe of the paper, in words; see `departures`."""
    return (departure.said for departure in departures(recipe, config, run, manifest))


def departures(
    recipe: Recipe, config: Config, run: str, manifest: Manifest | None
) -> Iterator[Departure]:
    """How a run differs from a recipe of the paper: parameters, training text, archives.

    Args:
        manifest: of the run's task; None where its text is not here, which departs in itself.
    """
    task = config.task(config.run(run).task)
    parameters = SimpleNamespace(
        model=config.model_of(run), training=config.training, decoding=task.decoding, bpe=task.bpe
    )
    yield from parameter_departures(recipe, parameters)
    if manifest is None:
        missing = f"its training text is unknown: {places.TEXTS} has no manifest of it"
        yield Departure(TEXT, missing)
        return
    if manifest.form != RAW:
        form = f"its text is in the form {manifest.form}, not as the corpora have it"
        yield Departure(FORM, form)
    for said in text_departures(recipe.training_text, manifest):
        yield Departure(TEXT, said)
    archives = (*recipe.training_text.archives, recipe.evaluation_set.archive)
    checksums = {entry["checksum"] for entry in manifest.downloads.values()}
    for archive in archives:
        if archive and archive.checksum not in checksums:
            kind, _, digest = archive.checksum.partition(":")
            said = f"{archive.name} is not from the published file ({kind}:{digest[:8]}...)"
            yield Departure(TEXT, said)


def parameter_departures(recipe: Recipe, parameters: object) -> Iterator[Departure]:
    """Which parameters are not what the paper states; `parameters` have the recipe's sections."""
    for path, requirement in recipe.parameters.items():
        value = attrgetter(path)(parameters)
        if not requirement.admits(value):
            said = f"{path.rpartition('.')[2]} is {value}, not {_stated(requirement)}"
            yield Departure(path, said)


def text_departures(paper: TrainingText, ours: Manifest) -> Iterator[str]:
    """How the training text differs: in corpora, by their pairs before cleaning, and in all."""
    train = ours.splits["train"]
    found = {name: part.pairs for name, part in train.corpora.items()}
    for name, pairs in paper.corpora.items():
        near = [ours for ours, n in found.items() if abs(n - pairs) <= COUNT_TOLERANCE * pairs]
        if near:
            del found[near[0]]
        else:
            yield f"no training corpus has the {pairs:,} pairs of {name}"
    for name in paper.not_public:
        yield f"the {name} is not public"
    for name, pairs in found.items():
        if not paper.not_public:
            yield f"trained also on {name} ({pairs:,} pairs)"
    if not paper.pairs.admits(train.pairs):
        yield f"trained on {train.pairs:,} pairs, not on {_stated(paper.pairs)}"


def set_departures(paper: EvaluationSet, ours: TestSet) -> Iterator[str]:
    """How the scored set differs from the paper's."""
    if tuple(ours.corpora) != paper.corpora:
        yield f"scored on {' + '.join(ours.corpora)}, not on {' + '.join(paper.corpora)}"
    elif ours.pairs != paper.pairs:
        yield f"{' + '.join(ours.corpora)} has {ours.pairs} pairs here, not {paper.pairs}"


def _stated(requirement: Requirement) -> str:
    return f"{requirement.text} ({requirement.source})"
