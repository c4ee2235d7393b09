"""Table 3's variations compared with their base model: comparisons/table_3.json."""

from __future__ import annotations

from collections.abc import Mapping
from operator import not_
from pathlib import Path
from typing import Literal

from pydantic import Field

from aiayn.errors import ScoreError
from aiayn.results.json_files import JsonFile, Sourced, file_error
from aiayn.results.scores import TestSet
from aiayn.validation import Items, StrictModel

FORMAT = 3

Direction = Literal["higher", "lower", "equal"]
Outcome = Literal["higher", "lower", "equal", "undecided"]
Verdict = Literal[
    "holds at this scale", "does not hold at this scale", "undecided", "not run at this scale"
]


class Effect(Sourced):
    """An effect over seeds, on the measure's own scale, and its test.

    `value` is a difference in BLEU, or a ratio of perplexities; `low` and `high` bound its
    confidence interval, simultaneous over all tests (95 %; 90 % for a claim of equality).
    `corrected` is the `p_value`, corrected for interim looks and for the number of tests (Holm).
    `count` is the number of compared values, seeds or models; `unpaired` are the seeds that one of
    the compared models lacks.
    """

    value: float
    low: float
    high: float
    p_value: float
    corrected: float
    count: int
    unpaired: Items[int] = Field(default=(), exclude_if=not_)


class Measure(Sourced):
    """A measure over a model's seeds: the mean, and the standard deviation if there are several.

    `effect` is relative to the base: None for the base itself, and if it could not be tested, for
    the reason `why_not_tested`. `claim` is the paper's statement about the variation, None if it
    gives no direction; `outcome` is our result beyond seed noise.
    """

    mean: float
    sd: float | None = None
    effect: Effect | None = None
    claim: Direction | None = None
    outcome: Outcome = "undecided"
    why_not_tested: str | None = None


class Sentences(StrictModel):
    """The difference in BLEU from the base, and the p-value of the paired bootstrap over sentences,
    which does not include seed noise."""

    difference: float
    p_value: float


class Seed(StrictModel):
    """A run of a variation; `sentences` is None for the base's runs. `further` has its scores by
    metrics that the paper does not have."""

    run: str
    perplexity: float
    bleu: float
    sentences: Sentences | None = None
    further: Mapping[str, float] = Field(default={}, exclude_if=not_)


class Variation(StrictModel):
    """A model trained on the task of table 3: dev perplexity and BLEU, `further` measures, by
    metrics that the paper does not have, and its runs by seed."""

    perplexity: Measure
    bleu: Measure
    further: Mapping[str, Measure] = Field(default={}, exclude_if=not_)
    seeds: Mapping[str, Seed]

    @property
    def measures(self) -> Mapping[str, Measure]:
        """All measures by name."""
        return {"perplexity": self.perplexity, "bleu": self.bleu, **self.further}

    @property
    def run(self) -> str:
        """The first of its runs."""
        return next(iter(self.seeds.values())).run


class Finding(StrictModel):
    """A statement of the paper, tested. `effect` is defined in aiayn.paper.findings; it is None if
    a row was not run, or if it could not be tested, for the reason `why_not_tested`."""

    verdict: Verdict
    effect: Effect | None = None
    why_not_tested: str | None = None


class DecodingModes(StrictModel):
    """A run's BLEU on dev in each of paths.DECODING_MODES."""

    last: float
    averaged: float
    greedy: float


class Comparison(StrictModel):
    """All variations by model, including the `base`, and the `findings` about the paper's
    statements, by key (aiayn.paper.findings).

    `modes` has the runs that were decoded in all modes. `split` names the scored splits, joined by
    +; `signature` is sacreBLEU's. `preregistration` is the commit that declared the tests; None if
    they are exploratory.
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


def read(path: Path) -> Comparison:
    """Read a comparison.

    Raises:
        ScoreError: the file is missing, or is not a comparison.
    """
    comparison = _FILE.read(path)
    if comparison.base not in comparison.models:
        raise _file_error(path, f"models.{comparison.base}, the base, is missing.")
    return comparison


_file_error = file_error(ScoreError, lambda path: "compare")
_FILE = JsonFile(Comparison, _file_error, indent=2)
write = _FILE.write
