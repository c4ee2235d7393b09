"""The forest plot of the paper's claims."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dvc.utils.hydra import compose_and_dump

from aiayn import config
from aiayn.config import Variations
from aiayn.paper.findings import STATEMENTS
from aiayn.report.claims_figure import LABELS, Claim, claims, draw, figures
from aiayn.report.evidence import gather
from aiayn.results.comparison import Effect, Finding, Verdict

ROOT = Path(__file__).parents[2]
EXPLORATORY = Variations(task="en-de", base="base")


def make_claim(
    key: str, effect: float, low: float, high: float,
    variations: Variations = EXPLORATORY, verdict: Verdict = "undecided",
) -> Claim:  # fmt: skip
    found = Effect(value=effect, low=low, high=high, p_value=0.5, corrected=1.0, count=3)
    compared = SimpleNamespace(findings={key: Finding(verdict=verdict, effect=found)})
    evidence: Any = SimpleNamespace(
        config=SimpleNamespace(variations=variations), variations=compared
    )
    (claim,) = claims(evidence)
    return claim


def test_effects_are_positive_in_the_direction_of_the_claim() -> None:
    """Computed by hand from table 3: 24.9 and 25.8 BLEU; perplexities 4.92 and 4.67."""
    lower = make_claim("one_head", -0.5, -1.5, 0.25)
    assert (lower.ours, lower.low, lower.high) == (0.5, -0.25, 1.5)
    assert lower.paper == pytest.approx(0.9)
    assert lower.is_as_claimed
    assert not make_claim("dropout", -1.0, -2.0, 1.0).is_as_claimed
    ratio = make_claim("smoothing_perplexity", 1.05, 1.02, 1.08)
    assert (ratio.ours, ratio.low, ratio.high) == pytest.approx((5, 2, 8))
    assert ratio.paper == pytest.approx(100 * (4.92 / 4.67 - 1))
    assert make_claim("search", 0.5, 0.1, 0.9).paper is None
    assert make_claim("positions_bleu", -0.2, -1, 1).is_as_claimed
    assert not make_claim("positions_bleu", 0.4, -1, 1).is_as_claimed


def test_a_preregistered_claim_is_drawn_by_its_declared_measure(tmp_path: Path) -> None:
    """A perplexity that is higher with 32 heads points right, by the paper's 5.01 and 4.92."""
    params = tmp_path / "params.yaml"
    compose_and_dump(str(params), str(ROOT / "conf"), None, "config", "", ["scale=tatoeba"])
    declared = config.load(params).variations
    many_heads = make_claim("many_heads", 1.06, 1.02, 1.1, declared)
    assert many_heads.measure == "perplexity"
    assert (many_heads.ours, many_heads.paper) == pytest.approx((6, 100 * (5.01 / 4.92 - 1)))
    assert make_claim("positions_bleu", 0.4, 0.1, 0.7, declared).is_as_claimed  # within 0.5


def test_every_claim_has_a_label() -> None:
    assert LABELS.keys() == STATEMENTS.keys()
    assert max(map(len, LABELS.values())) < 32  # a phone's screen


def test_a_claim_has_a_dot_an_interval_and_a_tick() -> None:
    svg = draw([
        make_claim("one_head", -1, -2, 0, verdict="holds at this scale"),
        make_claim("search", 1, -50, 50),
    ])  # fmt: skip
    series = re.findall(r'data-series="([^"]*)"', svg)
    assert sorted(series) == ["ours: holds", "ours: undecided", "the paper"]
    for text in (LABELS["one_head"], LABELS["search"], "ours: does not hold"):
        assert svg.count(f">{text}<") == (text in LABELS.values())


def test_an_interval_beyond_the_axis_has_an_arrow() -> None:
    def marks(low: float, high: float) -> int:
        return draw([make_claim("search", 1, low, high)]).count("<use ")

    inside = marks(0.5, 1.5)
    assert marks(-50, 1.5) == inside + 1
    assert marks(-50, 50) == inside + 2


def test_a_published_scale_and_one_without_tests() -> None:
    (figure,) = figures(gather(ROOT / "reproductions/multi30k_table3"))
    assert list(figure.data["label"]) == [*LABELS.values()]
    assert figure.data["verdict"].value_counts().to_dict() == {
        "undecided": 11, "holds at this scale": 3,
    }  # fmt: skip
    assert not [*figures(gather(ROOT / "reproductions/genia"))]
