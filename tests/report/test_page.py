"""How a page shows text from data."""

from __future__ import annotations

from pathlib import Path

from aiayn.report.page import render


def test_control_characters_are_shown_as_code_points(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("{{ text }}\n")
    text = "a\x00b\x1b[2J\u202ec\u2066 <i>\tä 👩\u200d👧\n"
    shown = "aU+0000bU+001B[2JU+202EcU+2066 &lt;i&gt;\tä 👩\u200d👧\n"
    assert render("a.html", tmp_path, text=text) == f"{shown}\n"
