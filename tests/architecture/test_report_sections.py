"""Every section of the report has the same interface."""

from __future__ import annotations

import inspect

from aiayn.report.page import SECTIONS


def test_every_section_is_made_from_the_evidence_alone() -> None:
    for section in SECTIONS.values():
        assert section.__name__ == "section"
        assert list(inspect.signature(section).parameters) == ["evidence"]
