"""Small files that make MLflow worth browsing: of each run its own, and the report once."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path

from aiayn.results import places
from aiayn.results.text import read_lines

SAMPLES = 20  # sentences a set
REPORT = ("index.html", "figures/*.svg", "tables/*")
LARGEST = 4 << 20  # bytes; what is larger is left where it lies


def of_run(root: Path, run: str, task: str) -> dict[str, bytes]:
    """Sample outputs and the score file of `run`, by artifact path."""
    files = {}
    for hypotheses in sorted(root.glob(places.hypotheses(places.outputs(run), "*").as_posix())):
        table = _samples(root / places.text(task), hypotheses)
        if table is not None:
            files[f"samples/{hypotheses.stem}.csv"] = table.encode()
    scores = root / places.scores(run)
    if scores.exists():
        files["scores.json"] = scores.read_bytes()
    return files


def of_report(root: Path) -> dict[str, bytes]:
    """The page, figures and tables below reports/, by artifact path; none before the stage ran."""
    reports = root / places.REPORTS
    paths = itertools.chain.from_iterable(sorted(reports.glob(pattern)) for pattern in REPORT)
    return {
        path.relative_to(reports).as_posix(): path.read_bytes()
        for path in paths
        if path.stat().st_size <= LARGEST
    }


def _samples(text: Path, hypotheses: Path) -> str | None:
    """The first sentences of a set, translated, as CSV, which MLflow shows as a table."""
    files = (*(places.lines(text, hypotheses.stem, side) for side in places.SIDES), hypotheses)
    if not all(file.exists() for file in files):
        return None
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("source", "reference", "hypothesis"))
    writer.writerows(itertools.islice(zip(*map(read_lines, files), strict=False), SAMPLES))
    return table.getvalue()
