from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aiayn.errors import ScoreError
from aiayn.paper import EvaluationSet
from aiayn.report.results import read_circumstances, read_history, read_scores

ENTRY: dict[str, Any] = {
    "set": {"corpora": ["toy-test"], "pairs": 7, "sha256": {"source": "aa", "target": "bb"}},
    "bleu": {"value": 12.5, "low": 11.0, "high": 14, "signature": "nrefs:1"},
    "chrf": {"value": 40, "signature": "nrefs:1"},
}


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_scores_come_back_with_their_place(tmp_path: Path) -> None:
    splits = read_scores(write(tmp_path / "en-de.base.json", {"splits": {"test": ENTRY}}))
    assert splits is not None
    test = splits["test"]
    assert test.evaluation_set == EvaluationSet(("toy-test",), 7)
    assert test.sha256["target"] == "bb"
    assert (test.scores["bleu"].value, test.scores["bleu"].low) == (12.5, 11.0)
    assert (test.scores["chrf"].value, test.scores["chrf"].low) == (40.0, None)
    assert test.scores["bleu"].source == "en-de.base.json:test.bleu"
    assert list(test.scores) == ["bleu", "chrf"]


def test_corpora_may_be_a_mapping_as_in_the_manifest(tmp_path: Path) -> None:
    entry = {**ENTRY, "set": {**ENTRY["set"], "corpora": {"toy-test": {"pairs": 7}}}}
    splits = read_scores(write(tmp_path / "r.json", {"splits": {"test": entry}}))
    assert splits is not None
    assert splits["test"].evaluation_set.corpora == ("toy-test",)


def test_a_run_without_scores_is_no_error(tmp_path: Path) -> None:
    assert read_scores(tmp_path / "absent.json") is None
    assert read_history(tmp_path / "absent.csv") is None
    assert read_circumstances(tmp_path, "absent") == {"train": {}, "decode": {}}


@pytest.mark.parametrize(
    "content",
    [
        "not JSON",
        "[]",
        '"text"',
        "{}",
        '{"splits": []}',
        '{"splits": {"test": {}}}',
        json.dumps({"splits": {"test": {**ENTRY, "bleu": {"value": "27.3", "signature": ""}}}}),
        json.dumps({"splits": {"test": {**ENTRY, "bleu": {"value": True, "signature": ""}}}}),
        json.dumps({"splits": {"test": {**ENTRY, "bleu": 27.3}}}),
        '{"splits": {"test": {"set": {"corpora": [], "pairs": NaN}}}}',
    ],
)
def test_what_is_no_score_file_is_one_clear_line(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "en-de.base.json", content)
    with pytest.raises(ScoreError) as caught:
        read_scores(path)
    message = str(caught.value)
    assert str(path) in message
    assert "dvc repro -f score@en-de.base" in message
    assert "\n" not in message


def test_a_history_holds_dev_values_where_there_was_a_validation(tmp_path: Path) -> None:
    text = (
        "step,tokens,learning_rate,loss,dev_perplexity\n10,900,0.001,5.5,\n20,1800,0.002,4.5,90.5\n"
    )
    history = read_history(write(tmp_path / "r.csv", text))
    assert history is not None
    assert (history.step, history.loss) == ((10, 20), (5.5, 4.5))
    assert (history.dev_step, history.dev_perplexity) == ((20,), (90.5,))


@pytest.mark.parametrize(
    "text", ["step,loss\n1,2\n", "step,tokens,learning_rate,loss,dev_perplexity\nx,1,1,1,\n"]
)
def test_a_broken_history_is_one_clear_line(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "en-fr.big.csv", text)
    with pytest.raises(ScoreError, match=r"dvc repro -f train@en-fr\.big") as caught:
        read_history(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_circumstances_show_whatever_is_there(tmp_path: Path) -> None:
    write(
        tmp_path / "en-de.base.train.json",
        {"seconds": 1.5, "versions": {"torch": "2"}, "odd": None},
    )
    facts = read_circumstances(tmp_path, "en-de.base")
    assert facts["train"] == {"seconds": "1.5", "versions.torch": "2", "odd": "null"}
    assert facts["decode"] == {}


@pytest.mark.parametrize("content", ["", "[1]", "3"])
def test_broken_circumstances_are_one_clear_line(tmp_path: Path, content: str) -> None:
    write(tmp_path / "en-de.base.decode.json", content)
    with pytest.raises(ScoreError, match=r"dvc repro -f decode@en-de\.base") as caught:
        read_circumstances(tmp_path, "en-de.base")
    assert "\n" not in str(caught.value)
