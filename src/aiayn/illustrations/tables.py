"""Which tables there are, and how they are written."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping

from aiayn.illustrations import formulas

FORMULAS: Mapping[str, Callable[[], Iterable[Mapping[str, int | float]]]] = {
    "positions": formulas.positions,
    "similarity": formulas.similarity,
    "subsequent_mask": formulas.subsequent_mask,
    "learning_rates": formulas.learning_rates,
    "smoothed_targets": formulas.smoothed_targets,
    "smoothing_penalty": formulas.smoothing_penalty,
}


def csv_text(lines: Iterable[Mapping[str, object]]) -> str:
    """Lines, at least one, that share their keys, under a line of headings."""
    held = list(lines)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(held[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(held)
    return text.getvalue()
