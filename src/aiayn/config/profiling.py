"""Where table 1's layers and the models are measured."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.config.rules import positive, require

# sizes of a grid over which a growth is fitted; the others are only gone through
FITTED = {
    *(("counts", size) for size in "ndkr"),
    *(("paths", size) for size in "nkr"),
    ("chains", "n"),
}


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """n positions, width d, kernel k, neighbourhood r: the letters of table 1."""

    n: int
    d: int
    k: int
    r: int


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Values of the same four sizes."""

    n: tuple[int, ...]
    d: tuple[int, ...]
    k: tuple[int, ...]
    r: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Profiling:
    """Where table 1's layers and the models are measured.

    FLOPs are counted over `counts`, one size at a time with the others `fixed`; chains of
    operations, path lengths and times over grids of their own. `heads` is h of all attention
    layers, `sentence_pieces` the length of both sides at which a model's FLOPs are counted.
    """

    heads: int
    counts: Grid
    fixed: LayerSizes
    chains: Grid
    paths: Grid
    clocks: Grid
    sentence_pieces: int

    def check(self) -> None:
        """Raises ConfigError where a layer cannot be built, or a growth not be fitted."""
        for name in ("heads", "sentence_pieces"):
            positive(f"profiling.{name}", getattr(self, name))
        for size, value in vars(self.fixed).items():
            positive(f"profiling.fixed.{size}", value)
        for name in ("counts", "chains", "paths", "clocks"):
            for size, values in vars(getattr(self, name)).items():
                least = 4 if (name, size) in FITTED else 1
                self._check_values(f"profiling.{name}.{size}", size, values, least)
        require(
            self.fixed.d % self.heads == 0,
            "profiling.fixed.d",
            "must be a multiple of profiling.heads",
        )
        require(self.fixed.k % 2 == 1, "profiling.fixed.k", "must be odd, to be centred")

    def _check_values(self, key: str, size: str, values: tuple[int, ...], least: int) -> None:
        require(len(set(values)) >= least, key, "has too few values to fit")
        require(min(values) > 1, key, "must be above 1")
        require(size != "k" or all(k % 2 for k in values), key, "must be odd, to be centred")
        require(
            size != "d" or all(d % self.heads == 0 for d in values),
            key,
            f"must be multiples of profiling.heads, {self.heads}",
        )
