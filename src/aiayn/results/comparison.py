"""Each variation of table 3 beside the model that it varies: comparisons/table_3.json."""

from __future__ import annotations

from collections.abc import Mapping
from operator import not_
from pathlib import Path
from typing import Literal

from pydantic import Field

from aiayn.errors import ScoreError
from aiayn.results.json_files import Sourced, read_json, with_sources, write_json
from aiayn.results.scores import TestSet
from aiayn.validation import Items, StrictModel

FORMAT = 3

Direction = Literal["higher", "lower", "equal"]
Outcome = Literal["higher", "lower", "equal", "undecided"]
Verdict = Literal[
    "holds at this scale", "does not hold at this scale", "undecided", "not run at this scale"
]


class Effect(Sourced):
    """A difference over seeds, on the measure's own scale, and its test.

    `value` is a difference in BLEU, or a ratio of perplexities; `low` and `high` bound its
    interval, simultaneous with those of the other tests (95 %; 90 % for a claim of equality).
    `p_value` is the test's, `corrected` that for the interim looks and the number of tests (Holm).
    `count` values were compared, seeds or models; `unpaired` are the seeds that one of the compared
    models lacks.
    """

    value: float
    low: float
    high: float
    p_value: float
    corrected: float
    count: int
    unpaired: Items[int] = Field(default=(), exclude_if=not_)

    @property
    def missing_partners(self) -> str:
        """Which seeds were left out, in words; empty if none was."""
        seeds = ", ".join(map(str, self.unpaired))
        return f"without seeds that lack a partner: {seeds}" if seeds else ""


class Measure(Sourced):
    """A measure over a model's seeds: the mean, and the standard deviation of several.

    `effect` is relative to the base: None for the base itself, and where nothing could be tested,
    for the reason `why_not_tested`. `claim` is what the paper says of the variation, None where it
    gives no direction; `outcome` is what ours shows beyond the noise of the seed.
    """

    mean: float
    sd: float | None = None
    effect: Effect | None = None
    claim: Direction | None = None
    outcome: Outcome = "undecided"
    why_not_tested: str | None = None


class Sentences(StrictModel):
    """BLEU less the base's, and the paired bootstrap's p-value: how likely a difference as large is
    with another choice of sentences. It does not include the noise of the seed."""

    difference: float
    p_value: float


class Seed(StrictModel):
    """A run of a variation; `sentences` is None for the base's."""

    run: str
    perplexity: float
    bleu: float
    sentences: Sentences | None = None


class Variation(StrictModel):
    """A model that learned the task of table 3: dev perplexity and BLEU, and its runs by seed."""

    perplexity: Measure
    bleu: Measure
    seeds: Mapping[str, Seed]

    @property
    def run(self) -> str:
        """The first of its runs."""
        return next(iter(self.seeds.values())).run


class Finding(StrictModel):
    """A statement of the paper, tested: `effect` as in aiayn.paper.findings, over our models.

    It is None where a row was not run, or nothing could be tested, for the reason `why_not_tested`.
    """

    verdict: Verdict
    effect: Effect | None = None
    why_not_tested: str | None = None


class DecodingModes(StrictModel):
    """BLEU of dev, as one run decoded it in each of paths.DECODING_MODES."""

    last: float
    averaged: float
    greedy: float


class Comparison(StrictModel):
    """All variations by model, the one that they vary, `base`, among them; and what they say of
    the paper's statements (aiayn.paper.findings), by key.

    `modes` has the runs that were decoded in all of them. `split` names the sentences that were
    scored, several joined by +; `signature` is sacreBLEU's. `preregistration` is the commit that
    declared the tests; None where they are exploratory.
    """

    task: str
    base: str
    preregistration: str | None = None
    split: str
    test_set: TestSet
    signature: str
    models: Mapping[str, Variation]
    modes: Mapping[str, DecodingModes]
    findings: Mapping[str, Finding]

    @property
    def runs(self) -> frozenset[str]:
        """All runs that are compared."""
        seeds = (seed.run for model in self.models.values() for seed in model.seeds.values())
        return frozenset((*seeds, *self.modes))


def write(path: Path, comparison: Comparison) -> None:
    """Write the variations beside their base."""
    write_json(path, comparison, indent=2)


def read(path: Path) -> Comparison:
    """The variations beside their base.

    Raises:
        ScoreError: the file is missing, or is not a comparison.
    """
    comparison = read_json(Comparison, path, _file_error)
    if comparison.base not in comparison.models:
        raise _file_error(path, f"models.{comparison.base}, the base, is missing.")
    return with_sources(comparison, f"{path.name}:")


def _file_error(path: Path, what: str) -> ScoreError:
    return ScoreError(f"{path}: {what} Make it again: dvc repro -f compare.")
