"""A score survives its JSON form, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.errors import ScoreError
from aiayn.scoring.score import Score

PERCENT = st.floats(0, 100).map(lambda value: round(value, 2))


@settings(max_examples=50)
@given(value=PERCENT, low=st.none() | PERCENT, high=st.none() | PERCENT)
def test_json_form_gives_the_score_back(
    value: float, low: float | None, high: float | None
) -> None:
    score = Score(value=value, signature="case:mixed|tok:13a", low=low, high=high)
    assert Score.from_json(json.loads(json.dumps(score.to_json()))) == score


def test_json_form_rounds_and_leaves_out_what_is_absent() -> None:
    score = Score(value=100 / 3, signature="tok:13a", high=66.666)
    assert score.to_json() == {"value": 33.33, "signature": "tok:13a", "high": 66.67}


@pytest.mark.parametrize(
    "data",
    [
        None,
        27.3,
        {"value": 27.3},
        {"signature": "tok:13a"},
        {"value": "27.3", "signature": "tok:13a"},
        {"value": True, "signature": "tok:13a"},
        {"value": 27.3, "signature": None},
        {"value": 27.3, "signature": "tok:13a", "low": "26"},
        {"value": 27.3, "signature": "tok:13a", "lo": 26.0},
    ],
)
def test_anything_else_is_refused_in_one_line(data: Any) -> None:
    with pytest.raises(ScoreError, match="a score has value, signature") as caught:
        Score.from_json(data)
    assert "\n" not in str(caught.value)
