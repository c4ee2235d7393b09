"""The power and error rates of a design, by simulation.

The measure of a model trained from a seed is simulated as effect + seed + noise: the seed term is
shared by all models, because they share batches and initial weights; the noise is independent. A
statement that is significant at a look is decided, and not tested again (docs/preregistration.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtr

from aiayn.config import Variations
from aiayn.evaluation import interim_looks
from aiayn.evaluation.contrasts import SCALES, Design
from aiayn.evaluation.significance import LEVEL
from aiayn.paper.findings import Statement
from aiayn.results.comparison import Comparison

Floats = npt.NDArray[np.float64]
Z = np.arange(0, 12, 0.02)  # grid of corrected p-values, interpolated in between


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """A family of contrasts over models.

    Attributes:
        weights: [tests, models], a row for each contrast.
        effects: of each model, on the measure's scale.
        noise: standard deviation over seeds of each model's independent noise.
        seed_noise: standard deviation over seeds of the shared term.
        looks: the numbers of seeds at the looks of each test.
        margins: of equivalence, of each test; None for a test of a difference.
    """

    weights: Floats
    effects: Floats
    noise: Floats
    looks: Sequence[tuple[int, ...]]
    margins: Sequence[float | None]
    seed_noise: float = 0.0

    def decided(self, families: int, generator: np.random.Generator) -> npt.NDArray[np.bool_]:
        """[families, tests]: which tests are decided after all looks, by Holm's procedure."""
        seeds = max(looks[-1] for looks in self.looks)
        measured = (
            self.effects[:, None]
            + self.seed_noise * generator.standard_normal((families, 1, seeds))
            + self.noise[:, None] * generator.standard_normal((families, self.noise.size, seeds))
        )
        differences = np.einsum("tm,fms->fts", self.weights, measured)
        found = np.zeros(differences.shape[:2], dtype=bool)
        p_values = np.ones(found.shape)
        for look in range(max(map(len, self.looks))):
            p_values = np.where(found, p_values, self._corrected(differences, look))
            found = _holm(p_values)
        return found

    def _corrected(self, differences: Floats, look: int) -> Floats:
        """[families, tests]: p-values at a look, or a test's last one, corrected for all looks."""
        corrected = np.empty(differences.shape[:2])
        for test, (looks, margin) in enumerate(zip(self.looks, self.margins, strict=True)):
            seeds = looks[min(look, len(looks) - 1)]
            read = differences[:, test, :seeds]
            value = np.abs(read.mean(axis=1))
            error = read.std(axis=1, ddof=1) / np.sqrt(seeds)
            distance = value if margin is None else margin - value
            p_value = np.minimum(1, 2 * stdtr(seeds - 1, -distance / error))
            overall = np.exp(np.interp(-ndtri(p_value / 2), Z, _log_overall(looks, seeds)))
            corrected[:, test] = overall if margin is None else overall / 2
        return corrected


def from_pilot(
    pilot: Comparison, claims: Mapping[str, Statement], variations: Variations, share: float = 1.0
) -> Simulation:
    """A simulation of a declared design, with a pilot's effects and paired standard deviations.

    Args:
        claims: statements about models, not about decoding modes.
        share: factor on the pilot's effects, which selection has biased upwards.
    """
    means, spreads = zip(
        *(pilot_contrast(pilot, statement) for statement in claims.values()), strict=True
    )
    designs = [Design.of(variations, key) for key in claims]
    return Simulation(
        weights=np.eye(len(claims)),
        effects=share * np.array(means),
        noise=np.array(spreads),
        looks=[design.looks for design in designs],
        margins=[
            design.margins[statement.measure] if statement.claim == "equal" else None
            for design, statement in zip(designs, claims.values(), strict=True)
        ],
    )


def pilot_contrast(pilot: Comparison, statement: Statement) -> tuple[float, float]:
    """A contrast's mean and standard deviation over a pilot's seeds, on the measure's scale."""
    names = {pilot.base if row == "base" else row: w for row, w in statement.rows.items()}
    seeds = set.intersection(*(set(pilot.models[name].seeds) for name in names))
    forward = SCALES[statement.measure].forward
    differences = [
        sum(
            weight * forward(getattr(pilot.models[name].seeds[seed], statement.measure))
            for name, weight in names.items()
        )
        for seed in sorted(seeds)
    ]
    return float(np.mean(differences)), float(np.std(differences, ddof=1))


def _holm(p_values: Floats) -> npt.NDArray[np.bool_]:
    """[families, tests]: which tests are significant by Holm's procedure."""
    order = np.argsort(p_values, axis=1)
    steps = np.arange(p_values.shape[1], 0, -1)
    below = np.take_along_axis(p_values, order, axis=1) * steps < LEVEL
    found = np.zeros_like(below)
    np.put_along_axis(found, order, np.logical_and.accumulate(below, axis=1), axis=1)
    return found


@lru_cache
def _log_overall(looks: tuple[int, ...], seeds: int) -> Floats:
    """The logarithms of the corrected p-values at Z."""
    p_values = 2 * ndtr(-Z)
    return np.log([interim_looks.overall(p_value, looks, seeds) for p_value in p_values])
