from __future__ import annotations

import pytest

from aiayn.report.scoreboard import answer, tally, words
from aiayn.report.section import Finding
from aiayn.report.tables import Cell
from aiayn.report.verdict import Verdict


def findings(reproduced: int, differs: int, not_run: int) -> list[Finding]:
    verdicts = [Verdict.REPRODUCED] * reproduced + [Verdict.DIFFERS] * differs
    judged = [Finding(what="w", paper="1", ours=Cell("1"), verdict=v) for v in verdicts]
    return judged + [Finding(what="w", paper="1", ours=None, verdict=Verdict.NOT_RUN)] * not_run


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 4), "Not known yet: of 4 published figures, the scale toy can judge none."),
        ((4, 0, 0), "Yes: all 4 published figures are reproduced."),
        ((3, 1, 0), "In part: 3 of 4 published figures are reproduced, 1 differs."),
        ((1, 0, 1), "In part: 1 of 2 published figures is reproduced, 1 was not run at the scale toy."),
        ((3, 2, 5), "In part: 3 of 10 published figures are reproduced, 2 differ, 5 were not run"),
        ((0, 2, 5), "No: 0 of 7 published figures are reproduced, 2 differ, 5 were not run"),
    ],
)  # fmt: skip
def test_the_answer_is_never_better_than_the_verdicts(
    counts: tuple[int, int, int], said: str
) -> None:
    assert answer(findings(*counts), "toy").startswith(said)
    assert tuple(tally(findings(*counts)).values()) == counts


def test_counts_are_english() -> None:
    said = [words(verdict, count) for verdict in Verdict for count in (1, 2)]
    assert said == [
        "1 reproduced", "2 reproduced", "1 differs", "2 differ", "1 not run", "2 not run",
    ]  # fmt: skip
