"""The paper's statements, judged over models' seeds and over ways of decoding."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from aiayn import config
from aiayn.evaluation.findings import judge_findings, over_seeds
from aiayn.results import paths
from aiayn.results.comparison import DecodingModes

ROOT = Path(__file__).parents[2]
FIVE = (27.36, 18.1, 24.3, 18.6, 22.0)


def test_findings_are_judged_by_what_they_compare() -> None:
    """The base's s is 3.94: 8 layers against 2 are two single draws, an error of s sqrt(2)."""
    models: dict[str, list[float]] = {
        "brief": list(FIVE), "A_h1": [-60.0], "C_N8": [80.0], "C_N2": [20.0],
        "B_dk16": [22.0], "B_dk32": [23.0], "D_drop00": [110.0],
    }  # fmt: skip
    perplexities = {model: [5.0, 5.1][: len(values)] for model, values in models.items()}
    found = judge_findings({"bleu": models, "perplexity": perplexities}, "brief", [])
    assert {key: held.verdict for key, held in found.items()} == {
        "one_head": "holds", "many_heads": "not run at this scale", "key_width": "undecided",
        "layers": "holds", "width": "not run at this scale",
        "inner_width": "not run at this scale", "dropout": "does not hold",
        "smoothing_perplexity": "not run at this scale",
        "smoothing_bleu": "not run at this scale", "positions_bleu": "not run at this scale",
        "positions_perplexity": "not run at this scale", "big": "not run at this scale",
        "averaging": "not run at this scale", "search": "not run at this scale",
    }  # fmt: skip
    layers, key_width = found["layers"].effect, found["key_width"].effect
    assert layers
    assert key_width
    s = float(np.std(FIVE, ddof=1))
    assert layers.value == 60
    assert layers.high - 60 == pytest.approx(stats.t.ppf(0.975, 4) * s * math.sqrt(2), abs=1e-3)
    assert key_width.value == pytest.approx(22.5 - np.mean(FIVE), abs=1e-4)


def test_ways_of_decoding_are_compared_within_each_run() -> None:
    """scipy's paired t-test says the same: runs far apart in BLEU, and each a little better by its
    average. Of one run nothing can be said, nor of a gain that is the same in all."""
    last, averaged, greedy = [20.0, 35.0, 28.0], [20.9, 35.8, 29.0], [20.8, 36.0, 28.9]
    runs = zip(last, averaged, greedy, strict=True)
    modes = [DecodingModes(**dict(zip(paths.DECODING_MODES, bleu, strict=True))) for bleu in runs]
    samples: dict[str, dict[str, list[float]]] = {"bleu": {"base": [1.0]}, "perplexity": {}}
    found = judge_findings(samples, "base", [[bleu] for bleu in modes])
    assert (found["averaging"].verdict, found["search"].verdict) == ("holds", "undecided")
    effect = found["averaging"].effect
    assert effect
    assert effect.p_value == pytest.approx(stats.ttest_rel(averaged, last).pvalue, abs=1e-6)
    assert effect.corrected == pytest.approx(2 * effect.p_value, abs=2e-6)
    alike = [
        DecodingModes(last=1.1, averaged=1.2, greedy=1),
        DecodingModes(last=2, averaged=2.1, greedy=1),
    ]
    for few in ([modes[:1]], [alike]):
        alone = judge_findings(samples, "base", few)
        assert (alone["averaging"].verdict, alone["averaging"].effect) == ("undecided", None)


def test_p_values_count_the_looks_at_them() -> None:
    """Bonferroni, on top of Holm: what holds at the first look may not at the third."""
    models = {"base": list(FIVE), "A_h1": [7.5]}
    samples = {"bleu": models, "perplexity": {model: [5.0] for model in models}}
    once, thrice = (judge_findings(samples, "base", [], looks)["one_head"] for looks in (None, 3))
    assert once.effect
    assert thrice.effect
    assert 0.05 / 3 < once.effect.corrected < 0.05
    assert thrice.effect == once.effect.replace(corrected=thrice.effect.corrected)
    assert thrice.effect.corrected == pytest.approx(3 * once.effect.corrected, abs=2e-6)
    assert (once.verdict, thrice.verdict) == ("holds", "undecided")
    often = judge_findings(samples, "base", [], 99)["one_head"].effect
    assert often
    assert often.corrected == 1


def test_a_model_of_several_seeds_counts_once() -> None:
    """Two models are two, however often one was trained; one alone is as many as its seeds."""
    base = [
        DecodingModes(last=20, averaged=20 + gain, greedy=20)
        for gain in (1.0, 1.1, 0.9, 1.05, 0.95)
    ]
    big = [DecodingModes(last=30, averaged=30.1, greedy=30)]
    samples: dict[str, dict[str, list[float]]] = {"bleu": {"base": [1.0]}, "perplexity": {}}
    alone, both = (
        judge_findings(samples, "base", modes)["averaging"] for modes in ([base], [base, big])
    )
    assert (alone.verdict, both.verdict) == ("holds", "undecided")
    assert alone.effect
    assert both.effect
    assert alone.effect.p_value == pytest.approx(
        stats.ttest_1samp([1.0, 1.1, 0.9, 1.05, 0.95], 0).pvalue, abs=1e-6
    )
    assert both.effect.p_value == pytest.approx(stats.ttest_1samp([1.0, 0.1], 0).pvalue, abs=1e-6)


def test_runs_that_differ_by_their_seeds_alone() -> None:
    demo = config.load(ROOT / "reproductions/demo/params.yaml")
    bleu = {name: DecodingModes(last=n, averaged=n, greedy=n) for n, name in enumerate(demo.runs)}
    twice = {**demo.runs, "again": demo.run(next(iter(demo.runs)))}
    assert over_seeds(twice, {**bleu, "again": DecodingModes(last=-1, averaged=-1, greedy=-1)}) == (
        over_seeds(demo.runs, bleu)
    )
    together = [[int(modes.last) for modes in seeds] for seeds in over_seeds(demo.runs, bleu)]
    runs = list(demo.runs.values())
    assert sorted(n for seeds in together for n in seeds) == list(range(len(runs)))
    assert len(together) == len({(run.task, run.model) for run in runs}) < len(runs)
    for seeds in together:
        assert len({(runs[n].task, runs[n].model) for n in seeds}) == 1
