"""The table of all reproductions, from their folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aiayn.commands.publication import reproduction_page, reproductions_table
from aiayn.commands.publication.reproduction import Reproduction, reproductions
from aiayn.commands.publication.reproductions_table import overview, render, statements
from aiayn.paper.findings import STATEMENTS
from aiayn.results import comparison, paths
from aiayn.results.comparison import Comparison, Effect, Finding, Measure, Variation
from aiayn.results.scores import TestSet

ROOT = Path(__file__).parents[3]
RESULT = "en-de.base bleu 25.00 (24.00 to 26.00)"


def rows(folder: Path) -> list[dict[str, str]]:
    table = overview(reproductions(folder))
    return [
        dict(zip(table.headings, (cell.text for cell in row.cells), strict=True))
        for row in table.rows
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


def test_only_the_first_of_many_results_are_listed(
    reproduction: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproductions_table, "SHOWN", 2)
    path = reproduction / "scores/en-de.base.json"
    record = json.loads(path.read_text())
    for name in ("en-de.big", "en-de.base-s2"):
        path.with_name(f"{name}.json").write_text(json.dumps(record | {"run": name}))
    (row,) = rows(tmp_path)
    assert row["Test sets"] == f"{RESULT}; {RESULT.replace('base', 'big')}; and 1 more"


def test_the_verdicts_on_the_statements(reproduction: Path, tmp_path: Path) -> None:
    """A reproduction that tests any has a column, empty where it does not test one."""
    for name in ("compared", "tests_nothing"):
        shutil.copytree(reproduction, tmp_path / name)
    lower = Effect(value=-1.26, low=-2.0, high=-0.5, p_value=0.01, corrected=0.04, count=5)
    not_run = Finding(verdict="not run at this scale")
    findings = {
        "one_head": not_run,
        "many_heads": Finding(verdict="holds at this scale", effect=lower),
        "smoothing_perplexity": Finding(
            verdict="does not hold at this scale", effect=lower.replace(value=0.9)
        ),
        "search": Finding(verdict="undecided"),
    }
    compare(tmp_path / "compared", findings)
    compare(tmp_path / "tests_nothing", {"one_head": not_run})
    found = statements(reproductions(tmp_path))
    assert found.headings == ("Claim", "Paper", "compared")
    cells = [tuple(cell.text for cell in row.cells) for row in found.rows]
    by_text = {text: (claimed, here) for text, claimed, here in cells}
    expected = {
        "one_head": ("BLEU lower", ""),
        "many_heads": ("BLEU lower", "−1.26, holds at this scale"),
        "smoothing_perplexity": ("perplexity higher", "×0.90, does not hold at this scale"),
        "search": ("BLEU higher", "undecided"),
        "big": ("BLEU higher", ""),
    }
    for key, texts in expected.items():
        assert by_text[STATEMENTS[key].text] == texts
    assert len(by_text) == len(STATEMENTS)


def compare(folder: Path, findings: dict[str, Finding]) -> None:
    """A comparison of a base alone, with these findings."""
    base = Variation(perplexity=Measure(mean=9.0), bleu=Measure(mean=20.0), seeds={})
    sentences = TestSet(corpora={}, pairs=2, sha256={})
    record = Comparison(
        task="en-de", base="base", split="dev", test_set=sentences, signature="nrefs:1",
        models={"base": base}, modes={}, findings=findings,
    )  # fmt: skip
    (folder / paths.TABLE_3).parent.mkdir(exist_ok=True)
    comparison.write(folder / paths.TABLE_3, record)


def test_the_published_pages_are_up_to_date() -> None:
    folder = ROOT / paths.REPRODUCTIONS
    shown = (folder / "README.md").read_text(encoding="utf-8")
    assert shown == render(reproductions(folder))
    for path in folder.glob("*/params.yaml"):
        page = path.with_name("README.md").read_text(encoding="utf-8")
        assert page == reproduction_page.render(Reproduction(path.parent))
        assert "\n| {} |".format(path.parent.name.replace("_", r"\_")) in shown
