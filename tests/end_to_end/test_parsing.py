"""Parsing through the stages of translation: the demo's trees, a treebank that is not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RUN = "parsing.parser"


@pytest.fixture(scope="module")
def parsed(demo_run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's parsing run after a few steps over a few sentences."""
    project = demo_run(
        tmp_path_factory.mktemp("parsing"),
        RUN,
        "catalogue.corpora.demo-train.grammar.sentences=600",
        "catalogue.corpora.demo-dev.grammar.sentences=5",
        "catalogue.corpora.demo-test.grammar.sentences=5",
        "tasks.parsing.bpe.vocabulary=450",
        "tasks.parsing.decoding.extra_length=20",
        "models.parser.N=1",
        "models.parser.steps=20",
        "models.parser.average=1",
    )
    root: Path = project.root
    return root


def test_scores_and_counts(parsed: Path) -> None:
    for split in ("dev", "test"):
        scored = json.loads((parsed / f"scores/{RUN}.json").read_text())["splits"][split]
        trees = (parsed / f"data/text/parsing/{split}.trees").read_text()
        assert scored["counts"]["sentences"] == trees.count("\n") == 5
        assert scored["counts"]["skipped"] == 0
        assert 0 <= scored["bracket_f1"]["value"] <= 100
        assert "COLLINS.prm" in scored["bracket_f1"]["signature"]
        values = json.loads((parsed / f"metrics/{RUN}.json").read_text())[split]
        assert values["bracket_f1"] == scored["bracket_f1"]["value"]


def test_no_licensed_treebank(clone: Any) -> None:
    clone.compose("scale=wsj")
    error = clone.error("download", "parsing")
    assert "AIAYN_TREEBANK is not set" in error
    assert "23/wsj_*.mrg" in error
    error = clone.error("download", "parsing", AIAYN_TREEBANK="/nowhere")
    assert "/nowhere, from AIAYN_TREEBANK, is not a folder" in error
