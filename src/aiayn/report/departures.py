"""How a run departs from the paper's recipe, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic.fields import FieldInfo

from aiayn.config import Config
from aiayn.paper import EvaluationSet, Recipe, Requirement, TrainingText
from aiayn.paper.corpora import COUNT_TOLERANCE
from aiayn.results import paths
from aiayn.results.scores import TestSet
from aiayn.results.text import RAW, Manifest
from aiayn.validation import StrictModel

TEXT, FORM = "text", "text.form"


class Departure(NamedTuple):
    """A difference from a recipe, in words; `key` is a dotted parameter, or TEXT or FORM."""

    key: str
    text: str


def departures(
    recipe: Recipe, config: Config, run: str, manifest: Manifest | None
) -> Iterator[Departure]:
    """How a run differs from a recipe of the paper: parameters, training text, archives.

    Args:
        manifest: of the run's task; None if its text is missing, which is itself a departure.
    """
    task = config.task(config.run(run).task)
    sections = {
        "model": config.model_of(run), "training": config.training, "decoding": task.search,
        "bpe": task.bpe,
    }  # fmt: skip
    yield from parameter_departures(recipe, sections)
    if manifest is None:
        yield Departure(TEXT, f"its training text is unknown: {paths.TEXTS} has no manifest of it")
        return
    if manifest.form != RAW:
        yield Departure(FORM, f"its text has the form {manifest.form}, not that of the corpora")
    for difference in text_departures(recipe.training_text, manifest):
        yield Departure(TEXT, difference)
    archives = (*recipe.training_text.archives, recipe.evaluation_set.archive)
    checksums = {entry["checksum"] for entry in manifest.downloads.values()}
    for archive in archives:
        if archive and archive.checksum not in checksums:
            kind, _, digest = archive.checksum.partition(":")
            published = f"the published file ({kind}:{digest[:8]}...)"
            yield Departure(TEXT, f"{archive.name} is not from {published}")


def parameter_departures(
    recipe: Recipe, sections: Mapping[str, StrictModel]
) -> Iterator[Departure]:
    """Parameters that are not what the paper states, in the recipe's order; then those that the
    paper does not have. `sections` are by the first part of a dotted name."""
    values = {
        path: (value, field)
        for name, section in sections.items()
        for path, value, field in _leaves(section, name)
    }
    for path, requirement in recipe.parameters.items():
        value, _ = values[path]
        if not requirement.admits(value):
            yield Departure(path, f"{_name(path)} is {value}, not {_stated(requirement)}")
    for path, (value, field) in values.items():
        is_stated = path in recipe.parameters or path in recipe.unstated
        if not is_stated and value != field.default:
            yield Departure(path, f"{_name(path)} is {value}, which the paper does not have")


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def _leaves(section: StrictModel, name: str) -> Iterator[tuple[str, object, FieldInfo]]:
    """Every parameter of a section, and of those within it: dotted name, value, field."""
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if isinstance(value, StrictModel):
            yield from _leaves(value, f"{name}.{key}")
        else:
            yield f"{name}.{key}", value, field


def text_departures(paper: TrainingText, ours: Manifest) -> Iterator[str]:
    """How the training text differs: in its corpora, known by their numbers of pairs before
    cleaning, and in its total number of pairs."""
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
