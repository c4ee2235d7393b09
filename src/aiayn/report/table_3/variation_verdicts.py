"""Table 3's BLEU and perplexities, each held against ours where ours is the paper's experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

from aiayn.config import Config
from aiayn.paper import Printed, Recipe, VariationRow, recipe_of
from aiayn.report.evidence import Evidence
from aiayn.report.parts.departures import judge_run
from aiayn.report.parts.section import Entry
from aiayn.report.parts.tables import Cell
from aiayn.report.parts.verdict import TOLERANCE_BLEU, TOLERANCE_PERPLEXITY
from aiayn.results.comparison import Variation
from aiayn.results.scores import SplitScores


def model_name(config: Config, row: str) -> str:
    """The model of ours for a row of the paper: of the same name, but for the base."""
    return config.variations.base if row == "base" else row


def verdicts(evidence: Evidence) -> Iterator[Entry]:
    """Of every row BLEU, ours by the protocol that table 2 uses for the pair, and perplexity."""
    paper, found = evidence.paper, evidence.variations
    protocol = paper.table_2_columns["en-de"].protocol
    for key, printed in paper.table_3.items():
        variation = found.models.get(model_name(evidence.config, key)) if found else None
        run = variation.run if variation else ""
        dev = (evidence.scores.get(run) or {}).get("dev")
        row = f"{_words(key, printed)}: "
        yield _entry(
            f"{row}BLEU",
            printed.bleu,
            _mean_bleu(evidence, variation, protocol),
            TOLERANCE_BLEU,
            recipe_of(key), evidence, run, dev,
        )  # fmt: skip
        ours = variation.perplexity if variation else None
        yield _entry(
            f"{row}perplexity",
            printed.perplexity,
            _Ours(ours.mean, f"{ours.source}.mean") if ours else None,
            TOLERANCE_PERPLEXITY * printed.perplexity.value,
            recipe_of(key), evidence, run, dev,
        )  # fmt: skip


@dataclass(frozen=True)
class _Ours:
    value: float
    source: str  # of one figure alone


def _mean_bleu(evidence: Evidence, variation: Variation | None, protocol: str) -> _Ours | None:
    """Over the seeds, as a variation's perplexity is."""
    runs = [seed.run for seed in variation.seeds.values()] if variation else []
    splits = [(evidence.scores.get(run) or {}).get("dev") for run in runs]
    found = [bleu for dev in splits if dev and (bleu := dev.scores.get(protocol))]
    if not found:
        return None
    source = f"{found[0].source}.value" if len(found) == 1 else ""
    return _Ours(mean(bleu.value for bleu in found), source)


def _entry(
    what: str,
    printed: Printed,
    ours: _Ours | None,
    tolerance: float,
    recipe: Recipe,
    evidence: Evidence,
    run: str,
    dev: SplitScores | None,
) -> Entry:
    judgement = judge_run(
        printed.value,
        ours.value if ours else None,
        tolerance=tolerance,
        recipe=recipe,
        config=evidence.config,
        run=run,
        scored=dev,
        manifests=evidence.manifests,
    )
    cell = None
    if ours:
        sources = (ours.source,) if ours.source else ()
        cell = Cell(f"{ours.value:.2f}", sources=sources, run=run)
    return Entry(
        what=what,
        paper=printed.text,
        ours=cell if judgement.judged else None,
        verdict=judgement.verdict,
        reasons=judgement.reasons,
        of_training=True,
    )


def _words(key: str, printed: VariationRow) -> str:
    if key in ("base", "big"):
        return key
    cells = ", ".join(f"{column} {cell.text}" for column, cell in printed.columns.items())
    return f"({printed.group}) {cells}"
