"""Metrics of parse trees: labelled bracketing as in EVALB with its parameters COLLINS.prm.

In both trees, words tagged as punctuation are deleted, and so are brackets that become empty. TOP
does not count, ADVP and PRT are the same label, and parts of speech are not compared. A bracket
matches at most one with the same label over the same words.

name | in percent, over the whole set
--- | ---
bracket_f1 | harmonic mean of precision and recall: table 4
bracket_precision, bracket_recall | matched brackets as a share of predicted, of reference brackets
exact_match | sentences without a wrong or missing bracket
bracket_f1_40 | F1 over the sentences of at most 40 words
bracket_f1_wrapped | F1 with an additional bracket around all words, in reference and output

McClosky's trees of GENIA have such a bracket, (S1 (S ...)). F1 published on them counts one bracket
per sentence that is almost always correct, so it must be compared with bracket_f1_wrapped.

Source: Collins 1997; EVALB (Sekine and Collins 1997), its COLLINS.prm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from aiayn.data.trees.linear import restore
from aiayn.data.trees.tree import TOP, Tree
from aiayn.errors import ScoreError
from aiayn.evaluation.metric import Metric
from aiayn.results.scores import LengthClass, Score

PUNCTUATION = frozenset({",", ":", "``", "''", "."})  # DELETE_LABEL
SAME_LABEL = {"PRT": "ADVP"}  # EQ_LABEL
CUT_OFF = 40  # CUTOFF_LEN
SIGNATURE = "labels:yes|profile:COLLINS.prm|tags:treebank|version:1"
RESAMPLES, SEED = 1000, 12345  # as for BLEU
LENGTHS = (10, 20, 30, 40, 50, 60)  # upper bounds of length classes in words; then the rest


@dataclass(frozen=True)
class Counts:
    """Brackets of a sentence of `words` words."""

    matched: int
    gold: int
    predicted: int
    words: int

    @property
    def exact(self) -> bool:
        return self.matched == self.gold == self.predicted

    @property
    def wrapped(self) -> Counts:
        """With an additional bracket around all words."""
        return replace(
            self, matched=self.matched + 1, gold=self.gold + 1, predicted=self.predicted + 1
        )


@dataclass(frozen=True)
class Parses:
    """The bracket counts of a set of sentences.

    Attributes:
        counts: by sentence.
        repaired: number of outputs that were not a tree over the treebank's words.
        skipped: number of sentences that have no words or only punctuation in the treebank, which
            EVALB skips too.
    """

    counts: Sequence[Counts]
    repaired: int
    skipped: int


def read_parses(outputs: Sequence[str], gold: Sequence[Tree]) -> Parses:
    """Compare a model's linearized trees with the treebank's.

    Outputs are repaired into trees over the treebank's words with the treebank's parts of speech.
    EVALB would instead leave out sentences whose words or punctuation differ.

    Raises:
        ScoreError: no sentence has a word, or the numbers of outputs and trees differ.
    """
    if len(outputs) != len(gold):
        raise ScoreError(f"{len(outputs)} outputs cannot be scored against {len(gold)} trees.")
    counts: list[Counts] = []
    repairs = 0
    for output, tree in zip(outputs, gold, strict=True):
        if any(tag not in PUNCTUATION for tag in tree.tags):
            predicted, repaired = restore(output.split(), tree.words, tree.tags)
            counts.append(count(tree, predicted))
            repairs += repaired
    if not counts:
        raise ScoreError(f"none of {len(gold)} trees has a word: nothing to score.")
    return Parses(counts, repairs, skipped=len(gold) - len(counts))


def count(gold: Tree, predicted: Tree) -> Counts:
    """The brackets of two trees over the same words and parts of speech."""
    gold_brackets, predicted_brackets = _brackets(gold), _brackets(predicted)
    return Counts(
        matched=(gold_brackets & predicted_brackets).total(),
        gold=gold_brackets.total(),
        predicted=predicted_brackets.total(),
        words=len(gold.words),
    )


def _brackets(tree: Tree) -> Counter[tuple[str, int, int]]:
    """Label, start and end of every bracket that counts, with its multiplicity.

    Positions count the words that are not punctuation.
    """
    before = list(accumulate((tag not in PUNCTUATION for tag in tree.tags), initial=0))
    return Counter(
        (SAME_LABEL.get(label, label), before[start], before[end])
        for label, start, end in tree.brackets
        if before[start] < before[end] and label != TOP and label not in PUNCTUATION
    )


Sums = npt.NDArray[np.int64]  # matched, gold, predicted, exact, sentences


def _sums(counts: Sequence[Counts]) -> Sums:
    rows = [(c.matched, c.gold, c.predicted, c.exact, 1) for c in counts]
    return np.array(rows, dtype=np.int64)


def _f1(sums: Sums) -> float:
    return float(200 * sums[0] / max(1, sums[1] + sums[2]))


def _recall(sums: Sums) -> float:
    return float(100 * sums[0] / max(1, sums[1]))


def _precision(sums: Sums) -> float:
    return float(100 * sums[0] / max(1, sums[2]))


def _exact(sums: Sums) -> float:
    return float(100 * sums[3] / sums[4])


def _estimated(counts: Sequence[Counts], measure: Callable[[Sums], float], words: str) -> Score:
    """The measure over all sentences, with its bootstrap interval, 2.5% to 97.5%."""
    sums = _sums(counts)
    draws = np.random.default_rng(SEED).integers(len(sums), size=(RESAMPLES, len(sums)))
    resampled = np.array([measure(sums[draw].sum(axis=0)) for draw in draws])
    low, high = np.percentile(resampled, [2.5, 97.5])
    value = measure(sums.sum(axis=0))
    return Score(value=value, signature=f"{SIGNATURE}|{words}", low=float(low), high=float(high))


def _f1_of_short_sentences(parses: Parses) -> Score | None:
    short = [item for item in parses.counts if item.words <= CUT_OFF]
    return _estimated(short, _f1, f"words:<={CUT_OFF}") if short else None


BRACKET_METRICS: tuple[Metric[Parses], ...] = (
    Metric(
        name="bracket_f1",
        label="F1",
        score=lambda parses: _estimated(parses.counts, _f1, "words:all"),
        headline=True,
    ),
    Metric(
        name="bracket_precision",
        label="Precision",
        score=lambda parses: _estimated(parses.counts, _precision, "words:all"),
    ),
    Metric(
        name="bracket_recall",
        label="Recall",
        score=lambda parses: _estimated(parses.counts, _recall, "words:all"),
    ),
    Metric(
        name="exact_match",
        label="Exact match",
        score=lambda parses: _estimated(parses.counts, _exact, "words:all"),
    ),
    Metric(
        name="bracket_f1_40",
        label=f"F1, at most {CUT_OFF} words",
        score=_f1_of_short_sentences,
    ),
    Metric(
        name="bracket_f1_wrapped",
        label="F1, wrapped",
        score=lambda parses: _estimated(
            [item.wrapped for item in parses.counts], _f1, "words:all|wrapped:yes"
        ),
    ),
)


def f1_by_length(parses: Parses) -> Iterator[tuple[str, LengthClass]]:
    """F1 of each non-empty length class, named by its bounds."""
    lower = 0
    for upper in (*LENGTHS, None):
        within = [
            item
            for item in parses.counts
            if lower < item.words and (upper is None or item.words <= upper)
        ]
        if within:
            f1 = _f1(_sums(within).sum(axis=0))
            name = f"{lower + 1}-{upper}" if upper else f"{lower + 1}+"
            yield name, LengthClass(sentences=len(within), f1=f1)
        lower = upper or lower
