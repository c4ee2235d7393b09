"""The table of all reproductions, from what each folder holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from aiayn.records import places
from aiayn.verification.published import HEADINGS, table

Side = Callable[..., Path]


def test_a_row_for_each(side: Side, tmp_path: Path) -> None:
    for name in ("b", "a"):
        (side(name, device="cpu: 2 x An Invented Processor") / "params.yaml").write_text(
            f"scale: {name}-scale\n"
        )
    (tmp_path / "not-one").mkdir()
    found = table(tmp_path)
    rows = [dict(zip(HEADINGS, (c.text for c in row.cells), strict=True)) for row in found.rows]
    assert [row["Reproduction"] for row in rows] == ["a", "b"]
    assert rows[0] == {
        "Reproduction": "a", "Scale": "a-scale", "Machine": "cpu: 2 x An Invented Processor",
        "torch": "2.13.0", "Commit": "c", "Runs": "1",
        "Test sets": "en-de.base bleu 25.00 (24.00 to 26.00)", "Findings": "–",
    }  # fmt: skip


def test_the_repositorys_own_are_all_in_its_table(root: Path) -> None:
    folder = root / places.REPRODUCTIONS
    shown = (folder / "README.md").read_text(encoding="utf-8")
    for path in folder.glob("*/params.yaml"):
        assert f"\n| {path.parent.name} |" in shown
