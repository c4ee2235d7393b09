"""What the words of a sentence tell without their order: the baseline beside a classifier."""

from __future__ import annotations

from collections.abc import Sequence

from aiayn.evaluation.accuracy import SIGNATURE, accuracy
from aiayn.results.scores import Score

BASELINE = "model:logistic regression of which words occur|C:1|" + SIGNATURE
MOST_STEPS = 1000


def bag_of_words_accuracy(
    train: tuple[Sequence[str], Sequence[str]], sentences: Sequence[str], wanted: Sequence[str]
) -> Score:
    """How many labels a logistic regression learns from which words a sentence has, in percent.

    A mark of punctuation is a word too. No setting is tuned.

    Args:
        train: sentences and their labels.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = CountVectorizer(binary=True, lowercase=False, token_pattern=r"\w+|[^\w\s]")
    model = make_pipeline(words, LogisticRegression(max_iter=MOST_STEPS))
    model.fit(*train)
    found = accuracy(list(model.predict(sentences)), wanted)
    return Score(value=found.value, low=found.low, high=found.high, signature=BASELINE)
