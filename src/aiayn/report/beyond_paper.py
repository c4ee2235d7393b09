"""The section of what the paper does not have: other uses of the same stages."""

from __future__ import annotations

import pandas as pd

from aiayn.report import classification, copied_sequences
from aiayn.report.cells import two_decimals
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.results.frames import scores_frame

USES = {"copying": "copying", "classification": "labels"}  # in the CSV, by the kind of the task
FIELDS = [
    "use", "run", "model", "split", "test_set", "number", "measure", "value", "low", "high",
]  # fmt: skip


def section(evidence: Evidence) -> Section:
    """All uses that the scale has, one after the other.

    Raises:
        DataError: texts, outputs or attention maps of a run are damaged, or do not belong together.
    """
    return Section(
        key="beyond",
        title="Beyond the paper",
        subtitle="the same graph, other tasks",
        lead="Tasks that the paper does not have, through the same stages. Nothing here is "
        "compared with the paper, or counted among its figures.",
        tables=(*copied_sequences.tables(evidence), *classification.tables(evidence)),
        records=_records(evidence),
        figures=(*copied_sequences.figures(evidence), *classification.figures(evidence)),
    )


def _records(evidence: Evidence) -> pd.DataFrame:
    scores = scores_frame(evidence.config, evidence.scores)
    scores = scores[scores["kind"].isin(list(USES))]
    scores = scores.assign(
        use=scores["kind"].map(USES),
        number=scores["pairs"],
        measure=scores["metric"],
        **{name: two_decimals(scores[name]) for name in ("value", "low", "high")},
    )
    return scores.sort_values("use", key=lambda uses: uses != "copying", kind="stable")[FIELDS]
