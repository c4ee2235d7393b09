"""The table of changes that no table of the paper shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from scipy import stats

from aiayn.commands.publication.explanations import CHANGES, Change, effects
from aiayn.report.tables import Cell
from aiayn.results.comparison import Comparison, Measure, Seed, Variation
from aiayn.results.scores import TestSet

SCALE = Path(__file__).parents[3] / "conf/scale/tatoeba_extensions.yaml"
PERPLEXITY = {
    "base": (8.0, 8.2, 8.1),
    "X_dk64": (7.0, 7.3, 7.1),
    "X_dk64_unscaled": (14.0, 14.7, 14.1),
}
BLEU = {
    "base": (26.0, 25.8, 26.1),
    "X_dk64": (27.0, 26.5, 26.9),
    "X_dk64_unscaled": (20.0, 19.4, 19.9),
}


def compared(models: Mapping[str, tuple[int, ...]]) -> Comparison:
    """With the seeds 1 to 3 of each model that are given."""

    def variation(model: str, seeds: tuple[int, ...]) -> Variation:
        entries = {
            str(seed): Seed(
                run=f"en-de.{model}-s{seed}",
                perplexity=PERPLEXITY[model][seed - 1],
                bleu=BLEU[model][seed - 1],
            )
            for seed in seeds
        }
        perplexity, bleu = (
            Measure(mean=sum(values[model][seed - 1] for seed in seeds) / len(seeds))
            for values in (PERPLEXITY, BLEU)
        )
        return Variation(seeds=entries, perplexity=perplexity, bleu=bleu)

    return Comparison(
        task="en-de", base="base", split="dev",
        test_set=TestSet(corpora={}, pairs=1, sha256={}), signature="",
        models={model: variation(model, seeds) for model, seeds in models.items()},
        modes={}, findings={},
    )  # fmt: skip


def cells(found: Comparison) -> dict[str, tuple[Cell, ...]]:
    return {line.cells[0].text: line.cells[1:] for line in effects(found).rows}


def test_each_change_is_compared_with_the_model_that_lacks_it_alone() -> None:
    """Without the division at d_k 64: beside the model with d_k 64, not beside the base."""
    seeds = (1, 2, 3)
    found = cells(compared({"base": seeds, "X_dk64": seeds, "X_dk64_unscaled": seeds}))
    assert [*found] == ["No division by √d_k, d_k 64"]
    perplexity, ratio, bleu, difference = found["No division by √d_k, d_k 64"]
    assert perplexity.text == "7.13 → 14.27"
    assert ratio.text == "×2.00"
    assert bleu.text == "26.80 → 19.77"
    differences = [x - y for x, y in zip(BLEU["X_dk64_unscaled"], BLEU["X_dk64"], strict=True)]
    low, high = stats.t.interval(0.95, 2, sum(differences) / 3, stats.sem(differences))
    assert difference.text == "−7.03"
    assert difference.detail == f"{low:.2f} to {high:.2f}".replace("-", "−")


def test_one_seed_is_shown_without_an_effect() -> None:
    found = cells(compared({"base": (1, 2), "X_dk64": (1, 2), "X_dk64_unscaled": (1,)}))
    (line,) = found.values()
    assert [cell.detail for cell in line] == ["", "one seed", "", "one seed"]


def test_the_means_are_of_the_seeds_of_each_model() -> None:
    found = cells(compared({"base": (1,), "X_dk64": (1, 2), "X_dk64_unscaled": (1, 2)}))
    (line,) = found.values()
    assert line[0].text == "7.15 → 14.35"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.row)
def test_the_models_differ_in_one_part(change: Change) -> None:
    models = yaml.safe_load(SCALE.read_text(encoding="utf-8"))["models"]
    changed, beside = models[change.row], models[change.beside]
    differing = [key for key in {*changed, *beside} if changed.get(key) != beside.get(key)]
    assert len(differing) == 1
