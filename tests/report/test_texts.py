"""The page's figures about the text are those of the manifests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.paper import PAPER
from aiayn.report.evidence import Evidence
from aiayn.report.tables import markdown
from aiayn.report.texts import section
from aiayn.results.text import Manifest, Part, Split

SIDES = {"source": 1, "target": 2}
MANIFEST = Manifest(
    task="en-fr",
    languages={"source": "en", "target": "fr"},
    form="raw",
    cleaning={"max_words": 175, "max_ratio": 1.5},
    downloads={},
    splits={
        "train": Split(
            corpora={
                "crawl": Part(
                    pairs=1000, kept=940,
                    dropped={"empty": 0, "max_words": 13, "max_ratio": 47},
                ),
                "news": Part(pairs=5, kept=5, dropped={"empty": 0}),
            },
            pairs=945, words=SIDES, sha256={},
        ),
        "test": Split(
            corpora={"newstest": Part(pairs=3003)}, pairs=3003,
            words={"source": 71_000, "target": 81_000}, sha256={},
            overlap={"source": 7, "target": 5, "pairs": 3},
        ),
    },
)  # fmt: skip


@pytest.fixture
def evidence(load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]) -> Evidence:
    return Evidence(
        root=Path(), config=load(toy), paper=PAPER, scores={}, histories={},
        manifests={"en-fr": MANIFEST}, layers=None, models=None, variations=None,
    )  # fmt: skip


def test_each_rule_has_the_number_and_share_of_pairs_it_dropped(evidence: Evidence) -> None:
    text = markdown(section(evidence).tables)
    dropped = "over 175 words 13 (1.30%), sides over 1.5 : 1 47 (4.70%)"
    assert f"| en-fr | crawl | 1,000 | 940 | {dropped} |" in text
    assert "| en-fr | news | 5 | 5 | – |" in text


def test_tasks_with_the_same_text_share_a_row(evidence: Evidence) -> None:
    folds = {f"fold-{n}": MANIFEST for n in range(5)}
    text = markdown(section(replace(evidence, manifests=folds)).tables)
    assert text.count("| news | 5 | 5 | – |") == 1
    assert "| fold-0 and 4 more | news | 5 | 5 | – |" in text
    two = replace(evidence, manifests={"en-de": MANIFEST, "en-fr": MANIFEST})
    assert "| en-de, en-fr | news | 5 | 5 | – |" in markdown(section(two).tables)


def test_held_out_text_has_its_overlap_with_the_training_text(evidence: Evidence) -> None:
    text = markdown(section(evidence).tables)
    assert "| en-fr | test | newstest | 3,003 | 71,000 | 81,000 | 7 | 5 | 3 |" in text


def test_its_records_add_up(evidence: Evidence) -> None:
    crawl = section(evidence).records.set_index("corpus").loc[["crawl"]]
    assert set(crawl["pairs"]) == {1000}
    assert crawl["dropped"].sum() == 1000 - crawl["kept"].iloc[0]


def test_without_text_there_are_no_tables(evidence: Evidence) -> None:
    assert section(replace(evidence, manifests={})).tables == ()
