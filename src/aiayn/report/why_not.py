"""Why not 27.3? Every departure of a run from the paper's recipe, beside its known cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from aiayn.config import Config
from aiayn.paper import Paper, Recipe, recipe_of
from aiayn.paper.known_costs import PROTOCOL, SEED, known_costs
from aiayn.report.departures import departures, set_departures
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.tables import Cell, Table, row, shortened, table, text

NAMED = 2  # runs of a task
NOT_KNOWN = "not known"
SENTENCES = "unknown: scores on other sentences are not comparable"
RECIPES = (
    "Costs of several departures do not add up. Each run is compared with the recipe of the "
    "paper's row of the same name; a run without such a row, with base, and a parser, with section "
    "6.3. What the paper does not specify is not a departure (docs/deviations.md)."
)


class Line(NamedTuple):
    """A departure of a run, and its known cost."""

    run: str
    description: str
    known: str


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
        title="Departures",
        subtitle="from the paper's recipe, and their known cost",
        lead=f"The paper prints {about}. Where a run here is a different experiment, this lists "
        "how it departs, and how much of the gap that may explain.",
        tables=(_table(lines, evidence.config),) if lines else (),
        records=pd.DataFrame(lines, columns=Line._fields),
    )


def _table(lines: Iterable[Line], config: Config) -> Table:
    runs_of_departure: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        runs_of_departure.setdefault((line.description, line.known), []).append(line.run)
    return table(
        "Departures from the paper's recipe",
        text("Departure", "Known cost", "Runs"),
        (
            row(
                description,
                Cell(known, tone="quiet" if known == NOT_KNOWN else ""),
                _named(runs, config),
            )
            for (description, known), runs in runs_of_departure.items()
        ),
        (RECIPES, PROTOCOL),
        key="why-not",
    )


def _named(runs: list[str], config: Config) -> str:
    """Runs by name; of many of a task, the first and their number. The CSV has all."""
    of_task: dict[str, list[str]] = {}
    for run in runs:
        of_task.setdefault(config.run(run).task, []).append(run)
    return ", ".join(shortened(named, NAMED) for named in of_task.values())


def lines_of(run: str, evidence: Evidence) -> Iterator[Line]:
    """The departures of a run, in the recipe's order; none where the paper has no such task."""
    config, recipe = evidence.config, _recipe(run, evidence.config, evidence.paper)
    if recipe is None:
        return
    task = config.run(run).task
    for departure in departures(recipe, config, run, evidence.manifests.get(task)):
        yield Line(run, departure.text, "; ".join(known_costs(departure.key)) or NOT_KNOWN)
    if scored := evidence.scored(run):
        for description in set_departures(recipe.evaluation_set, scored.test_set):
            yield Line(run, description, SENTENCES)
    if task == config.variations.task:
        yield Line(run, "trained from one seed", SEED)


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
