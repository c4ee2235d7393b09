from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiayn.paper import PAPER
from aiayn.report.verdict import TOLERANCE_BLEU, TOLERANCE_PERPLEXITY, Verdict, judge


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
    judgement = judge(27.3, ours, tolerance=TOLERANCE_BLEU)
    assert (judgement.verdict, judgement.difference) == (verdict, difference)


def test_the_tolerance_lies_between_noise_and_a_wrong_protocol() -> None:
    spread_of_late_checkpoints, smallest_gap_between_protocols = 0.3, 29.3 - 28.6
    assert spread_of_late_checkpoints < TOLERANCE_BLEU < smallest_gap_between_protocols


def test_the_tolerance_of_a_perplexity_is_worth_no_more_bleu_than_that_of_bleu() -> None:
    """The slope of BLEU against log-perplexity over the paper's base and its sizes, rows (C)."""
    rows = [row for row in PAPER.table_3.values() if row.group in ("base", "C")]
    logs = [math.log(row.perplexity.value) for row in rows]
    bleus = [row.bleu.value for row in rows]
    mean_log, mean_bleu = sum(logs) / len(rows), sum(bleus) / len(rows)
    slope = sum((x - mean_log) * (y - mean_bleu) for x, y in zip(logs, bleus, strict=True)) / sum(
        (x - mean_log) ** 2 for x in logs
    )
    assert 0.8 * TOLERANCE_BLEU < -slope * math.log1p(TOLERANCE_PERPLEXITY) < TOLERANCE_BLEU
    # and less than the step between neighbours of row (C) in the number of layers
    layers = [PAPER.table_3[row].perplexity.value for row in ("C_N2", "C_N4", "base")]
    assert all(a / b > 1 + TOLERANCE_PERPLEXITY for a, b in pairwise(layers))


REASONS = st.lists(st.text(min_size=1), min_size=1).map(tuple)


@given(paper=st.floats(0, 100), ours=st.floats(0, 100), departures=REASONS)
def test_another_recipe_is_never_judged(
    paper: float, ours: float, departures: tuple[str, ...]
) -> None:
    judgement = judge(paper, ours, other_recipe=departures, tolerance=0.5)
    assert judgement.verdict is Verdict.OTHER_RECIPE
    assert judgement.difference is None
    assert judgement.reasons == departures


@given(paper=st.floats(0, 100), ours=st.floats(0, 100), other_set=REASONS)
def test_other_sentences_are_never_judged(
    paper: float, ours: float, other_set: tuple[str, ...]
) -> None:
    judgement = judge(paper, ours, other_set=other_set, other_recipe=("N is 2",), tolerance=0.5)
    assert (judgement.verdict, judgement.difference) == (Verdict.NOT_RUN, None)
    assert judgement.reasons == (*other_set, "N is 2")


def test_no_score_is_not_judged() -> None:
    judgement = judge(27.3, None, tolerance=0.5)
    assert judgement.verdict is Verdict.NOT_RUN
    assert judgement.reasons == ("no score yet",)
