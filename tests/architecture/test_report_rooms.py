"""The report's rooms: no two modules of one name, and every section of one shape."""

from __future__ import annotations

import inspect
from pathlib import Path

from aiayn.report.page.contents import SECTIONS

REPORT = Path(__file__).parents[2] / "src/aiayn/report"


def test_no_two_modules_have_one_name() -> None:
    names = [path.stem for path in REPORT.rglob("*.py") if path.stem != "__init__"]
    assert sorted(names) == sorted(set(names))


def test_every_section_is_made_from_the_evidence_alone() -> None:
    for section in SECTIONS.values():
        assert section.__name__ == "section"
        assert list(inspect.signature(section).parameters) == ["evidence"]
