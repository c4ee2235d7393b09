"""What is known of a run from elsewhere: its model's costs, and how it stands to table 3's base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.paper.claims import agreement
from aiayn.records import comparison, places
from aiayn.records.comparison import Comparison, Variation
from aiayn.records.json_files import if_there
from aiayn.tracking.names import RunIdentity
from aiayn.tracking.results import read_json


@dataclass(frozen=True)
class Measurements:
    """The profile of models and table 3's comparison; empty and None before their stages ran."""

    profile: Mapping[str, Any]
    comparison: Comparison | None

    @classmethod
    def read(cls, root: Path) -> Measurements:
        """Those below `root`. Raises DataError or ScoreError if a file is damaged."""
        return cls(
            read_json(root / places.MODELS_PROFILE),
            if_there(comparison.read, root / places.TABLE_3),
        )

    def of(self, identity: RunIdentity) -> Iterator[tuple[str, float]]:
        """Metrics of a run.

        work/ has the model's parameters, and the FLOPs of a pair of the profile's
        `sentence_pieces` a side. Beside table 3's base stand, of the row, `bleu_difference` and
        `perplexity_ratio` over seeds with their corrected p-values, and of the run alone
        `bleu_sentences_p`, sacreBLEU's paired bootstrap test.
        """
        costs = self.profile.get("models", {}).get(identity.model, {}).get(identity.task, {})
        if "parameters" in costs:
            yield "work/parameters", float(costs["parameters"])
        for kind, flops in costs.get("pair_flops", {}).items():
            yield f"work/pair_flops_{kind}", float(flops)
        if self.comparison is None or (row := self._row(identity)) is None:
            return
        split = self.comparison.split
        for name, effect in (
            ("bleu_difference", row.bleu.effect),
            ("perplexity_ratio", row.perplexity.effect),
        ):
            if effect:
                yield f"{split}/{name}", effect.value
                yield f"{split}/{name}_p", effect.corrected
        for seed in row.seeds.values():
            if seed.run == identity.run and seed.sentences:
                yield f"{split}/bleu_sentences_p", seed.sentences.p_value

    def tags(self, identity: RunIdentity) -> dict[str, str]:
        """What table 3 says of the run's row beside the base, as MLflow tags."""
        row = self._row(identity)
        if row is None:
            return {}
        return {
            f"{name}_moves": agreement(measure.claim, measure.outcome)
            for name, measure in (("bleu", row.bleu), ("perplexity", row.perplexity))
        }

    def _row(self, identity: RunIdentity) -> Variation | None:
        """The run's row of table 3; the base is none."""
        held = self.comparison
        if held is None or (identity.task, identity.model) == (held.task, held.base):
            return None
        return held.models.get(identity.model) if identity.task == held.task else None
