"""What keeps a run of ours from being the paper's experiment: every departure, named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic.fields import FieldInfo

from aiayn.config import Config
from aiayn.paper import EvaluationSet, Recipe, Requirement, TrainingText
from aiayn.paper.corpora import COUNT_TOLERANCE
from aiayn.results import paths
from aiayn.results.scores import TestSet
from aiayn.results.text import RAW, Manifest
from aiayn.validation import StrictModel

TEXT, FORM = "text", "text.form"


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
    sections = {
        "model": config.model_of(run), "training": config.training, "decoding": task.search,
        "bpe": task.bpe,
    }  # fmt: skip
    yield from parameter_departures(recipe, sections)
    if manifest is None:
        missing = f"its training text is unknown: {paths.TEXTS} has no manifest of it"
        yield Departure(TEXT, missing)
        return
    if manifest.form != RAW:
        form = f"its text has the form {manifest.form}, not that of the corpora"
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


def parameter_departures(
    recipe: Recipe, sections: Mapping[str, StrictModel]
) -> Iterator[Departure]:
    """Which parameters are not what the paper states, in the recipe's order; then which are set
    that the paper does not have. `sections` go by the first part of a dotted name."""
    values = {
        path: (value, field)
        for name, section in sections.items()
        for path, value, field in _leaves(section, name)
    }
    for path, requirement in recipe.parameters.items():
        value, _ = values[path]
        if not requirement.admits(value):
            said = f"{path.rpartition('.')[2]} is {value}, not {_stated(requirement)}"
            yield Departure(path, said)
    for path, (value, field) in values.items():
        if path in recipe.parameters or path in recipe.unstated or value == field.default:
            continue
        yield Departure(
            path, f"{path.rpartition('.')[2]} is {value}, which the paper does not have"
        )


def _leaves(section: StrictModel, name: str) -> Iterator[tuple[str, object, FieldInfo]]:
    """Every parameter of a section, and of those within it: dotted name, value, field."""
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if isinstance(value, StrictModel):
            yield from _leaves(value, f"{name}.{key}")
        else:
            yield f"{name}.{key}", value, field


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
            yield f"also trained on {name} ({pairs:,} pairs)"
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
