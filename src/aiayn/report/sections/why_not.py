"""Why not 27.3? Every departure of a run from the paper's recipe, beside its known cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from aiayn.config import Config, Model
from aiayn.paper import Paper, Recipe, recipe_of
from aiayn.paper.known_costs import SEED, known_costs
from aiayn.report.evidence import Evidence
from aiayn.report.parts.departures import departures, set_departures
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import Cell, Row, Table, signed
from aiayn.results.comparison import Comparison

NAMED = 2  # runs of a task
NOT_KNOWN, NOT_MEASURED = "not known", "not measured"
SENTENCES = "no cost can be told: scores on other sentences are not comparable"
DERIVED = {"d_k", "d_v"}  # they follow from h and d_model
KEPT = {"average", "checkpoint_steps"}  # no last checkpoint has other bytes for them
MEASURED = (
    "Measured here: BLEU of dev, a model of this scale beside the one that it varies (table 3), "
    "with its 95% interval over seeds; averaging and beam search, within one run. Costs of several "
    "departures do not add up."
)
RECIPES = (
    "Each run is held against the recipe of the paper's row of its name; one that the paper has no "
    "row for, against base, and a parser against section 6.3's. What the paper does not tell is no "
    "departure (docs/deviations.md)."
)


@dataclass(frozen=True)
class Line:
    """A departure of a run: what it is known to cost, and what was measured of it here."""

    run: str
    said: str
    known: str
    measured: str


def section(evidence: Evidence) -> Section:
    """A row for each departure, with the runs that have it; a line of the CSV for each run."""
    lines = tuple(line for run in evidence.config.runs for line in lines_of(run, evidence))
    about = ", ".join(
        f"{paper.bleu[pair].text} ({paper.name}, {pair})"
        for paper in evidence.paper.table_2.values()
        if paper.recipes
        for pair in paper.bleu
    )
    return Section(
        key="why_not",
        title="Why not 27.3?",
        subtitle="what departs from the paper, and what that costs",
        lead=f"The paper prints {about}. Where a run here is another experiment, this says in "
        "what, and what of its distance that may explain.",
        tables=(_table(lines, evidence.config),) if lines else (),
        records=tuple(asdict(line) for line in lines),
    )


def _table(lines: tuple[Line, ...], config: Config) -> Table:
    runs_of: dict[Line, list[str]] = {}
    for line in lines:
        runs_of.setdefault(Line("", line.said, line.known, line.measured), []).append(line.run)
    return Table(
        "Departures from the paper's recipe",
        ("Departure", "Known cost", "Measured here", "Runs"),
        "llll",
        tuple(
            Row(
                (
                    Cell(line.said),
                    Cell(line.known, tone="quiet" if line.known == NOT_KNOWN else ""),
                    Cell(line.measured, tone="quiet" if line.measured == NOT_MEASURED else ""),
                    Cell(_named(runs, config)),
                )
            )
            for line, runs in runs_of.items()
        ),
        (("", MEASURED), ("", RECIPES)),
        key="why-not",
    )


def _named(runs: list[str], config: Config) -> str:
    """Runs by name; where a task has many of them, the first and their number. The CSV has all."""
    names: list[str] = []
    for task in dict.fromkeys(config.run(run).task for run in runs):
        own = [run for run in runs if config.run(run).task == task]
        every = [run for run, described in config.runs.items() if described.task == task]
        if own == every and len(own) > 1:
            names.append(f"all {len(own)} of {task}")
        elif len(own) > NAMED:
            names.append(f"{own[0]} and {len(own) - 1} more")
        else:
            names += own
    return ", ".join(names)


def lines_of(run: str, evidence: Evidence) -> Iterator[Line]:
    """The departures of a run, in the recipe's order; none where the paper has no such task."""
    config, recipe = evidence.config, _recipe(run, evidence.config, evidence.paper)
    if recipe is None:
        return
    task = config.run(run).task
    measured = _measured(config, evidence.variations) if evidence.variations else {}
    for departure in departures(recipe, config, run, evidence.manifests.get(task)):
        known = "; ".join(known_costs(departure.key)) or NOT_KNOWN
        here = measured.get(departure.key, "") if task == config.variations.task else ""
        yield Line(run, departure.said, known, here or NOT_MEASURED)
    for split, scored in (evidence.scores.get(run) or {}).items():
        if split == "test":
            for said in set_departures(recipe.evaluation_set, scored.test_set):
                yield Line(run, said, SENTENCES, NOT_MEASURED)
    if task == config.variations.task:
        yield Line(run, "trained from one seed", SEED, measured.get("seed", NOT_MEASURED))


def _recipe(run: str, config: Config, paper: Paper) -> Recipe | None:
    """What the paper did that is most like a run; None for a task that it does not have."""
    task, model = config.task_of(run), config.run(run).model
    if task.kind == "parsing":
        rows = [row for row in paper.table_4.values() if row.recipe]
        own = [row.recipe for row in rows if row.run == run]
        return (own or [row.recipe for row in rows])[0]
    pair = f"{task.text.source}-{task.text.target}"
    if task.kind != "translation" or pair not in paper.table_2_columns:
        return None
    if run in config.tested or model not in paper.table_3:
        row = paper.table_2.get(run.partition(".")[2])  # as table 2 names them
        known = row if row and row.recipes else paper.table_2["base"]
        return known.recipes[pair]
    return recipe_of(model)


def _measured(config: Config, comparison: Comparison) -> Mapping[str, str]:
    """What this scale's own models say of a parameter, by its dotted name, and of the seed."""
    base = config.models[comparison.base]
    found: dict[str, list[str]] = {}
    for name, variation in comparison.models.items():
        effect = variation.bleu.effect
        columns = _changed(base, config.models[name])
        if effect is None or len(columns) != 1:
            continue
        column = columns[0]
        value = getattr(config.models[name], column)
        interval = f"{signed(effect.low)} to {signed(effect.high)}"
        text = f"{column} {value} for {getattr(base, column)}: {signed(effect.value)} ({interval})"
        found.setdefault(f"model.{column}", []).append(text)
    for run, ways in comparison.ways.items():
        averaging, search = ways.averaged - ways.last, ways.averaged - ways.greedy
        found.setdefault("model.average", []).append(
            f"averaging {config.model_of(run).average} in {run}: {signed(averaging)}"
        )
        beam = config.task_of(run).search.beam
        text = f"beam {beam} for greedy in {run}: {signed(search)}"
        found.setdefault("decoding.beam", []).append(text)
    spread = comparison.models[comparison.base].bleu.sd
    if spread is not None:
        seeds = len(comparison.models[comparison.base].seeds)
        found["seed"] = [f"standard deviation {spread:.2f} BLEU over {seeds} seeds of the base"]
    return {key: "; ".join(texts) for key, texts in found.items()}


def _changed(base: Model, model: Model) -> list[str]:
    """Columns of table 3 in which two models differ, without those that follow from another."""
    values, ours = dict(base), dict(model)
    changed = [name for name, value in values.items() if ours[name] != value and name not in KEPT]
    leading = [name for name in changed if name not in DERIVED]
    return leading or changed
