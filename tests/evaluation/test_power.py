"""Error rates of the declared tests, by simulation with fixed random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.power import Simulation
from benchmarks.significance import LOOKS, under_the_null
from scipy import stats

from aiayn.evaluation.contrasts import ContrastTest, Design, between_models, decide


@pytest.mark.parametrize("seed_noise", [0.0, 0.5])
@pytest.mark.parametrize("spread", ["equal", "unequal"])
def test_the_family_wise_error_rate(spread: str, seed_noise: float) -> None:
    """Without any difference, one family in twenty has a false decision, over all looks."""
    generator = np.random.default_rng([len(spread), int(10 * seed_noise)])
    false_decisions = under_the_null(spread, seed_noise).decided(20_000, generator)
    assert 0.04 <= false_decisions.any(axis=1).mean() <= 0.055


def test_decided_statements_that_are_not_tested_again_keep_the_error_rate() -> None:
    """Beside eight differences, most of them found at the first look, six tests without one."""
    differences = np.linspace(0.3, 1.5, 8)
    simulation = Simulation(
        weights=np.eye(14), effects=np.append(differences, np.zeros(6)), noise=np.full(14, 0.3),
        looks=[LOOKS] * 14, margins=[None] * 14,
    )  # fmt: skip
    decided = simulation.decided(20_000, np.random.default_rng(4))
    assert decided[:, 2:8].mean() > 0.95
    assert 0.035 <= decided[:, 8:].any(axis=1).mean() <= 0.05


def test_a_difference_at_the_margin_is_rarely_called_equal() -> None:
    simulation = Simulation(
        weights=np.eye(2), effects=np.full(2, 0.5), noise=np.full(2, 0.3),
        looks=[LOOKS] * 2, margins=[0.5, 0.5],
    )  # fmt: skip
    error = simulation.decided(20_000, np.random.default_rng(1)).any(axis=1).mean()
    assert error <= 0.055


def test_one_test_at_one_look_has_the_power_of_students_t() -> None:
    simulation = Simulation(
        weights=np.array([[1.0, -1.0]]), effects=np.array([0.4, 0.0]), noise=np.array([0.3, 0.3]),
        looks=[(10,)], margins=[None], seed_noise=5.0,
    )  # fmt: skip
    power = simulation.decided(20_000, np.random.default_rng(2)).mean()
    noncentrality = 0.4 / (0.3 * np.sqrt(2)) * np.sqrt(10)
    bound = stats.t.isf(0.025, 9)
    expected = stats.nct.sf(bound, 9, noncentrality) + stats.nct.cdf(-bound, 9, noncentrality)
    assert power == pytest.approx(expected, abs=0.01)


def test_the_simulation_decides_as_the_comparison_does() -> None:
    """The same draws through `between_models` and `decide`."""
    simulation = Simulation(
        weights=np.eye(4), effects=np.array([0.0, 0.3, 0.6, 0.1]), noise=np.full(4, 0.3),
        looks=[(6,)] * 4, margins=[None, None, None, 0.5],
    )  # fmt: skip
    found = simulation.decided(50, np.random.default_rng(3))
    generator = np.random.default_rng(3)
    generator.standard_normal((50, 1, 6))  # the shared part
    measured = simulation.effects[:, None] + 0.3 * generator.standard_normal((50, 4, 6))
    for family, decided in zip(measured, found, strict=True):
        tests = {}
        for n, row in enumerate(family.tolist()):
            models = {"row": dict(enumerate(row)), "base": dict.fromkeys(range(6), 0.0)}
            design = Design((), {"bleu": 0.5})
            weights = {"row": 1.0, "base": -1.0}
            test = between_models("bleu", weights, models, design, equality=n == 3)
            assert isinstance(test, ContrastTest)
            tests["bleu", str(n)] = test
        outcomes = [decision.outcome for decision in decide(tests).values()]
        is_decided = [outcome != "undecided" for outcome in outcomes[:3]]
        assert [*is_decided, outcomes[3] == "equal"] == decided.tolist()
    assert 0 < found.mean() < 1
