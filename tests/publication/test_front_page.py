"""What README says of real language is what the reproductions' own tables say."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_row_stands_in_a_reproductions_table() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text[text.index("## What real language says") : text.index("## Two commands")]
    rows = [line for line in shown.splitlines() if line.startswith("|") and "--" not in line]
    tables = re.findall(r"\((reproductions/\w+/reports/tables/findings\.md)\)", shown)
    printed = {line for path in tables for line in (ROOT / path).read_text("utf-8").splitlines()}
    assert len(rows) > 5
    assert not set(rows) - printed
