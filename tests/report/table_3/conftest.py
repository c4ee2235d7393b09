"""Table 3's evidence over hand-made results: models, their measures, and a project of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.report.evidence import Evidence, gather
from aiayn.results import comparison, paths
from aiayn.results.comparison import (
    Comparison,
    Direction,
    Effect,
    Measure,
    Outcome,
    Seed,
    Sentences,
    Variation,
)
from aiayn.results.scores import TestSet
from aiayn.results.text import Part

SMALL = {
    "N": 3, "d_model": 64, "d_ff": 256, "h": 8, "P_drop": 0.03, "eps_ls": 0.1, "steps": 350,
    "positions": "sinusoid", "average": 1, "checkpoint_steps": 20,
}  # fmt: skip
MODELS = {
    "small": SMALL,
    "A_h1": {**SMALL, "h": 1, "d_k": 64, "d_v": 64},
    "A_h16": {**SMALL, "h": 16, "d_k": 4, "d_v": 4},
    "B_dk16": {**SMALL, "d_k": 2},
    "C_N2": {**SMALL, "N": 1},
    "D_drop00": {**SMALL, "P_drop": 0.0},
    "D_smooth00": {**SMALL, "eps_ls": 0.0},
    "A_h2": {**SMALL, "h": 2},
}
# BLEU of one seed, the direction that the paper claims, and our outcome
ONE_SEED: dict[str, tuple[float, Direction | None, Outcome]] = {
    "small": (30.0, None, "undecided"),
    "A_h1": (28.0, "lower", "lower"),
    "A_h16": (33.0, None, "higher"),
    "B_dk16": (31.5, "lower", "higher"),
    "C_N2": (29.9, "lower", "undecided"),
    "D_drop00": (29.0, "lower", "undecided"),
    "A_h2": (31.0, None, "higher"),
}

Make = Callable[..., Evidence]


def measured(
    name: str, bleu: float, claim: Direction | None = None, outcome: Outcome = "undecided"
) -> Variation:
    """A row of one seed, with intervals of 2.5 BLEU and 10 % of the ratio of perplexities either side."""
    ratio = 1 + (30 - bleu) / 100
    effects: dict[str, Effect | None] = {"bleu": None, "perplexity": None}
    if name != "small":
        effects = {
            "bleu": Effect(
                value=bleu - 30,
                low=bleu - 32.5,
                high=bleu - 27.5,
                p_value=0.001,
                corrected=0.02,
                count=2,
            ),
            "perplexity": Effect(
                value=ratio,
                low=0.9 * ratio,
                high=1.1 * ratio,
                p_value=0.001,
                corrected=0.02,
                count=2,
            ),
        }
    seed = Seed(
        run=f"en-de.{name}",
        perplexity=2 * ratio,
        bleu=bleu,
        sentences=Sentences(difference=bleu - 30, p_value=0.25) if name != "small" else None,
    )
    return Variation(
        perplexity=Measure(mean=2 * ratio, effect=effects["perplexity"]),
        bleu=Measure(mean=bleu, effect=effects["bleu"], claim=claim, outcome=outcome),
        seeds={"1": seed},
    )


def cost(parameters: int) -> dict[str, Any]:
    sides = {"source": 1, "target": 1}
    return {
        "vocabulary": 37_000, "parameters": parameters, "forward_flops": sides,
        "training_flops": sides, "pair_flops": {"forward": 1, "training": 3},
    }  # fmt: skip


@pytest.fixture
def make(tmp_path: Path, toy: dict[str, Any]) -> Make:
    """Makes the evidence of a project with these entries in table 3; None if nothing has run."""

    def make_evidence(entries: dict[str, Variation] | None) -> Evidence:
        params = {
            **toy,
            "models": {**toy["models"], **MODELS},
            "runs": {
                f"en-de.{name}{ending}": {"task": "en-de", "model": name, "seed": seed}
                for name in MODELS
                for seed, ending in ((1, ""), (2, "-s2"))
            },
            "tested": ["en-de.small"],
            "variations": {"task": "en-de", "base": "small"},
            "illustrations": {"run": "en-de.small", "sentence": None},
        }
        (tmp_path / "params.yaml").write_text(
            yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper)
        )
        if entries is not None:
            found = Comparison(
                task="en-de", base="small", split="dev", signature="hand-made", models=entries,
                modes={}, findings={}, test_set=TestSet(corpora={"toy-train": Part(pairs=40)}, pairs=40, sha256={}),
            )  # fmt: skip
            comparison.write(tmp_path / paths.TABLE_3, found)
            profile = {
                "sentence_pieces": 30,
                "models": {
                    name: {"en-de": cost(250_000 + 10_000 * n)} for n, name in enumerate(MODELS)
                },
                "paper": {
                    row: cost(63_000_000 if row == "base" else 34_000_000)
                    for row in ("base", "C_N2", "A_h1")
                },
            }
            path = tmp_path / paths.MODELS_PROFILE
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(profile))
        return gather(tmp_path)

    return make_evidence


@pytest.fixture
def one_seed(make: Make) -> Evidence:
    return make({name: measured(name, *values) for name, values in ONE_SEED.items()})
