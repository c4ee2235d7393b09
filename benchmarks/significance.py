"""The declared tests by long simulations: family-wise error and power.

python -m benchmarks.significance prints the family-wise error in four settings (200,000 families
each, a minute) and the table of docs/preregistration.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import yaml
from benchmarks.power import Simulation, from_pilot, pilot_contrast

from aiayn.config import Variations
from aiayn.paper.findings import STATEMENTS, Statement, statements
from aiayn.results import comparison, paths

ROOT = Path(__file__).parents[1]
PILOT = ROOT / "reproductions/multi30k_table3" / paths.TABLE_3
LOOKS = (6, 10)
FAMILIES = 200_000


def declared(name: str) -> Variations:
    """The data form of a text, as of no commit yet."""
    form = yaml.safe_load((ROOT / f"conf/preregistration/{name}.yaml").read_text(encoding="utf-8"))
    form["preregistration"]["commit"] = "0" * 7
    return Variations.model_validate({"task": "en-de", "base": "base", **form})


def of_models(variations: Variations) -> dict[str, Statement]:
    """The declared statements about models."""
    claims = statements(variations.measures)
    return {key: claim for key, claim in claims.items() if claim.over == "models"}


def under_the_null(spread: str, seed_noise: float) -> Simulation:
    """The statements' contrasts without any difference; perplexity's models are others than BLEU's.

    Args:
        spread: "equal" or "unequal" standard deviations of the models.
    """
    claims = [claim for claim in STATEMENTS.values() if claim.over == "models"]
    models = sorted({(claim.measure, row) for claim in claims for row in claim.rows})
    weights = [
        [claim.rows.get(row, 0.0) * (claim.measure == measure) for measure, row in models]
        for claim in claims
    ]
    noise = {
        "equal": np.full(len(models), 0.5),
        "unequal": np.random.default_rng(0).uniform(0.25, 1.0, len(models)),
    }[spread]
    return Simulation(
        weights=np.array(weights), effects=np.zeros(len(models)), noise=noise,
        seed_noise=seed_noise, looks=[LOOKS] * len(claims), margins=[None] * len(claims),
    )  # fmt: skip


def power_table(families: int) -> Iterator[str]:
    """Lines of the table in docs/preregistration.md."""
    pilot = comparison.read(PILOT)
    designs = [declared("tatoeba"), declared("multi30k")]
    claims = of_models(designs[0])
    power = [
        from_pilot(pilot, claims, design, share).decided(families, np.random.default_rng(41))
        for design in designs
        for share in (1.0, 0.7)
    ]
    for test, (key, claim) in enumerate(claims.items()):
        effect, sd = pilot_contrast(pilot, claim)
        cells = " | ".join(f"{decided[:, test].mean():.2f}" for decided in power)
        measure = {"bleu": "BLEU", "perplexity": "log-perplexity"}[claim.measure]
        yield f"| {key} | {measure} | {effect:+.3f} | {sd:.3f} | {cells} |".replace("-0.", "−0.")


def main() -> None:
    for spread in ("equal", "unequal"):
        for seed_noise in (0.0, 0.5):
            false = under_the_null(spread, seed_noise).decided(FAMILIES, np.random.default_rng(1))
            error = false.any(axis=1).mean()
            print(f"{spread} spreads, seed effect {seed_noise}: family-wise error {error:.4f}")
    print("\n".join(power_table(20_000)))


if __name__ == "__main__":
    main()
