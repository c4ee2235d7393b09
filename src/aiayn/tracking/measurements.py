"""What is known of a run from elsewhere: its model's costs, and how it stands to table 3's base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.tracking.names import RunIdentity
from aiayn.tracking.results import read_json


@dataclass(frozen=True)
class Measurements:
    """profiles/models.json and comparisons/table_3.json; empty before their stages have run."""

    profile: Mapping[str, Any]
    comparison: Mapping[str, Any]

    @classmethod
    def read(cls, root: Path) -> Measurements:
        """Those below `root`. Raises DataError if a file is damaged."""
        return cls(
            read_json(root / "profiles/models.json"), read_json(root / "comparisons/table_3.json")
        )

    def of(self, identity: RunIdentity) -> Iterator[tuple[str, float]]:
        """Metrics of a run.

        work/ has the model's parameters, and the FLOPs of a pair of the profile's
        `sentence_pieces` a side. `bleu_difference` is the run's BLEU less the base's.
        """
        costs = self.profile.get("models", {}).get(identity.model, {}).get(identity.task, {})
        if "parameters" in costs:
            yield "work/parameters", float(costs["parameters"])
        for kind, flops in costs.get("pair_flops", {}).items():
            yield f"work/pair_flops_{kind}", float(flops)
        seeds = self.comparison.get("models", {}).get(identity.model, {}).get("seeds", {})
        for entry in seeds.values():
            if entry.get("run") == identity.run:
                for key in ("difference", "p_value"):
                    if key in entry:
                        split = self.comparison["split"]
                        yield f"{split}/bleu_{key}", float(entry[key])
