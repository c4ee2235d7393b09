from __future__ import annotations

import pytest

from aiayn.report.scoreboard import answer, aside, headline, tally, words
from aiayn.report.section import Entry
from aiayn.report.tables import Cell
from aiayn.report.verdict import Verdict


def entries(
    reproduced: int, differs: int, other: int, not_run: int, *, of_training: bool = True
) -> list[Entry]:
    verdicts = [Verdict.REPRODUCED] * reproduced + [Verdict.DIFFERS] * differs
    verdicts += [Verdict.OTHER_RECIPE] * other + [Verdict.NOT_RUN] * not_run
    return [
        Entry(what="w", paper="1", ours=Cell("1"), verdict=v, of_training=of_training)
        for v in verdicts
    ]


MEASURES = "published figures (BLEU, perplexity and F1)"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 0, 4), f"Not known yet: of 4 {MEASURES}, the scale toy can judge none."),
        ((0, 0, 3, 1), f"Not known yet: of 4 {MEASURES}, the scale toy can judge none."),
        ((4, 0, 0, 0), f"Yes: all 4 {MEASURES} are reproduced."),
        ((3, 1, 0, 0), f"In part: 3 of 4 {MEASURES} are reproduced, 1 differs."),
        ((1, 0, 0, 1), f"In part: 1 of 2 {MEASURES} is reproduced, 1 was not run at the scale toy."),
        ((3, 2, 0, 5), f"In part: 3 of 10 {MEASURES} are reproduced, 2 differ, 5 were not run"),
        ((3, 0, 1, 0), f"In part: 3 of 4 {MEASURES} are reproduced, 1 was not run by the paper’s recipe."),
        ((0, 2, 0, 5), f"No: 0 of 7 {MEASURES} are reproduced, 2 differ, 5 were not run"),
    ],
)  # fmt: skip
def test_the_answer_is_never_better_than_the_verdicts(
    counts: tuple[int, int, int, int], said: str
) -> None:
    assert answer(entries(*counts), "toy").startswith(said)
    assert tuple(headline(entries(*counts)).values()) == counts


def test_what_needs_no_training_answers_nothing() -> None:
    """The demo once had 12 of 40 reproduced: the twelve cells of table 1."""
    board = [*entries(0, 0, 0, 4), *entries(12, 1, 0, 0, of_training=False)]
    assert answer(board, "toy").startswith(f"Not known yet: of 4 {MEASURES}")
    assert set(headline(board).values()) == {0, 4}
    assert aside(board).startswith("Of 13 claims that need no training")
    assert aside(board).endswith("12 reproduced, 1 differs.")


def test_what_holds_by_construction_is_said_apart_and_not_counted() -> None:
    built = Entry(what="w", paper="1", ours=Cell("1"), verdict=Verdict.BY_CONSTRUCTION)
    board = [*entries(2, 0, 0, 0, of_training=False), built, built]
    assert aside(board).startswith("Of 2 claims that need no training")
    assert "2 hold by construction" in aside(board)
    assert tally(board)[Verdict.BY_CONSTRUCTION] == 2
    assert Verdict.BY_CONSTRUCTION not in headline(board)
    assert aside(entries(1, 1, 1, 1)) == ""


def test_counts_are_english() -> None:
    said = [words(verdict, count) for verdict in Verdict for count in (1, 2)]
    assert said == [
        "1 reproduced", "2 reproduced", "1 differs", "2 differ",
        "1 not the paper's recipe", "2 not the paper's recipe", "1 not run", "2 not run",
        "1 holds by construction", "2 hold by construction",
    ]  # fmt: skip
