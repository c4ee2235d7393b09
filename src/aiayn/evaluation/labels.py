"""Labels against the wanted ones: how many are right, by label, and how far probabilities tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiayn.errors import ScoreError
from aiayn.evaluation.accuracy import accuracy
from aiayn.results.guesses import Guess
from aiayn.results.scores import Score

BINS = 15
F1_SIGNATURE = "average:macro|labels:all of the task's|version:scikit-learn"
CALIBRATION_SIGNATURE = f"bins:{BINS} of equal width|confidence:of the likeliest label|version:1"


@dataclass(frozen=True)
class LabelScores:
    """Scores by name, and the `confusion`: of each wanted label, how often each was given."""

    scores: Mapping[str, Score]
    confusion: Mapping[str, Mapping[str, int]]


def score_labels(
    guesses: Sequence[Guess], wanted: Sequence[str], labels: Sequence[str]
) -> LabelScores:
    """Accuracy with its interval, macro F1, and the expected calibration error, all in percent.

    Args:
        labels: all that there may be.
    Raises:
        ScoreError: there is none, not as many of one as of the other, or a wanted label is not one
            of `labels`.
    """
    for label in wanted:
        if label not in labels:
            raise ScoreError(
                f"{label!r} is wanted, but is none of {', '.join(labels)}. "
                "Name it in text.labels, or make the text again: dvc repro -f download."
            )
    given = [guess.label for guess in guesses]
    right = accuracy(given, wanted)
    return LabelScores(
        scores={
            "accuracy": right,
            "macro_f1": Score(value=_macro_f1(given, wanted, labels), signature=F1_SIGNATURE),
            "calibration_error": Score(
                value=calibration_error(
                    [guess.probability for guess in guesses],
                    [label == other for label, other in zip(given, wanted, strict=True)],
                ),
                signature=CALIBRATION_SIGNATURE,
            ),
        },
        confusion={
            label: {
                other: sum(pair == (label, other) for pair in zip(wanted, given, strict=True))
                for other in labels
            }
            for label in labels
        },
    )


def calibration_error(probabilities: Sequence[float], right: Sequence[bool]) -> float:
    """In percent: by how much, on the mean over sentences, the share of right ones among those of
    like probability differs from their mean probability.

    Source: expected calibration error, Naeini et al. 2015 and Guo et al. 2017, whose 15 bins of
    equal width these are: ((b - 1) / 15, b / 15].
    """
    bins: dict[int, list[float]] = {}
    for probability, is_right in zip(probabilities, right, strict=True):
        number = -int(-probability * BINS // 1)  # rounded up
        bins.setdefault(max(number, 1), []).append(is_right - probability)
    return 100 * sum(abs(sum(gaps)) for gaps in bins.values()) / len(probabilities)


def _macro_f1(given: Sequence[str], wanted: Sequence[str], labels: Sequence[str]) -> float:
    """The mean of each label's F1; of one that neither has, 0."""
    from sklearn.metrics import f1_score  # takes a second, which other scores need not pay

    return 100 * float(
        f1_score(wanted, given, labels=list(labels), average="macro", zero_division=0)
    )
