"""Metrics of labels: accuracy, that of a bag-of-words baseline, macro F1 and calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiayn.errors import ScoreError
from aiayn.evaluation.accuracy import SIGNATURE, accuracy
from aiayn.evaluation.metric import Metric
from aiayn.results.predictions import Prediction
from aiayn.results.scores import Score

BINS = 15
F1_SIGNATURE = "average:macro|labels:all of the task's|version:scikit-learn"
CALIBRATION_SIGNATURE = f"bins:{BINS} of equal width|confidence:of the likeliest label|version:1"
MOST_STEPS = 1000
# With scikit-learn's 1e-4, a few sentences depend on the order of the training text or on the CPU.
TOLERANCE = 1e-7
BASELINE_SIGNATURE = (
    f"model:logistic regression of which words occur|C:1|tolerance:{TOLERANCE:g}|" + SIGNATURE
)


@dataclass(frozen=True)
class LabelledSentences:
    """Sentences with a run's predictions and the expected labels, and the training text.

    Attributes:
        labels: all labels of the task.
        train: sentences of the training text, and their labels.
    Raises:
        ScoreError: there are no sentences, the numbers of predictions and labels differ, or an
            expected label is not one of `labels`.
    """

    predictions: Sequence[Prediction]
    expected: Sequence[str]
    labels: Sequence[str]
    sentences: Sequence[str]
    train: tuple[Sequence[str], Sequence[str]]

    def __post_init__(self) -> None:
        for label in self.expected:
            if label not in self.labels:
                raise ScoreError(
                    f"the reference label {label!r} is not one of {', '.join(self.labels)}. "
                    "Add it to text.labels, or make the text again: dvc repro -f download."
                )
        if not self.expected or len(self.predictions) != len(self.expected):
            raise ScoreError(
                f"{len(self.predictions)} predictions cannot be scored against "
                f"{len(self.expected)} labels."
            )

    @property
    def predicted(self) -> list[str]:
        """The predicted labels."""
        return [prediction.label for prediction in self.predictions]

    def confusion(self) -> Mapping[str, Mapping[str, int]]:
        """For each expected label, how often each label was predicted."""
        counts = Counter(zip(self.expected, self.predicted, strict=True))
        return {
            label: {other: counts[label, other] for other in self.labels} for label in self.labels
        }


def _accuracy(labelled: LabelledSentences) -> Score:
    return accuracy(labelled.predicted, labelled.expected)


def bag_of_words_accuracy(labelled: LabelledSentences) -> Score:
    """Accuracy of a baseline: logistic regression on the set of words of a sentence.

    A punctuation mark is a word. No hyperparameter is tuned.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = CountVectorizer(binary=True, lowercase=False, token_pattern=r"\w+|[^\w\s]")
    model = make_pipeline(words, LogisticRegression(tol=TOLERANCE, max_iter=MOST_STEPS))
    model.fit(*labelled.train)
    found = accuracy(list(model.predict(labelled.sentences)), labelled.expected)
    return Score(value=found.value, low=found.low, high=found.high, signature=BASELINE_SIGNATURE)


def _macro_f1(labelled: LabelledSentences) -> Score:
    """The mean of each label's F1; a label that is neither predicted nor expected counts as 0."""
    from sklearn.metrics import f1_score  # a second to import; other metrics do not need it

    f1 = f1_score(
        labelled.expected, labelled.predicted, labels=list(labelled.labels), average="macro",
        zero_division=0,
    )  # fmt: skip
    return Score(value=100 * float(f1), signature=F1_SIGNATURE)


def _calibration_error(labelled: LabelledSentences) -> Score:
    probabilities = [prediction.probability for prediction in labelled.predictions]
    pairs = zip(labelled.predicted, labelled.expected, strict=True)
    error = calibration_error(probabilities, [label == other for label, other in pairs])
    return Score(value=error, signature=CALIBRATION_SIGNATURE)


def calibration_error(probabilities: Sequence[float], right: Sequence[bool]) -> float:
    """Expected calibration error in percent: the absolute difference between accuracy and mean
    probability in a bin, averaged over bins by number of sentences.

    Source: Naeini et al. 2015; Guo et al. 2017, with their 15 bins of equal width:
        ((b - 1) / 15, b / 15].
    """
    bins: dict[int, list[float]] = {}
    for probability, is_right in zip(probabilities, right, strict=True):
        number = -int(-probability * BINS // 1)  # rounded up
        bins.setdefault(max(number, 1), []).append(is_right - probability)
    return 100 * sum(abs(sum(gaps)) for gaps in bins.values()) / len(probabilities)


LABEL_METRICS: tuple[Metric[LabelledSentences], ...] = (
    Metric(name="accuracy", label="Accuracy", score=_accuracy, headline=True),
    Metric(
        name="bag_of_words_accuracy",
        label="Bag of words",
        score=bag_of_words_accuracy,
        is_fitted=True,
    ),
    Metric(name="macro_f1", label="Macro F1", score=_macro_f1),
    Metric(
        name="calibration_error",
        label="Calibration error",
        score=_calibration_error,
        higher_is_better=False,
    ),
)
