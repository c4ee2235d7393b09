"""Labelled bracketing of parse trees, counted as EVALB does with its parameters COLLINS.prm.

Of both trees, the words tagged as punctuation are taken out and brackets left empty with them; TOP
does not count, ADVP and PRT are one label, parts of speech are not judged. A bracket is matched by
one of the same label over the same words, once.

name | what, in percent over the whole set
--- | ---
bracket_f1 | harmonic mean of precision and recall: table 4
bracket_precision, bracket_recall | matched brackets of those predicted, of those in the treebank
exact_match | sentences with no bracket wrong and none missing
bracket_f1_40 | F1 over the sentences of at most 40 words
bracket_f1_wrapped | F1 if each tree, theirs and ours, had one bracket more around all its words

McClosky's trees of GENIA are wrapped so, (S1 (S ...)): F1 published on them holds one bracket a
sentence that can hardly be missed, and is to be held against bracket_f1_wrapped.

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
        """With one bracket more around all words, of which one counts at least."""
        return replace(
            self, matched=self.matched + 1, gold=self.gold + 1, predicted=self.predicted + 1
        )


@dataclass(frozen=True)
class BracketScores:
    """Scores by name; counts of sentences; and F1 by sentence length.

    `counts` tells how many sentences were scored, how many outputs had to be repaired into a tree,
    and how many sentences were skipped because the treebank has no word in them.
    """

    scores: dict[str, Score]
    counts: dict[str, int]
    lengths: dict[str, LengthClass]


def score_brackets(outputs: Sequence[str], gold: Sequence[Tree]) -> BracketScores:
    """Score linearized trees, as a model wrote them, against the treebank's.

    Outputs are repaired into trees over the treebank's words with the treebank's parts of speech,
    so that no sentence is left out, as EVALB would leave it, because words or punctuation differ.

    Raises:
        ScoreError: there is no sentence with a word, or not as many outputs as trees.
    """
    if len(outputs) != len(gold):
        raise ScoreError(f"{len(outputs)} outputs cannot be scored against {len(gold)} trees.")
    counts: list[Counts] = []
    wrapped: list[Counts] = []
    repairs = 0
    for output, tree in zip(outputs, gold, strict=True):
        if tree.words:
            predicted, repaired = restore(output.split(), tree.words, tree.tags)
            counts.append(count(tree, predicted))
            counts_a_word = any(tag not in PUNCTUATION for tag in tree.tags)
            wrapped.append(counts[-1].wrapped if counts_a_word else counts[-1])
            repairs += repaired
    if not counts:
        raise ScoreError(f"none of {len(gold)} trees has a word: nothing to score.")
    return BracketScores(
        scores=_scores(counts, wrapped),
        counts={
            "sentences": len(counts),
            "repaired": repairs,
            "skipped": len(gold) - len(counts),
        },
        lengths=dict(_by_length(counts)),
    )


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
    """Label and place of every bracket that counts, as often as it is there."""
    # how many words count before each place between two words
    before = list(accumulate((tag not in PUNCTUATION for tag in tree.tags), initial=0))
    return Counter(
        (SAME_LABEL.get(label, label), before[start], before[end])
        for label, start, end in tree.brackets
        if before[start] < before[end] and label != TOP and label not in PUNCTUATION
    )


def _scores(counts: Sequence[Counts], wrapped: Sequence[Counts]) -> dict[str, Score]:
    short = [item for item in counts if item.words <= CUT_OFF]
    scores = {
        "bracket_f1": _estimated(counts, _f1, "words:all"),
        "bracket_precision": _estimated(counts, _precision, "words:all"),
        "bracket_recall": _estimated(counts, _recall, "words:all"),
        "exact_match": _estimated(counts, _exact, "words:all"),
    }
    scores["bracket_f1_wrapped"] = _estimated(wrapped, _f1, "words:all|wrapped:yes")
    if short:
        scores["bracket_f1_40"] = _estimated(short, _f1, f"words:<={CUT_OFF}")
    return scores


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


def _by_length(counts: Sequence[Counts]) -> Iterator[tuple[str, LengthClass]]:
    """F1 of the sentences of each class of LENGTHS that has any; named by its bounds."""
    lower = 0
    for upper in (*LENGTHS, None):
        within = [c for c in counts if lower < c.words and (upper is None or c.words <= upper)]
        if within:
            f1 = _f1(_sums(within).sum(axis=0))
            name = f"{lower + 1}-{upper}" if upper else f"{lower + 1}+"
            yield name, LengthClass(sentences=len(within), f1=f1)
        lower = upper or lower
