"""What explanations of the model say about its parts and no table of the paper shows, tested on
models that differ in one of them."""

from __future__ import annotations

from typing import NamedTuple

from aiayn.evaluation.contrasts import Design, between_models, decide, samples_by_measure
from aiayn.report.findings import effect_cell
from aiayn.report.tables import NOTHING, Cell, Table, numbers, row, table, text
from aiayn.results.comparison import Comparison


class Change(NamedTuple):
    """A change of the model: `row` has it, `beside` does not. `base` is the base, whatever its
    name."""

    text: str
    row: str
    beside: str = "base"


CHANGES = (
    Change("No division by √d_k, d_k 16", "X_unscaled"),
    Change("No division by √d_k, d_k 64", "X_dk64_unscaled", "X_dk64"),
    Change("Additive attention, d_k 16", "X_additive"),
    Change("Additive attention, d_k 64", "X_dk64_additive", "X_dk64"),
    Change("Attention by a sigmoid instead of softmax", "X_sigmoid"),
    Change("No positions", "X_no_positions"),
    Change("Sinusoids to base 100 instead of 10,000", "X_base100"),
    Change("Normalization before each layer instead of after it", "X_pre_norm"),
)
MEASURES = ("perplexity", "bleu")
NOTE = (
    "The effect is the ratio of the perplexities and the difference of the BLEU scores with and "
    "without the change, compared seed by seed (Student's paired t), with simultaneous 95 % "
    "intervals. “Higher” and “lower” are significant at 5 % for the table as a whole (Holm). The "
    "tests are exploratory."
)


def effects(compared: Comparison) -> Table:
    """A row for each change whose two models were compared."""
    seeds = {
        model: {int(seed): entry for seed, entry in variation.seeds.items()}
        for model, variation in compared.models.items()
    }
    changes = {
        change.text: (change.row, compared.base if change.beside == "base" else change.beside)
        for change in CHANGES
    }
    changes = {key: models for key, models in changes.items() if {*models} <= seeds.keys()}
    samples = samples_by_measure(seeds)
    decisions = decide({
        (measure, key): between_models(
            measure, {changed: 1.0, beside: -1.0}, samples[measure], Design(), equality=False
        )
        for key, (changed, beside) in changes.items()
        for measure in MEASURES
    })  # fmt: skip

    def cells(measure: str, key: str) -> tuple[Cell, Cell]:
        changed, beside = (compared.models[name] for name in changes[key])
        values = [each.measures[measure].mean for each in (beside, changed)]
        means = Cell(" → ".join(f"{value:.2f}" for value in values))
        effect, outcome, why = decisions[measure, key]
        if effect is None:
            return means, Cell(NOTHING.text, detail=why or "")
        return means, effect_cell(effect, measure, changed.run, outcome)

    return table(
        "What no table shows",
        text("Change")
        + numbers("Perplexity")
        + text("Effect on perplexity")
        + numbers("BLEU")
        + text("Effect on BLEU"),
        (row(key, *(cell for name in MEASURES for cell in cells(name, key))) for key in changes),
        [NOTE],
    )
