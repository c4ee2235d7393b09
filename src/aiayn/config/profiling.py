"""The sizes at which table 1's layers and the models are measured."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, PositiveInt, model_validator

from aiayn.validation import Items, StrictModel, invalid

# the sizes of each grid over which an exponent or a line is fitted
FITTED = {
    *(("counts", size) for size in "ndkr"),
    *(("paths", size) for size in "nkr"),
    ("chains", "n"),
}

Sizes = Annotated[Items[int], Field(min_length=1)]


class LayerSizes(StrictModel):
    """n positions, width d, kernel k, neighbourhood r: the letters of table 1."""

    n: PositiveInt
    d: PositiveInt
    k: PositiveInt
    r: PositiveInt


class Grid(StrictModel):
    """Values of the same four sizes."""

    n: Sizes
    d: Sizes
    k: Sizes
    r: Sizes


class Profiling(StrictModel):
    """The sizes at which table 1's layers and the models are measured.

    FLOPs are counted over `counts`, one size at a time with the others `fixed`; `chains` of
    operations, path lengths (`paths`) and times (`clocks`) have their own grids. `heads` is h of
    all attention layers. A model's FLOPs are counted for a pair of `sentence_pieces` pieces each.
    """

    heads: PositiveInt
    counts: Grid
    fixed: LayerSizes
    chains: Grid
    paths: Grid
    clocks: Grid
    sentence_pieces: PositiveInt

    @model_validator(mode="after")
    def _check(self) -> Self:
        for grid in ("counts", "chains", "paths", "clocks"):
            for size, values in getattr(self, grid):
                self._check_values(f"{grid}.{size}", values, 4 if (grid, size) in FITTED else 1)
        for size, value in self.fixed:
            self._check_values(f"fixed.{size}", (value,), 1, smallest=1)
        return self

    def _check_values(self, key: str, values: Items[int], least: int, smallest: int = 2) -> None:
        if len(set(values)) < least:
            raise invalid(key, "has too few values to fit.")
        if min(values) < smallest:
            raise invalid(key, f"must be at least {smallest}.")
        if key.endswith(".k") and not all(k % 2 for k in values):
            raise invalid(key, "must be odd, to be centred.")
        if key.endswith(".d") and any(d % self.heads for d in values):
            raise invalid(key, f"must be a multiple of profiling.heads, {self.heads}.")
