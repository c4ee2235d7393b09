from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aiayn.config import Model
from aiayn.config.model import spelled_out
from aiayn.paper import PAPER, EvaluationSet
from aiayn.report.verdict import (
    TOLERANCE_BLEU,
    Verdict,
    judge,
    model_departures,
    set_departures,
    training_departures,
)

CONF = Path(__file__).parents[2] / "conf"
NEWSTEST = EvaluationSet(("newstest2014-de-en",), 3003)
BASE = Model(
    N=6, d_model=512, d_ff=2048, h=8, d_k=64, d_v=64, P_drop=0.1, eps_ls=0.1, steps=100_000,
    positions="sinusoid", average=5, checkpoint_steps=1500,
)  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "verdict", "difference"),
    [
        (27.3, Verdict.REPRODUCED, 0.0),
        (27.8, Verdict.REPRODUCED, 0.5),  # 27.8 - 27.3 is a little more than 0.5 in floating point
        (26.8, Verdict.REPRODUCED, -0.5),
        (27.81, Verdict.DIFFERS, 0.51),
        (26.79, Verdict.DIFFERS, -0.51),
    ],
)
def test_the_tolerance_is_half_a_point_both_ways(
    ours: float, verdict: Verdict, difference: float
) -> None:
    judgement = judge(27.3, ours, ())
    assert (judgement.verdict, judgement.difference) == (verdict, difference)


def test_the_tolerance_lies_between_noise_and_a_wrong_protocol() -> None:
    spread_of_late_checkpoints, smallest_gap_between_protocols = 0.3, 29.3 - 28.6
    assert spread_of_late_checkpoints < TOLERANCE_BLEU < smallest_gap_between_protocols


@given(
    paper=st.floats(0, 100),
    ours=st.none() | st.floats(0, 100),
    departures=st.lists(st.text(min_size=1), min_size=1).map(tuple),
)
def test_nothing_that_departs_is_ever_judged(
    paper: float, ours: float | None, departures: tuple[str, ...]
) -> None:
    judgement = judge(paper, ours, departures)
    assert judgement.verdict is Verdict.NOT_RUN
    assert judgement.difference is None
    assert judgement.reasons == departures


def test_no_score_is_not_judged() -> None:
    assert judge(27.3, None, ()).verdict is Verdict.NOT_RUN
    assert judge(27.3, None, ()).reasons == ("no score yet",)


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        (("demo-test", 3003), "scored on demo-test, not on newstest2014-de-en"),
        (("newstest2014-de-en", 2737), "newstest2014-de-en has 2737 pairs here, not 3003"),
    ],
)
def test_other_sentences_are_named(ours: tuple[str, int], said: str) -> None:
    corpus, pairs = ours
    assert list(set_departures(NEWSTEST, EvaluationSet((corpus,), pairs))) == [said]


def test_the_same_sentences_depart_in_nothing() -> None:
    assert not list(set_departures(NEWSTEST, NEWSTEST))


def test_other_training_text_is_named() -> None:
    assert not list(training_departures(("a", "b"), ("b", "a")))
    assert list(training_departures(("a",), ("a", "b"))) == ["trained on a + b, not on a"]


def test_every_column_of_the_model_counts() -> None:
    required = PAPER.table_2["base"].models["en-de"]
    assert not list(model_departures(required, BASE))
    assert not list(model_departures(required, replace(BASE, d_k=64, d_v=64)))
    changes: dict[str, Any] = {
        "N": 5, "d_model": 514, "d_ff": 1024, "h": 4, "d_k": 32, "d_v": 32, "P_drop": 0.2,
        "eps_ls": 0.0, "steps": 99_999, "positions": "learned", "average": 4,
    }  # fmt: skip
    for column, value in changes.items():
        other = replace(replace(BASE, d_k=64, d_v=64), **{column: value})
        departures = list(model_departures(required, other))
        assert len(departures) == 1, column
        assert str(value) in departures[0]


def test_the_wmt14_scale_is_the_papers_experiment() -> None:
    scale = yaml.safe_load((CONF / "scale/wmt14.yaml").read_text(encoding="utf-8"))
    tasks = yaml.safe_load((CONF / "tasks/wmt14.yaml").read_text(encoding="utf-8"))
    for row in ("base", "big"):
        for pair, column in PAPER.table_2_columns.items():
            run = scale["runs"][f"{pair}.{row}"]
            model = Model(**spelled_out(scale["models"][run["model"]], row))
            text = tasks[run["task"]]["text"]
            assert not list(model_departures(PAPER.table_2[row].models[pair], model))
            assert not list(training_departures(column.training, tuple(text["train"])))
            assert text["tests"]["test"] in column.test_set.corpora
