"""BLEU's statistics per sentence, from which corpus BLEU and its bootstrap are computed.

sacreBLEU tokenizes and counts; corpus BLEU is a function of the sums over sentences. The paired
bootstrap tests whether a difference in BLEU exceeds the sampling noise of the sentences; it does
not include seed noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sacrebleu import BLEU

from aiayn.config import Run, Variations
from aiayn.errors import ScoreError
from aiayn.evaluation.references import read_hypotheses, read_references
from aiayn.evaluation.translation_metrics import RESAMPLES, SEED, text_bleu
from aiayn.results import paths
from aiayn.results.comparison import Sentences
from aiayn.results.scores import DECIMALS
from aiayn.results.sentence_counts import ORDERS, Counts, Output


def count_sentences(
    variations: Variations, runs: Mapping[str, Run], root: Path = Path()
) -> dict[Output, Counts]:
    """BLEU's counts for every output of the comparison: those that compare the rows, and dev in all
    decoding modes, for runs that have them. A run without outputs, such as a seed of a later look,
    is left out.

    Raises:
        DataError, ScoreError: references or hypotheses are missing or damaged.
    """
    found: dict[Output, Counts] = {}
    for name, run in runs.items():
        outputs = root / paths.outputs(name)
        needed = [Output(name, paths.DEV, mode) for mode in paths.DECODING_MODES]
        if not all(_hypotheses(outputs, output).exists() for output in needed):
            needed = []
        if run.task == variations.task and outputs.exists():
            needed += [one for one in compared_outputs(variations, name) if one not in needed]
        for output in needed:
            references = read_references(root / paths.text(run.task), output.split)
            hypotheses = read_hypotheses(_hypotheses(outputs, output), references)
            found[output] = count(hypotheses, references.sentences, references.form)
    return found


def compared_outputs(variations: Variations, run: str) -> list[Output]:
    """The outputs of a run that are compared in table 3: dev decoded with the last checkpoint, as
    in section 6.2, or the preregistered splits and weights."""
    declared = variations.preregistration
    if declared is None:
        return [Output(run, paths.DEV, paths.LAST)]
    return [Output(run, split, declared.weights) for split in declared.splits]


def compared_sentences(
    variations: Variations, run: str, text: Path, root: Path
) -> tuple[list[str], list[str]]:
    """A run's hypotheses and their references in the folder `text`, for all sentences that are
    compared in table 3."""
    hypotheses: list[str] = []
    references: list[str] = []
    for output in compared_outputs(variations, run):
        of_split = read_references(text, output.split)
        path = _hypotheses(root / paths.outputs(run), output)
        hypotheses += read_hypotheses(path, of_split)
        references += of_split.sentences
    return hypotheses, references


def _hypotheses(folder: Path, output: Output) -> Path:
    if output.split == paths.DEV:
        return paths.dev_hypotheses(folder, output.mode)
    return paths.hypotheses(folder, output.split)  # averaged weights


def joined(variations: Variations, run: str, counts: Mapping[Output, Counts]) -> Counts:
    """A run's counts for all sentences that are compared in table 3, as one set."""
    outputs = compared_outputs(variations, run)
    for output in outputs:
        if output not in counts:
            raise ScoreError(
                f"{paths.SENTENCE_COUNTS}: {output.split} of {run} is missing. "
                "Make it again: dvc repro -f compare."
            )
    return np.concatenate([counts[output] for output in outputs])


def count(hypotheses: Sequence[str], references: Sequence[str], form: str) -> Counts:
    """BLEU's counts of each sentence.

    Args:
        form: of the text, which determines the kind of BLEU: see `text_bleu`.
    """
    metric = text_bleu(form)
    rows = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score = metric.corpus_score([hypothesis], [[reference]])
        rows.append((score.sys_len, score.ref_len, *score.counts))
    return np.array(rows, dtype=np.int64)


def signature(form: str) -> str:
    """sacreBLEU's signature of the scores."""
    metric = text_bleu(form)
    metric.corpus_score(["a"], [["a"]])  # the signature includes the last score's references
    return str(metric.get_signature())


def corpus_bleu(counts: Counts, form: str) -> float:
    """Corpus BLEU."""
    return _bleu(_sums(counts).sum(axis=0).tolist(), text_bleu(form))


class Resampled(NamedTuple):
    """A system's BLEU over all sentences, and over each of RESAMPLES bootstrap samples."""

    bleu: float
    resamples: npt.NDArray[np.float64]
    sentences: int


def resample(counts: Counts, form: str) -> Resampled:
    """Bootstrap a system's BLEU, with the same samples for all systems of as many sentences."""
    metric, sums, sentences = text_bleu(form), _sums(counts), len(counts)
    samples = (_draws(sentences) @ sums.astype(np.float32)).astype(np.int64)
    resamples = np.array([_bleu(sample, metric) for sample in samples.tolist()])
    return Resampled(_bleu(sums.sum(axis=0).tolist(), metric), resamples, sentences)


@lru_cache(maxsize=1)  # 92 MB for 22,895 sentences
def _draws(sentences: int) -> npt.NDArray[np.float32]:
    """[samples, sentences]: how often each bootstrap sample has each sentence. Floating point, for
    the speed of the product; sums are exact up to 2^24 words."""
    draws = np.random.default_rng(SEED).choice(sentences, size=(RESAMPLES, sentences))
    times = np.empty(draws.shape, dtype=np.float32)
    for row, draw in zip(times, draws, strict=True):
        row[:] = np.bincount(draw, minlength=sentences)
    return times


def paired_bootstrap(base: Resampled, other: Resampled) -> Sentences:
    """The difference in BLEU of two systems on the same sentences, and its p-value.

    Source: Koehn 2004, as sacreBLEU's --paired-bs, with its random numbers; except that the p-value
    is 1 for no difference or a single sentence, where sacreBLEU gives the smallest p-value.
    """
    difference = other.bleu - base.bleu
    if base.sentences < 2 or not round(difference, DECIMALS):
        return Sentences(difference=round(difference, DECIMALS), p_value=1.0)
    distances = np.abs(other.resamples - base.resamples)
    extreme = np.count_nonzero(distances - distances.mean() > abs(difference))
    p_value = (int(extreme) + 1) / (RESAMPLES + 1)
    return Sentences(difference=round(difference, DECIMALS), p_value=round(p_value, 4))


def _sums(counts: Counts) -> npt.NDArray[np.int64]:
    """The counts, followed by the number of n-grams of each order in the hypothesis."""
    words = counts[:, :1]
    return np.hstack([counts, np.clip(words - np.arange(ORDERS), 0, None)])


def _bleu(sums: Sequence[int], metric: BLEU) -> float:
    words, reference_words, *ngrams = sums
    return float(
        BLEU.compute_bleu(
            correct=ngrams[:ORDERS],
            total=ngrams[ORDERS:],
            sys_len=words,
            ref_len=reference_words,
            smooth_method=metric.smooth_method,
            smooth_value=metric.smooth_value,
            effective_order=metric.effective_order,
        ).score
    )
