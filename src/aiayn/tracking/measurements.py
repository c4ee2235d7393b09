"""What is known of a run from elsewhere: its model's costs, and how it stands to table 3's base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aiayn.paper.claims import agreement
from aiayn.results import comparison, places
from aiayn.results.comparison import Comparison, Variation
from aiayn.results.json_files import if_there
from aiayn.results.profiles import ModelsProfile, read_models
from aiayn.tracking.names import RunIdentity


@dataclass(frozen=True)
class Measurements:
    """The profile of models and table 3's comparison; None before their stages ran."""

    profile: ModelsProfile | None
    comparison: Comparison | None

    @classmethod
    def read(cls, root: Path) -> Measurements:
        """Those below `root`. Raises ProfileError or ScoreError if a file is damaged."""
        return cls(
            if_there(read_models, root / places.MODELS_PROFILE),
            if_there(comparison.read, root / places.TABLE_3),
        )

    def of(self, identity: RunIdentity) -> Iterator[tuple[str, float]]:
        """Metrics of a run.

        work/ has the model's parameters, and the FLOPs of a pair of the profile's
        `sentence_pieces` a side. Beside table 3's base stand, of the row, `bleu_difference` and
        `perplexity_ratio` over seeds with their corrected p-values, and of the run alone
        `bleu_sentences_p`, sacreBLEU's paired bootstrap test.
        """
        models = self.profile.models if self.profile else {}
        cost = models.get(identity.model, {}).get(identity.task)
        if cost:
            yield "work/parameters", float(cost.parameters)
            yield "work/pair_flops_forward", float(cost.pair_flops.forward)
            yield "work/pair_flops_training", float(cost.pair_flops.training)
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
