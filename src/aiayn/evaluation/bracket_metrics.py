"""Metrics of parse trees: labelled bracketing as EVALB counts it with its parameters COLLINS.prm.

In both trees, words tagged as punctuation are deleted, and with them the brackets that this leaves
empty; TOP does not count, ADVP and PRT are one label, parts of speech are not compared. A bracket
matches at most one of the same label over the same words.

name | in percent, over the whole set
--- | ---
bracket_f1 | harmonic mean of precision and recall: table 4
bracket_precision, bracket_recall | matched brackets of those predicted, of those in the treebank
exact_match | sentences with no bracket wrong and none missing
bracket_f1_40 | F1 over the sentences of at most 40 words
bracket_f1_wrapped | F1 with one bracket more around all words, in the treebank and in the output

McClosky's trees of GENIA are wrapped so, (S1 (S ...)): F1 published on them counts one bracket a
sentence that can hardly be missed, and must be compared with bracket_f1_wrapped.

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
LENGTHS = (10, 20, 30, 40, 50, 60)  # classes of sentences, each up to so many words; then the rest


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
        """With one bracket more around all words, at least one of which counts."""
        return replace(
            self, matched=self.matched + 1, gold=self.gold + 1, predicted=self.predicted + 1
        )


@dataclass(frozen=True)
class Parses:
    """A set's sentences that have a word, and how many of its outputs were repaired or skipped.

    Attributes:
        counts: by sentence.
        repaired: outputs that were no tree over the treebank's words.
        skipped: sentences in which the treebank has no word, or punctuation alone, as in EVALB.
    """

    counts: Sequence[Counts]
    repaired: int
    skipped: int


def read_parses(outputs: Sequence[str], gold: Sequence[Tree]) -> Parses:
    """Linearized trees, as a model wrote them, beside the treebank's.

    Outputs are repaired into trees over the treebank's words with the treebank's parts of speech,
    so that no sentence is left out, as EVALB would leave it, because words or punctuation differ.

    Raises:
        ScoreError: there is no sentence with a word, or not as many outputs as trees.
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
    of_gold, of_predicted = _brackets(gold), _brackets(predicted)
    return Counts(
        matched=(of_gold & of_predicted).total(),
        gold=of_gold.total(),
        predicted=of_predicted.total(),
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
    """The measure over all sentences, and over RESAMPLES draws of as many: 2.5% to 97.5%."""
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
    """F1 of the sentences of each class of LENGTHS that has any; named by its bounds."""
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
