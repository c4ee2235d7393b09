"""The results in README.md and docs/results.md are those of the records."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from dvc.utils.hydra import compose_and_dump

from aiayn import config
from aiayn.commands.publication import documents
from aiayn.commands.publication.claims_figure import LABELS, THEMES, Claim, claims, draw
from aiayn.commands.publication.documents import BEGIN, END, README, RESULTS, Records
from aiayn.config import Variations
from aiayn.errors import DataError
from aiayn.paper.findings import STATEMENTS
from aiayn.results.frames import Results

pytestmark = pytest.mark.slow  # reads all reproductions

ROOT = Path(__file__).parents[3]
# a score, a deviation or an effect, which the records have with two decimals
RESULT = re.compile(r"(?<!Python )\b\d+\.\d\d\b|±")


@pytest.fixture(scope="module")
def rendered() -> dict[Path, str]:
    return documents.render(ROOT / "reproductions")


def test_every_page_is_up_to_date(rendered: dict[Path, str]) -> None:
    assert len(rendered) == 4
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


def test_a_changed_record_changes_the_pages(rendered: dict[Path, str], tmp_path: Path) -> None:
    for name in (documents.CLAIMS, "multi30k_tiny", "multi30k_long", "genia"):
        shutil.copytree(
            ROOT / "reproductions" / name, tmp_path / name, ignore=shutil.ignore_patterns("reports")
        )
    shutil.copytree(ROOT / "reproductions/demo", tmp_path / "demo")
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


EXPLORATORY = Variations(task="en-de", base="base")


def make_claim(
    finding: str, effect: float, low: float, high: float, variations: Variations = EXPLORATORY
) -> Claim:
    row = {"finding": finding, "verdict": "undecided", "effect": effect, "low": low, "high": high}
    (claim,) = claims(pd.DataFrame([row]), variations)
    return claim


def test_effects_are_positive_in_the_direction_of_the_claim() -> None:
    """Computed by hand from table 3: 24.9 and 25.8 BLEU; perplexities 4.92 and 4.67."""
    lower = make_claim("one_head", -0.5, -1.5, 0.25)
    assert (lower.ours, lower.low, lower.high) == (0.5, -0.25, 1.5)
    assert lower.paper == pytest.approx(0.9)
    assert lower.is_as_claimed
    assert not make_claim("dropout", -1.0, -2.0, 1.0).is_as_claimed
    ratio = make_claim("smoothing_perplexity", 1.05, 1.02, 1.08)
    assert (ratio.ours, ratio.low, ratio.high) == pytest.approx((5, 2, 8))
    assert ratio.paper == pytest.approx(100 * (4.92 / 4.67 - 1))
    assert make_claim("search", 0.5, 0.1, 0.9).paper is None
    assert make_claim("positions_bleu", -0.2, -1, 1).is_as_claimed
    assert not make_claim("positions_bleu", 0.4, -1, 1).is_as_claimed


def test_a_preregistered_claim_is_drawn_by_its_declared_measure(tmp_path: Path) -> None:
    """A perplexity that is higher with 32 heads points right, by the paper's 5.01 and 4.92."""
    params = tmp_path / "params.yaml"
    compose_and_dump(str(params), str(ROOT / "conf"), None, "config", "", ["scale=tatoeba"])
    declared = config.load(params).variations
    many_heads = make_claim("many_heads", 1.06, 1.02, 1.1, declared)
    assert many_heads.measure == "perplexity"
    assert (many_heads.ours, many_heads.paper) == pytest.approx((6, 100 * (5.01 / 4.92 - 1)))
    assert make_claim("positions_bleu", 0.4, 0.1, 0.7, declared).is_as_claimed  # within 0.5


def test_every_claim_has_a_label() -> None:
    assert LABELS.keys() == STATEMENTS.keys()
    assert max(map(len, LABELS.values())) < 32  # a phone's screen


def test_the_figure() -> None:
    """A dot for each claim in either theme; an interval beyond the axis has an arrow."""
    short, long = make_claim("one_head", -1, -2, 0), make_claim("search", 1, -50, 50)
    for theme, (ink, paper) in THEMES.items():
        svg = draw([short, long], theme)
        assert ink in svg
        assert paper in svg
        assert svg.count(LABELS["one_head"]) == 1
    published = Results(ROOT / "reproductions/multi30k_table3")
    tested = claims(published.findings, published.config.variations)
    assert len(tested) == len(STATEMENTS)
