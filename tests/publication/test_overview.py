"""The table of all reproductions, from what each folder holds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aiayn.publication import overview
from aiayn.publication.overview import HEADINGS, table
from aiayn.records import places

ROOT = Path(__file__).parents[2]
RESULT = "en-de.base bleu 25.00 (24.00 to 26.00)"


def rows(folder: Path) -> list[dict[str, str]]:
    return [
        dict(zip(HEADINGS, (cell.text for cell in row.cells), strict=True))
        for row in table(folder).rows
    ]


def test_a_row_for_each(reproduction: Path, tmp_path: Path) -> None:
    shutil.copytree(reproduction, tmp_path / "another")
    (tmp_path / "not-one").mkdir()
    found = rows(tmp_path)
    assert [row["Reproduction"] for row in found] == ["another", "toy"]
    assert found[0] == {
        "Reproduction": "another", "Scale": "toy", "Machine": "cpu: 2 x An Invented Processor",
        "torch": "2.13.0", "Commit": "4f2a4f2a-dirty", "Runs": "1", "Test sets": RESULT,
        "Findings": "–",
    }  # fmt: skip


def test_of_many_results_it_has_the_first(
    reproduction: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "SHOWN", 2)
    path = reproduction / "scores/en-de.base.json"
    held = json.loads(path.read_text())
    for name in ("en-de.small", "en-de.tiny"):
        path.with_name(f"{name}.json").write_text(json.dumps(held | {"run": name}))
    (row,) = rows(tmp_path)
    assert row["Test sets"] == f"{RESULT}; {RESULT.replace('base', 'small')}; and 1 more"


def test_the_repositorys_own_are_all_in_its_table() -> None:
    folder = ROOT / places.REPRODUCTIONS
    shown = (folder / "README.md").read_text(encoding="utf-8")
    for path in folder.glob("*/params.yaml"):
        assert "\n| {} |".format(path.parent.name.replace("_", r"\_")) in shown
