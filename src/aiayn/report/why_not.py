"""Why not 27.3? Every departure of a run from the paper's recipe, beside its known cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from aiayn.config import Config, Model
from aiayn.paper import Paper, Recipe, recipe_of
from aiayn.paper.known_costs import PROTOCOL, SEED, known_costs
from aiayn.report.departures import departures, set_departures
from aiayn.report.evidence import Evidence, runs_of
from aiayn.report.section import Section
from aiayn.report.tables import Cell, Table, row, signed, table, text
from aiayn.results import paths
from aiayn.results.comparison import Comparison

NAMED = 2  # runs of a task
NOT_KNOWN, NOT_MEASURED = "not known", "not measured"
SENTENCES = "unknown: scores on other sentences are not comparable"
DERIVED = {"d_k", "d_v"}  # from h and d_model
WITHOUT_EFFECT = {"average", "checkpoint_steps"}  # on the last checkpoint
MEASURED = (
    "Measured here: BLEU on dev of a model of this scale relative to the model that it varies "
    "(table 3), with its 95% interval over seeds; averaging and beam search, within one run. "
    "Costs of several departures do not add up."
)
RECIPES = (
    "Each run is compared with the recipe of the paper's row of the same name; a run without such "
    "a row, with base, and a parser, with section 6.3. What the paper does not specify is not a "
    "departure (docs/deviations.md)."
)


class Line(NamedTuple):
    """A departure of a run, its known cost, and what was measured of it here."""

    run: str
    said: str
    known: str
    measured: str


def section(evidence: Evidence) -> Section:
    """A row for each departure, with the runs that have it; a line of the CSV for each run."""
    lines = [line for run in evidence.config.runs for line in lines_of(run, evidence)]
    about = ", ".join(
        f"{paper.bleu[pair].text} ({paper.name}, {pair})"
        for paper in evidence.paper.table_2.values()
        if paper.recipes
        for pair in paper.bleu
    )
    return Section(
        key="why_not",
        title="Why not 27.3?",
        subtitle="departures from the paper's recipe and their cost",
        lead=f"The paper prints {about}. Where a run here is a different experiment, this lists "
        "how it departs, and how much of the gap that may explain.",
        tables=(_table(lines, evidence.config),) if lines else (),
        records=pd.DataFrame(lines, columns=Line._fields),
    )


def _table(lines: Iterable[Line], config: Config) -> Table:
    runs_of_departure: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        departure = (line.said, line.known, line.measured)
        runs_of_departure.setdefault(departure, []).append(line.run)
    return table(
        "Departures from the paper's recipe",
        text("Departure", "Known cost", "Measured here", "Runs"),
        (
            row(
                said,
                Cell(known, tone="quiet" if known == NOT_KNOWN else ""),
                Cell(measured, tone="quiet" if measured == NOT_MEASURED else ""),
                _named(runs, config),
            )
            for (said, known, measured), runs in runs_of_departure.items()
        ),
        (MEASURED, RECIPES, PROTOCOL),
        key="why-not",
    )


def _named(runs: list[str], config: Config) -> str:
    """Runs by name; of many of a task, the first and their number. The CSV has all."""
    names: list[str] = []
    for task in dict.fromkeys(config.run(run).task for run in runs):
        of_task = runs_of(config, task)
        named = [run for run in of_task if run in runs]
        if named == of_task and len(named) > 1:
            names.append(f"all {len(named)} of {task}")
        elif len(named) > NAMED:
            names.append(f"{named[0]} and {len(named) - 1} more")
        else:
            names += named
    return ", ".join(names)


def lines_of(run: str, evidence: Evidence) -> Iterator[Line]:
    """The departures of a run, in the recipe's order; none where the paper has no such task."""
    config, recipe = evidence.config, _recipe(run, evidence.config, evidence.paper)
    if recipe is None:
        return
    task = config.run(run).task
    is_varied = task == config.variations.task
    variations = evidence.variations if is_varied else None
    measured = _measured(config, variations) if variations else {}
    for departure in departures(recipe, config, run, evidence.manifests.get(task)):
        known = "; ".join(known_costs(departure.key)) or NOT_KNOWN
        yield Line(run, departure.said, known, measured.get(departure.key, NOT_MEASURED))
    if scored := (evidence.scores.get(run) or {}).get(paths.TEST):
        for said in set_departures(recipe.evaluation_set, scored.test_set):
            yield Line(run, said, SENTENCES, NOT_MEASURED)
    if is_varied:
        yield Line(run, "trained from one seed", SEED, measured.get("seed", NOT_MEASURED))


def _recipe(run: str, config: Config, paper: Paper) -> Recipe | None:
    """The recipe of the paper that is nearest to a run; None for a task that the paper lacks."""
    task, model = config.task_of(run), config.run(run).model
    if task.kind == "parsing":
        recipes = {
            printed.run: printed.recipe for printed in paper.table_4.values() if printed.recipe
        }
        return recipes.get(run, next(iter(recipes.values())))
    pair = f"{task.text.source}-{task.text.target}"
    if task.kind != "translation" or pair not in paper.table_2_columns:
        return None
    if run in config.tested or model not in paper.table_3:
        printed = paper.table_2.get(run.partition(".")[2])  # as table 2 names them
        known = printed if printed and printed.recipes else paper.table_2["base"]
        return known.recipes[pair]
    return recipe_of(model)


def _measured(config: Config, comparison: Comparison) -> Mapping[str, str]:
    """The measured effects of parameters, by their dotted names, and the spread over seeds."""
    base = config.models[comparison.base]
    found: dict[str, list[str]] = {}
    for name, variation in comparison.models.items():
        effect = variation.bleu.effect
        columns = _changed(base, config.models[name])
        if effect is None or len(columns) != 1:
            continue
        column = columns[0]
        values = f"{getattr(config.models[name], column)} instead of {getattr(base, column)}"
        interval = f"{signed(effect.low)} to {signed(effect.high)}"
        said = f"{column} {values}: {signed(effect.value)} ({interval})"
        found.setdefault(f"model.{column}", []).append(said)
    for run, modes in comparison.modes.items():
        average, beam = config.model_of(run).average, config.task_of(run).search.beam
        averaging = signed(modes.averaged - modes.last)
        search = signed(modes.averaged - modes.greedy)
        found.setdefault("model.average", []).append(f"averaging {average} in {run}: {averaging}")
        found.setdefault("decoding.beam", []).append(
            f"beam {beam} instead of greedy in {run}: {search}"
        )
    spread = comparison.models[comparison.base].bleu.sd
    if spread is not None:
        seeds = len(comparison.models[comparison.base].seeds)
        found["seed"] = [f"standard deviation {spread:.2f} BLEU over {seeds} seeds of the base"]
    return {key: "; ".join(texts) for key, texts in found.items()}


def _changed(base: Model, model: Model) -> list[str]:
    """Columns of table 3 in which two models differ, without those that follow from another."""
    columns = (name for name, _ in base if getattr(base, name) != getattr(model, name))
    changed = [name for name in columns if name not in WITHOUT_EFFECT]
    leading = [name for name in changed if name not in DERIVED]
    return leading or changed
