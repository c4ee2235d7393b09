"""What explanations of the model say about its parts and no table of the paper shows: models that
differ in one of them, side by side."""

from __future__ import annotations

from typing import NamedTuple

from aiayn.evaluation.contrasts import (
    Design,
    Samples,
    Untested,
    between_models,
    samples_by_measure,
    scale_of,
)
from aiayn.evaluation.significance import LEVEL
from aiayn.report.findings import effect_text
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
    "without the change, compared seed by seed, with its 95 % interval (Student's paired t). "
    "Unlike those of the claims, these intervals are not corrected for their number: about one in "
    "twenty misses."
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

    def cells(measure: str, key: str) -> tuple[Cell, Cell]:
        changed, beside = changes[key]
        means = (compared.models[name].measures[measure].mean for name in (beside, changed))
        both = Cell(" → ".join(f"{mean:.2f}" for mean in means))
        return both, _effect(measure, changed, beside, samples[measure])

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


def _effect(measure: str, changed: str, beside: str, models: Samples) -> Cell:
    test = between_models(measure, {changed: 1.0, beside: -1.0}, models, Design(), equality=False)
    if isinstance(test, Untested):
        return Cell(NOTHING.text, detail=test.why)
    bounds = (test.difference.value, *test.difference.interval(LEVEL))
    value, low, high = (effect_text(measure, scale_of(measure).back(bound)) for bound in bounds)
    return Cell(value, detail=f"{low} to {high}")
