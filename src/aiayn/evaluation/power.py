"""How often a design's tests are right and wrong, by simulation.

A measure of a model trained from a seed is simulated as effect + seed + noise: the seed's part is
the same for all models, as they share batches and initial weights; the noise is a model's own.
Every look is taken, and a statement that is significant at one of them counts as decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from aiayn.evaluation import interim_looks
from aiayn.evaluation.significance import LEVEL

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """A family of contrasts over models.

    Attributes:
        weights: [tests, models], a row for each contrast; rows add up to 0.
        effects: of each model, on the measure's scale.
        noise: standard deviation over seeds of each model's own part.
        seed_noise: standard deviation over seeds of the part that models share.
        looks: numbers of seeds at which p-values are read; one number is one look.
        margins: of each test; None of a test for a difference.
    """

    weights: Floats
    effects: Floats
    noise: Floats
    looks: tuple[int, ...]
    seed_noise: float = 0.0
    margins: Sequence[float | None] | None = None

    def decided(self, families: int, generator: np.random.Generator) -> npt.NDArray[np.bool_]:
        """[families, tests]: which tests are significant at one of the looks, Holm over all."""
        models, seeds = self.noise.size, self.looks[-1]
        measured = (
            self.effects[:, None]
            + self.seed_noise * generator.standard_normal((families, 1, seeds))
            + self.noise[:, None] * generator.standard_normal((families, models, seeds))
        )
        differences = np.einsum("tm,fms->fts", self.weights, measured)
        found = np.zeros(differences.shape[:2], dtype=bool)
        for look in self.looks:
            if look > 1:
                found |= self._significant(differences[..., :look], look)
        return found

    def _significant(self, differences: Floats, look: int) -> npt.NDArray[np.bool_]:
        """By Holm's procedure, each of whose steps has its own level at this look."""
        p_values, tests = self._p_values(differences), differences.shape[1]
        levels = [
            interim_looks.nominal(LEVEL / (tests - rank), self.looks, look) for rank in range(tests)
        ]
        order = np.argsort(p_values, axis=1)
        below = np.take_along_axis(p_values, order, axis=1) < np.array(levels)
        passed = np.logical_and.accumulate(below, axis=1)
        found = np.zeros_like(passed)
        np.put_along_axis(found, order, passed, axis=1)
        return found

    def _p_values(self, differences: Floats) -> Floats:
        """Two-sided; of equality within a margin, twice the larger of two one-sided tests'."""
        count = differences.shape[-1]
        value = np.abs(differences.mean(axis=-1))
        error = differences.std(axis=-1, ddof=1) / np.sqrt(count)
        p_values = 2 * stdtr(count - 1, -value / error)
        for test, margin in enumerate(self.margins or ()):
            if margin is not None:
                distance = (margin - value[:, test]) / error[:, test]
                p_values[:, test] = stdtr(count - 1, -distance)
        return np.asarray(p_values)
