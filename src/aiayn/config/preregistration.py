"""The design of a confirmatory comparison, declared before its seeds are trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from aiayn.validation import Items, StrictModel, invalid


class DeclaredStatement(StrictModel):
    """The measure by which a statement of the paper is tested, and its numbers of seeds if they
    differ from the comparison's."""

    measure: Literal["bleu", "perplexity"]
    interim_looks: Items[PositiveInt] | None = None


class Preregistration(StrictModel):
    """The declared design (docs/preregistration.md): a file of conf/preregistration.

    field | meaning
    --- | ---
    commit | the commit that declared it
    seeds | the only seeds that count, in the order in which they are added
    weights | the weights whose BLEU is tested: of the last checkpoint, or averaged
    splits | the splits BLEU is measured on, as one set; splits other than dev need averaged weights
    margin_bleu, margin_log_perplexity | the margins of equivalence ("nearly identical")
    statements | the family of tests, by key of aiayn.paper.findings
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
