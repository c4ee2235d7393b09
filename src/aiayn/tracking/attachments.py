"""Small files that make a run browsable: figures, sample translations, scores with signatures."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

SAMPLES = 20  # sentences a test set
FIGURE_BYTES = 1 << 20  # larger ones are left to the report


def gather(root: Path, run: str, task: str, folder: Path) -> str | None:
    """Copy what there is for `run` into `folder`, a new or empty one.

    Returns:
        A digest of names and contents; None if there was nothing.
    """
    for figure in sorted((root / "reports" / "figures").glob("*.svg")):
        if figure.stat().st_size <= FIGURE_BYTES:
            (folder / "figures").mkdir(exist_ok=True)
            shutil.copyfile(figure, folder / "figures" / figure.name)
    for hypotheses in sorted((root / "outputs" / run).glob("*.hypotheses")):
        table = _samples(root / "data" / "text" / task, hypotheses)
        if table is not None:
            (folder / "samples").mkdir(exist_ok=True)
            (folder / "samples" / f"{hypotheses.stem}.csv").write_text(table, encoding="utf-8")
    scores = root / "scores" / f"{run}.json"
    if scores.exists():
        shutil.copyfile(scores, folder / "scores.json")
    return _digest(folder)


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


def _digest(folder: Path) -> str | None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest() if files else None
