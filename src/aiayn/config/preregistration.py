"""The design of a confirmatory comparison, declared before its seeds are trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from aiayn.validation import Items, StrictModel, invalid


class DeclaredStatement(StrictModel):
    """By which measure a statement of the paper is tested, and at which numbers of seeds if these
    are not the comparison's."""

    measure: Literal["bleu", "perplexity"]
    interim_looks: Items[PositiveInt] | None = None


class Preregistration(StrictModel):
    """What was declared (docs/preregistration.md); a file of conf/preregistration, and its commit.

    field | meaning
    --- | ---
    commit | the commit that declared it
    seeds | the only ones that count, in the order in which they are read
    weights | whose BLEU is tested: those of the last checkpoint, or their average
    splits | the sentences it is measured on, as one set; others than dev need averaged weights
    margin_bleu, margin_log_perplexity | within which two models are nearly identical
    statements | by key of aiayn.paper.findings: the family of tests
    """

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$")]
    seeds: Items[int]
    weights: Literal["last", "averaged"]
    splits: Items[str]
    margin_bleu: PositiveFloat
    margin_log_perplexity: PositiveFloat
    statements: Mapping[str, DeclaredStatement]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.weights == "last" and self.splits != ("dev",):
            raise invalid("splits", "must be [dev]: test sets are decoded with averaged weights.")
        if len(set(self.seeds)) < len(self.seeds):
            raise invalid("seeds", "holds a seed twice.")
        return self
