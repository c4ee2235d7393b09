"""What a use beyond the paper adds to its section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiayn.config import Config
from aiayn.report.parts.section import Figure
from aiayn.report.parts.tables import Table
from aiayn.results.scores import SplitScores

# the lines of the section's CSV: a figure each
FIELDS = (
    "use", "run", "model", "split", "test_set", "number", "measure", "value", "low", "high",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Part:
    """Tables, figures, and the lines of the tables' CSV, each with all FIELDS; none where the scale
    has no such run."""

    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    records: tuple[Mapping[str, str], ...] = ()


def record(use: str, config: Config, run: str, split: str, scored: SplitScores) -> dict[str, str]:
    """A line of the CSV: who was scored on what, with the measure and its numbers still empty."""
    return dict.fromkeys(FIELDS, "") | {
        "use": use,
        "run": run,
        "model": config.run(run).model,
        "split": split,
        "test_set": "+".join(scored.test_set.corpora),
        "number": f"{scored.test_set.pairs}",
    }
