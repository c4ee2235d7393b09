"""Classification through the stages of translation: the demo's labels, and real reviews."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.results.illustrations import read_attention

RUN = "who-acts.classifier"


@pytest.fixture(scope="module")
def labelled(demo_run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The demo's classifier after some steps over a few sentences."""
    return demo_run(
        tmp_path_factory.mktemp("classification"),
        RUN,
        "catalogue.corpora.demo-train.grammar.sentences=800",
        "catalogue.corpora.demo-dev.grammar.sentences=40",
        "catalogue.corpora.demo-test.grammar.sentences=40",
        "tasks.who-acts.bpe.vocabulary=450",
        "models.classifier.N=1",
        "models.classifier.steps=40",
        "models.classifier.average=2",
    )


def test_scores_of_labels(labelled: Any) -> None:
    for split in ("dev", "test"):
        scored = json.loads((labelled.root / f"scores/{RUN}.json").read_text())["splits"][split]
        expected = (labelled.root / f"data/text/who-acts/{split}.target").read_text().split()
        assert {label: sum(given.values()) for label, given in scored["confusion"].items()} == {
            label: expected.count(label) for label in ("je", "il", "elle", "ils", "elles")
        }
        right = sum(scored["confusion"][label][label] for label in scored["confusion"])
        assert scored["accuracy"]["value"] == 100 * right / 40
        assert scored["accuracy"]["value"] > 100 / 5  # better than drawing lots
        assert 0 <= scored["calibration_error"]["value"] <= 100
        assert "logistic regression" in scored["bag_of_words_accuracy"]["signature"]
        values = json.loads((labelled.root / f"metrics/{RUN}.json").read_text())[split]
        assert values["accuracy"] == scored["accuracy"]["value"]


def test_what_it_looks_at_in_a_sentence_of_the_test_set(labelled: Any) -> None:
    maps = read_attention(labelled.root / f"outputs/{RUN}/attention.json", ("encoder",))
    text = (labelled.root / "data/text/who-acts/test.source").read_text().split("\n")
    given = (labelled.root / f"outputs/{RUN}/test.hypotheses").read_text().split("\n")
    assert given[text.index(maps.sentence)].startswith(f"{maps.translation}\t")
    (layer,) = maps.layers("encoder")
    for head in layer:
        assert len(head) == len(maps.source)
        assert all(sum(row) == pytest.approx(1, abs=0.01) for row in head)


def test_weights_of_another_kind_are_refused(labelled: Any) -> None:
    labelled.set("tasks", "who-acts", "text", "labels", value=["je", "il", "elle", "ils"])
    error = labelled.error("decode", RUN)
    assert "head.bias has shape (5,), the model in params.yaml has (4,)" in error


def test_a_fold_of_the_reviews(clone: Any, shared: Callable[[str], Path]) -> None:
    mirror = shared("mirror")
    clone.compose("scale=multi30k")
    for stage in ("download", "train_bpe", "encode"):
        outcome = clone.stage(stage, "polarity-0", AIAYN_MIRROR=str(mirror))
        assert outcome.returncode == 0, outcome.stderr
    manifest = json.loads((clone.root / "data/text/polarity-0/manifest.json").read_text())
    splits = manifest["splits"]
    # 5,331 sentences of either label, as the archive's README has it
    assert sum(split["pairs"] for split in splits.values()) == 10662
    assert splits["test"]["overlap"]["source"] == 0
