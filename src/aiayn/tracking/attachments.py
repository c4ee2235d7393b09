"""Small files that make MLflow worth browsing: of each run its own, and the report once."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

SAMPLES = 20  # sentences a set
REPORT = ("index.html", "figures/*.svg", "tables/*")
LARGEST = 4 << 20  # bytes; what is larger is left to reports/


def of_run(root: Path, run: str, task: str) -> dict[str, bytes]:
    """Sample outputs and the score file of `run`, by artifact path."""
    files = {}
    for hypotheses in sorted((root / "outputs" / run).glob("*.hypotheses")):
        table = _samples(root / "data" / "text" / task, hypotheses)
        if table is not None:
            files[f"samples/{hypotheses.stem}.csv"] = table.encode()
    scores = root / "scores" / f"{run}.json"
    if scores.exists():
        files["scores.json"] = scores.read_bytes()
    return files


def of_report(root: Path) -> dict[str, bytes]:
    """The page, figures and tables below reports/, by artifact path; none before the stage ran."""
    reports = root / "reports"
    paths = itertools.chain.from_iterable(sorted(reports.glob(pattern)) for pattern in REPORT)
    return {
        path.relative_to(reports).as_posix(): path.read_bytes()
        for path in paths
        if path.stat().st_size <= LARGEST
    }


def _samples(text: Path, hypotheses: Path) -> str | None:
    """The first sentences of a set, translated, as CSV, which MLflow shows as a table."""
    files = (text / f"{hypotheses.stem}.source", text / f"{hypotheses.stem}.target", hypotheses)
    if not all(file.exists() for file in files):
        return None
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("source", "reference", "hypothesis"))
    writer.writerows(itertools.islice(zip(*map(_lines, files), strict=False), SAMPLES))
    return table.getvalue()


def _lines(path: Path) -> Iterator[str]:
    """Lines without their end; only "\\n" separates them."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            yield line.removesuffix("\n")
