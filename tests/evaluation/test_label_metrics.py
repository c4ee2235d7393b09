"""Scores of labels, compared with figures computed by hand."""

from __future__ import annotations

import random

import pytest

from aiayn.errors import ScoreError
from aiayn.evaluation import label_metrics
from aiayn.evaluation.label_metrics import (
    LABEL_METRICS,
    LabelledSentences,
    bag_of_words_accuracy,
    calibration_error,
)
from aiayn.evaluation.metric import score_by_name
from aiayn.results.predictions import Prediction

LABELS = ("a", "b", "c")
EXPECTED = ["a", "a", "a", "b", "b", "c"]
PREDICTED = ["a", "a", "b", "b", "c", "c"]


SENTENCES = ["one film", "two films"]


def labelled(predicted: list[str], expected: list[str]) -> LabelledSentences:
    return LabelledSentences(
        predictions=[Prediction(label, 0.9) for label in predicted],
        expected=expected,
        labels=LABELS,
        sentences=["a film"] * len(expected),
        train=(SENTENCES, ["a", "b"]),
    )


def test_accuracy_f1_and_confusion() -> None:
    outputs = labelled(PREDICTED, EXPECTED)
    scores = score_by_name(LABEL_METRICS, outputs)
    assert set(scores) == {"accuracy", "bag_of_words_accuracy", "macro_f1", "calibration_error"}
    assert scores["accuracy"].value == pytest.approx(100 * 4 / 6)
    # F1 of a: 2*2/(3+2), of b: 2*1/(2+2), of c: 2*1/(1+2)
    assert scores["macro_f1"].value == pytest.approx(100 * (4 / 5 + 1 / 2 + 2 / 3) / 3)
    assert scores["calibration_error"].value == pytest.approx(100 * (0.9 - 4 / 6))
    assert outputs.confusion() == {
        "a": {"a": 2, "b": 1, "c": 0},
        "b": {"a": 0, "b": 1, "c": 1},
        "c": {"a": 0, "b": 0, "c": 1},
    }
    low, high = scores["accuracy"].low, scores["accuracy"].high
    assert low is not None
    assert high is not None
    assert low < 100 * 4 / 6 < high


def test_a_single_class_and_no_correct_output() -> None:
    scores = score_by_name(LABEL_METRICS, labelled(["b", "b"], ["a", "a"]))
    assert scores["accuracy"].value == scores["macro_f1"].value == 0
    assert scores["accuracy"].low == 0


def test_calibration() -> None:
    """Four at 0.95 with three right: 0.95 - 0.75 apart. Two at 0.6 with both right: 0.4 apart."""
    probabilities, right = [0.95] * 4 + [0.6] * 2, [True] * 3 + [False] + [True] * 2
    expected = 100 * (4 * 0.2 + 2 * 0.4) / 6
    assert calibration_error(probabilities, right) == pytest.approx(expected)
    assert calibration_error([1.0, 1.0], [True, True]) == 0
    # equal probabilities, in one bin: overconfidence and underconfidence cancel
    assert calibration_error([0.5, 0.5], [True, False]) == pytest.approx(0)


def test_a_bin_contains_its_upper_end_only() -> None:
    """6/15 belongs to (5/15, 6/15], anything above it to the next bin: their errors do not cancel."""
    assert calibration_error([0.4, 0.41], [False, True]) == pytest.approx(100 * (0.4 + 0.59) / 2)


def test_an_expected_label_that_the_task_does_not_have() -> None:
    with pytest.raises(ScoreError, match="the reference label 'd' is not one of a, b, c"):
        labelled(["a"], ["d"])


@pytest.mark.parametrize(("predicted", "expected"), [([], []), (["a"], ["a", "b"])])
def test_unequal_or_no_labels_are_refused(predicted: list[str], expected: list[str]) -> None:
    with pytest.raises(ScoreError, match="predictions cannot be scored against"):
        labelled(predicted, expected)


def test_a_bag_of_words_sees_words_and_no_order() -> None:
    def accuracy(train: list[str], sentences: list[str], expected: list[str]) -> float:
        outputs = LabelledSentences(
            predictions=[Prediction(label, 1.0) for label in expected],
            expected=expected,
            labels=labels[:2],
            sentences=sentences,
            train=(train, labels),
        )
        return bag_of_words_accuracy(outputs).value

    labels = ["positive", "negative"] * 10
    train = ["good film .", "bad film .", "good plot", "bad plot"] * 5
    assert accuracy(train, ["bad ,", "good !"], ["negative", "positive"]) == 100
    order = ["dog sees cat", "cat sees dog"]
    assert accuracy(order * 10, order, labels[:2]) == 50


def test_a_bag_of_words_is_fitted_to_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stricter fit decides no sentence differently, although the labels are random."""
    generator = random.Random(1)
    words = [f"word{n}" for n in range(200)]
    frequencies = [1 / n for n in range(1, 201)]

    def draw(count: int) -> tuple[list[str], list[str]]:
        """Sentences of frequent and rare words, with labels at random."""
        texts = [" ".join(generator.choices(words, frequencies, k=8)) for _ in range(count)]
        return texts, generator.choices(LABELS, k=count)

    train, (sentences, expected) = draw(2000), draw(5000)
    outputs = LabelledSentences(
        predictions=[Prediction(label, 1.0) for label in expected],
        expected=expected,
        labels=LABELS,
        sentences=sentences,
        train=train,
    )
    usual = bag_of_words_accuracy(outputs)
    monkeypatch.setattr(label_metrics, "TOLERANCE", 1e-10)
    assert bag_of_words_accuracy(outputs) == usual
