"""The hand-written pages say where things are: every file that they name exists."""

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
    """The cells of every row of the page's tables, headings and rules left out."""
    lines = page.splitlines()
    for before, line in pairwise(lines):
        is_entry = line.startswith("| ") and not line.startswith("| ---")
        if is_entry and before.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def test_every_deviation_names_the_file_that_does_it() -> None:
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
    named = files(page.read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_readme_shows_what_the_reproductions_found() -> None:
    """No number in it was typed by hand: line for line, all claims, and of the published
    figures, each with a link to where it came from, those that it chose."""
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    section = shown.partition("\n## Results on real text\n")[2].partition("\n## ")[0]
    statements, published = (
        [line for line in found.splitlines() if line.startswith("|")]
        for found in section.split("\n\n")
        if found.startswith("|")
    )
    found = findings("multi30k_table3", "| Claim")
    assert statements == [line for line in found if "not run at this scale" not in line]
    assert any("**" in line for line in statements)
    for line in published[2:]:
        row, _, link = line.removesuffix(" |").rpartition(" | ")
        name = link[1:].partition("]")[0]
        assert link == f"[{name}](reproductions/{name}/reports/tables/findings.md)"
        assert f"{row} |" in findings(name, "| System")
    assert len(published) > 2


def findings(name: str, heading: str) -> list[str]:
    """The lines of one of a reproduction's two tables of findings."""
    file = ROOT / "reproductions" / name / "reports/tables/findings.md"
    table = heading + file.read_text(encoding="utf-8").partition(f"\n{heading}")[2]
    return table.partition("\n\n")[0].splitlines()
