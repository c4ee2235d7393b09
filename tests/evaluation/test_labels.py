"""Scores of labels, against figures worked out on paper."""

from __future__ import annotations

import pytest

from aiayn.errors import ScoreError
from aiayn.evaluation.bag_of_words import bag_of_words_accuracy
from aiayn.evaluation.labels import calibration_error, score_labels
from aiayn.results.guesses import Guess

LABELS = ("a", "b", "c")
WANTED = ["a", "a", "a", "b", "b", "c"]
GIVEN = ["a", "a", "b", "b", "c", "c"]


def guesses(labels: list[str], probability: float = 0.9) -> list[Guess]:
    return [Guess(label, probability) for label in labels]


def test_accuracy_f1_and_who_is_taken_for_whom() -> None:
    found = score_labels(guesses(GIVEN), WANTED, LABELS)
    assert found.scores["accuracy"].value == pytest.approx(100 * 4 / 6)
    # F1 of a: 2*2/(3+2), of b: 2*1/(2+2), of c: 2*1/(1+2)
    assert found.scores["macro_f1"].value == pytest.approx(100 * (4 / 5 + 1 / 2 + 2 / 3) / 3)
    assert found.confusion == {
        "a": {"a": 2, "b": 1, "c": 0},
        "b": {"a": 0, "b": 1, "c": 1},
        "c": {"a": 0, "b": 0, "c": 1},
    }
    low, high = found.scores["accuracy"].low, found.scores["accuracy"].high
    assert low is not None
    assert high is not None
    assert low < 100 * 4 / 6 < high


def test_one_class_only_and_nothing_right() -> None:
    found = score_labels(guesses(["b", "b"]), ["a", "a"], LABELS)
    assert found.scores["accuracy"].value == found.scores["macro_f1"].value == 0
    assert found.scores["accuracy"].low == 0


def test_calibration() -> None:
    """Four at 0.95 with three right: 0.95 - 0.75 apart. Two at 0.6 with both right: 0.4 apart."""
    probabilities, right = [0.95] * 4 + [0.6] * 2, [True] * 3 + [False] + [True] * 2
    wanted = 100 * (4 * 0.2 + 2 * 0.4) / 6
    assert calibration_error(probabilities, right) == pytest.approx(wanted)
    assert calibration_error([1.0, 1.0], [True, True]) == 0
    # as likely, in one bin: too sure and not sure enough make up for each other
    assert calibration_error([0.5, 0.5], [True, False]) == pytest.approx(0)


def test_a_bin_holds_its_upper_end_alone() -> None:
    """6/15 belongs to (5/15, 6/15], what is above it to the next: they do not make up."""
    assert calibration_error([0.4, 0.41], [False, True]) == pytest.approx(100 * (0.4 + 0.59) / 2)


def test_a_wanted_label_that_nobody_named() -> None:
    with pytest.raises(ScoreError, match="'d' is wanted, but is none of a, b, c"):
        score_labels(guesses(["a"]), ["d"], LABELS)


def test_a_bag_of_words_sees_words_and_no_order() -> None:
    sentences = ["good film .", "bad film .", "good plot", "bad plot"] * 5
    labels = ["positive", "negative"] * 10
    found = bag_of_words_accuracy(
        (sentences, labels), ["bad ,", "good !"], ["negative", "positive"]
    )
    assert found.value == 100
    order = ["dog sees cat", "cat sees dog"] * 10
    found = bag_of_words_accuracy((order, labels), ["dog sees cat", "cat sees dog"], labels[:2])
    assert found.value == 50
