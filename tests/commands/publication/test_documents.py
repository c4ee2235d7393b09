"""The results in README.md and docs/results.md are those of the records."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from aiayn.commands.publication import documents
from aiayn.commands.publication.documents import BEGIN, END, README, RESULTS, Records
from aiayn.errors import DataError
from aiayn.paper.findings import STATEMENTS
from aiayn.report.drawing import INK

pytestmark = pytest.mark.slow  # reads all reproductions

ROOT = Path(__file__).parents[3]
# a score, a deviation or an effect, which the records have with two decimals
RESULT = re.compile(r"(?<!Python )\b\d+\.\d\d\b|±")


@pytest.fixture(scope="module")
def rendered() -> dict[Path, str]:
    return documents.render(ROOT / "reproductions")


def test_every_page_is_up_to_date(rendered: dict[Path, str]) -> None:
    assert len(rendered) == 6
    for path, content in rendered.items():
        committed = (ROOT / path).read_text(encoding="utf-8")
        if path == README:
            committed = committed.partition(BEGIN)[2].partition(END)[0]
        assert committed == content, f"{path}: run make reproductions"


def test_no_result_is_typed_by_hand(rendered: dict[Path, str]) -> None:
    """Neither around the rendered part of README.md, nor in the templates."""
    readme = (ROOT / README).read_text(encoding="utf-8")
    assert RESULT.search(rendered[README])
    assert not RESULT.search(readme.replace(rendered[README], ""))
    templates = ROOT / "src/aiayn/commands/publication/templates"
    for template in templates.glob("*.md"):
        typed = re.sub(r"\{[{%].*?[}%]\}", "", template.read_text(encoding="utf-8"))
        assert not RESULT.search(typed), template.name


def test_the_first_screen_of_the_readme() -> None:
    lines = (ROOT / README).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 160
    assert lines.index("```") < 40
    assert lines[lines.index("```") + 1].startswith("make repro")


def test_the_figures_have_the_colours_of_both_themes(rendered: dict[Path, str]) -> None:
    for name in documents.DECLARED:
        for theme, colours in documents.THEMES.items():
            svg = rendered[Path(f"docs/figures/claims-{name}-{theme}.svg")]
            assert all(colour in svg for colour in colours)
            assert INK not in svg


def test_contradictions_are_those_of_the_same_claim() -> None:
    def findings(**verdicts: str) -> pd.DataFrame:
        return pd.DataFrame(verdicts.items(), columns=["finding", "verdict"])

    holds, fails = "holds at this scale", "does not hold at this scale"
    one = findings(dropout=fails, positions_bleu=holds, positions_perplexity="undecided", big=holds)
    other = findings(dropout=holds, positions_bleu="undecided", positions_perplexity=fails)
    assert documents.contradictions(one, other) == [STATEMENTS["dropout"].text]
    assert documents.contradictions(one, one) == []


def test_a_changed_record_changes_the_pages(rendered: dict[Path, str], tmp_path: Path) -> None:
    for folder in (ROOT / "reproductions").glob("*/"):
        if folder.name != "multi30k_long":
            (tmp_path / folder.name).symlink_to(folder)
    shutil.copytree(ROOT / "reproductions/multi30k_long", tmp_path / "multi30k_long")
    record = tmp_path / "multi30k_long/scores/en-fr.tiny.json"
    before = record.read_text()
    assert "61.27" in before
    record.write_text(before.replace("61.27", "62.27"))
    changed = documents.render(tmp_path)
    assert changed[README] == rendered[README].replace("61.27", "62.27")
    assert "| **62.27** (" in changed[RESULTS]


def test_a_missing_score() -> None:
    with pytest.raises(DataError, match=r"genia: no bleu of parsing\.small on test"):
        Records(ROOT / "reproductions").score("genia", "parsing.small", "bleu")


def test_a_readme_without_its_comments_is_left_alone(
    rendered: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "render", lambda _: {**rendered})
    (tmp_path / README).write_text("# aiayn\n")
    with pytest.raises(DataError, match="rendered by make reproductions"):
        documents.write(tmp_path)
    assert (tmp_path / README).read_text() == "# aiayn\n"
    (tmp_path / README).write_text(f"before\n{BEGIN}old\n{END}after\n")
    documents.write(tmp_path)
    text = (tmp_path / README).read_text()
    assert text.startswith(f"before\n{BEGIN}<picture>\n")
    assert (tmp_path / RESULTS).read_text() == rendered[RESULTS]
    assert text.endswith(f"\n{END}after\n")
    assert "old\n" not in text
