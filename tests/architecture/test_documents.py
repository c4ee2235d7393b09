"""Every file that the hand-written pages name exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEVIATIONS = ROOT / "docs/deviations.md"
# in backticks, with a folder; capitals stand for names of runs and tasks
FILE = re.compile(r"`((?:src|conf|tests|docs|pipeline|benchmarks)/[\w./-]*)`")


def files(text: str) -> list[str]:
    return FILE.findall(text)


def rows(page: str) -> Iterator[list[str]]:
    """The cells of every row of the page's tables, except headings and rules."""
    lines = page.splitlines()
    for before, line in pairwise(lines):
        is_entry = line.startswith("| ") and not line.startswith("| ---")
        if is_entry and before.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def test_every_deviation_names_the_file_that_implements_it() -> None:
    page = DEVIATIONS.read_text(encoding="utf-8")
    entries = list(rows(page))
    assert len(entries) > 40
    for entry in entries:
        assert len(entry) == 5, entry
        assert files(entry[-1]), entry
    sections = page.split("\n## ")[1:]
    assert all(files(section) for section in sections)


@pytest.mark.parametrize(
    "page",
    [DEVIATIONS, *(ROOT / "docs" / n for n in ("paper_map.md", "scale_out.md"))],
    ids=lambda page: page.name,
)
def test_every_named_file_exists(page: Path) -> None:
    names = files(page.read_text(encoding="utf-8"))
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []
