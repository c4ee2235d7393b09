"""The paper's statements, tested over models' seeds and over decoding modes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aiayn import config
from aiayn.config import Variations
from aiayn.evaluation.findings import Modes, judge_findings, over_seeds
from aiayn.paper.findings import STATEMENTS, statements
from aiayn.results import paths
from aiayn.results.comparison import DecodingModes, Finding

ROOT = Path(__file__).parents[2]
FIVE = (27.36, 18.1, 24.3, 18.6, 22.0)


def judged(
    models: dict[str, Sequence[float]], modes: Modes = (), base: str = "base", **design: Any
) -> dict[str, Finding]:
    """Findings over models of these BLEU scores by seed; perplexities are higher where BLEU is
    lower."""
    samples = {
        "bleu": {model: dict(enumerate(bleu, 1)) for model, bleu in models.items()},
        "perplexity": {
            model: {seed: float(np.exp(1 - score / 20)) for seed, score in enumerate(bleu, 1)}
            for model, bleu in models.items()
        },
    }
    return judge_findings(Variations(task="en-de", base=base, **design), samples, modes)


def shifted(by: float, *, noise: float = 0.1) -> list[float]:
    """Scores of another model by seed: the part shared with the base cancels, the noise does not."""
    deviations = np.random.default_rng(round(abs(by) * 100)).normal(0, noise, len(FIVE))
    return [float(score + by + extra) for score, extra in zip(FIVE, deviations, strict=True)]


def test_verdicts_of_findings_on_models() -> None:
    models: dict[str, Sequence[float]] = {
        "brief": FIVE, "A_h1": shifted(-1), "C_N8": shifted(1), "C_N2": shifted(-2),
        "B_dk16": shifted(-0.05), "B_dk32": shifted(0.02), "D_drop00": shifted(3),
        "big": [30.0],
    }  # fmt: skip
    found = judged(models, base="brief")
    assert {key: finding.verdict for key, finding in found.items()} == dict.fromkeys(
        STATEMENTS, "not run at this scale"
    ) | {
        "one_head": "holds at this scale", "layers": "holds at this scale",
        "key_width": "undecided", "dropout": "does not hold at this scale", "big": "undecided",
    }  # fmt: skip
    layers, key_width = found["layers"].effect, found["key_width"].effect
    assert layers
    assert key_width
    expected = stats.ttest_rel(models["C_N8"], models["C_N2"])
    assert layers.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert layers.value == pytest.approx(
        np.mean(models["C_N8"]) - np.mean(models["C_N2"]), abs=1e-4
    )
    rows = (np.array(models["B_dk16"]) + models["B_dk32"]) / 2
    assert key_width.p_value == pytest.approx(stats.ttest_rel(rows, FIVE).pvalue, rel=1e-6)
    assert (found["big"].effect, found["big"].why_not_tested) == (None, "one seed")


def test_decoding_modes_are_compared_within_each_run() -> None:
    """As by scipy's paired t-test: runs differ much in BLEU, and averaging improves each a little.
    One run cannot be tested, nor a gain that is the same in all runs."""
    last, averaged, greedy = [20.0, 35.0, 28.0], [20.9, 35.8, 29.0], [20.8, 36.0, 28.9]
    runs = zip(last, averaged, greedy, strict=True)
    modes = [DecodingModes(**dict(zip(paths.DECODING_MODES, bleu, strict=True))) for bleu in runs]
    found = judged({"base": [1.0]}, [{1: bleu} for bleu in modes])
    verdicts = (found["averaging"].verdict, found["search"].verdict)
    assert verdicts == ("holds at this scale", "undecided")
    effect = found["averaging"].effect
    assert effect
    assert effect.p_value == pytest.approx(stats.ttest_rel(averaged, last).pvalue, abs=1e-6)
    assert effect.corrected == pytest.approx(2 * effect.p_value, abs=2e-6)
    assert effect.count == 3
    equal_gains = [
        {1: DecodingModes(last=1.1, averaged=1.2, greedy=1)},
        {1: DecodingModes(last=2, averaged=2.1, greedy=1)},
    ]
    for untestable, reason in (([{1: modes[0]}], "one run"), (equal_gains, "the same in all runs")):
        alone = judged({"base": [1.0]}, untestable)["averaging"]
        assert (alone.verdict, alone.effect, alone.why_not_tested) == ("undecided", None, reason)


def test_p_values_are_corrected_for_interim_looks() -> None:
    """What holds with three seeds if these are all need not hold if five are planned."""
    models = {"base": FIVE[:3], "A_h1": shifted(-1)[:3]}
    once, first = (
        judged(models, interim_looks=looks)["one_head"] for looks in ((), (3, 5))
    )  # fmt: skip
    assert once.effect
    assert first.effect
    assert once.effect.p_value == first.effect.p_value == once.effect.corrected < 0.05
    assert first.effect.corrected > once.effect.corrected
    assert first.effect.high - first.effect.low > once.effect.high - once.effect.low


def declared(**changes: Any) -> dict[str, Any]:
    return {
        "commit": "1a2b3c4", "seeds": (1, 2, 3, 4, 5), "weights": "averaged",
        "splits": ("dev", "test"), "margin_bleu": 0.5, "margin_log_perplexity": 0.03, **changes,
    }  # fmt: skip


def test_the_family_is_the_declared_statements_by_their_measures() -> None:
    models = {"base": FIVE, "A_h32": shifted(-1), "A_h1": shifted(-1.3), "E_learned": shifted(0.02)}
    declared_statements: dict[str, Any] = {
        "many_heads": {"measure": "perplexity"}, "positions_bleu": {"measure": "bleu"},
        "one_head": {"measure": "bleu", "interim_looks": (3,)},
    }  # fmt: skip
    found = judged(
        models, interim_looks=(4, 5), preregistration=declared(statements=declared_statements)
    )
    assert found.keys() == declared_statements.keys()
    claims = statements({key: form["measure"] for key, form in declared_statements.items()})
    assert (claims["many_heads"].claim, claims["positions_bleu"].claim) == ("higher", "equal")
    assert {finding.verdict for finding in found.values()} == {"holds at this scale"}
    assert found["positions_bleu"].effect  # within 0.5, the declared margin
    assert max(abs(found["positions_bleu"].effect.low), found["positions_bleu"].effect.high) > 0.2
    assert found["many_heads"].effect
    assert found["many_heads"].effect.value > 1  # a ratio of perplexities
    assert found["one_head"].effect
    assert found["one_head"].effect.count == 3  # its own look


def test_a_model_of_several_seeds_counts_once() -> None:
    """Of several models, each counts once, however many seeds it has; of a single one, each seed."""
    gains = [1.0, 1.1, 0.9, 1.05, 0.95]
    base = {
        seed: DecodingModes(last=20, averaged=20 + gain, greedy=20)
        for seed, gain in enumerate(gains)
    }
    big = {1: DecodingModes(last=30, averaged=30.1, greedy=30)}
    alone, both = (judged({"base": [1.0]}, modes)["averaging"] for modes in ([base], [base, big]))
    assert (alone.verdict, both.verdict) == ("holds at this scale", "undecided")
    assert alone.effect
    assert both.effect
    assert alone.effect.p_value == pytest.approx(stats.ttest_1samp(gains, 0).pvalue, abs=1e-6)
    assert both.effect.p_value == pytest.approx(stats.ttest_1samp([1.0, 0.1], 0).pvalue, abs=1e-6)


def test_modes_are_compared_with_the_seeds_of_the_look() -> None:
    """Seeds that are added before the next look change nothing."""
    gains = [1.0, 1.3, 0.9, 2.5, 0.1]
    base = {
        seed: DecodingModes(last=20, averaged=20 + gain, greedy=20)
        for seed, gain in enumerate(gains)
    }
    big = {1: DecodingModes(last=30, averaged=30.1, greedy=30)}
    for others in ([], [big]):
        three, five = (
            judged(
                {"base": [1.0]},
                [dict(list(base.items())[:count]), *others],
                interim_looks=(3, 10),
            )["averaging"]
            for count in (3, 5)
        )
        assert three.effect
        assert three == five
        assert three.effect.count == (2 if others else 3)


def test_runs_that_differ_by_their_seeds_alone() -> None:
    demo = config.load(ROOT / "reproductions/demo/params.yaml")
    bleu = {name: DecodingModes(last=n, averaged=n, greedy=n) for n, name in enumerate(demo.runs)}
    twice = {**demo.runs, "again": demo.run(next(iter(demo.runs)))}
    assert over_seeds(twice, {**bleu, "again": DecodingModes(last=-1, averaged=-1, greedy=-1)}) == (
        over_seeds(demo.runs, bleu)
    )
    groups = [
        [int(modes.last) for modes in seeds.values()] for seeds in over_seeds(demo.runs, bleu)
    ]
    runs = list(demo.runs.values())
    assert sorted(n for seeds in groups for n in seeds) == list(range(len(runs)))
    assert len(groups) == len({(run.task, run.model) for run in runs}) < len(runs)
    for seeds in groups:
        assert len({(runs[n].task, runs[n].model) for n in seeds}) == 1
