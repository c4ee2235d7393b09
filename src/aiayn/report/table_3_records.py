"""Table 3 as data: the lines of tables/table_3.csv."""

from __future__ import annotations

import pandas as pd

from aiayn.config import Config
from aiayn.report.evidence import Evidence
from aiayn.results import paths
from aiayn.results.frames import comparisons_frame

MEASURES = ("perplexity", "bleu")
OURS_ALONE = "own"
# of ours as in results.frames.SCHEMAS["comparisons"]; sentences_p are sacreBLEU's paired bootstrap
# tests, seed by seed
FIELDS = [
    "origin", "row", "group", "model", "runs", "split", "test_set", "pairs", "measure", "mean",
    "sd", "n", "effect", "low", "high", "p_value", "p_corrected", "claim", "outcome", "sentences_p",
]  # fmt: skip


def model_name(config: Config, row: str) -> str:
    """Our model for a row of the paper: of the same name, except the base."""
    return config.variations.base if row == "base" else row


def records(evidence: Evidence) -> pd.DataFrame:
    """The paper's figures, then ours, a line for each measure of each row."""
    paper, compared = evidence.paper, evidence.variations
    printed = pd.DataFrame(
        {
            "origin": "paper",
            "row": key,
            "group": row.group,
            "split": paths.DEV,
            "test_set": "+".join(paper.table_3_test_set.corpora),
            "pairs": paper.table_3_test_set.pairs,
            "measure": measure,
            "mean": getattr(row, measure).text,
        }
        for key, row in paper.table_3.items()
        for measure in MEASURES
    )
    if compared is None:
        return printed.reindex(columns=FIELDS)
    rows = {model_name(evidence.config, key): key for key in paper.table_3}
    groups = {model: paper.table_3[key].group for model, key in rows.items()}
    ours = comparisons_frame(compared)
    seeds = {model: variation.seeds.values() for model, variation in compared.models.items()}
    ours = ours.assign(
        origin="ours",
        row=ours["model"].map(rows),
        group=ours["model"].map(groups).fillna(OURS_ALONE),
        runs=ours["model"].map(lambda name: " ".join(seed.run for seed in seeds[name])),
        split=compared.split,
        test_set="+".join(compared.test_set.corpora),
        pairs=compared.test_set.pairs,
        sentences_p=ours["model"]
        .map(lambda name: " ".join(f"{s.sentences.p_value}" for s in seeds[name] if s.sentences))
        .where(ours["measure"] == "bleu", ""),
    )
    if compared.split != paths.DEV:  # BLEU's; perplexity is always that of dev
        dev = evidence.manifests[compared.task].splits[paths.DEV]
        of_dev = ours["measure"] == "perplexity"
        ours.loc[of_dev, "split"] = paths.DEV
        ours.loc[of_dev, "test_set"] = "+".join(dev.corpora)
        ours.loc[of_dev, "pairs"] = dev.pairs
    return pd.concat([printed, ours]).reindex(columns=FIELDS)
