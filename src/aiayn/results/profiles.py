"""What the layers of table 1 and the models cost: profiles/layers.json and profiles/models.json.

All of it is counted, so it is the same on every machine; times are circumstances.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiayn.errors import ProfileError
from aiayn.files import write_atomically
from aiayn.results.json_files import placed, plain, read_json, shaped

LAYERS_FORMAT = 1
MODELS_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted number with its standard error; `source` is where it stands, FILE:KEY.KEY."""

    value: float
    standard_error: float
    source: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """Table 1's letters: n positions, width d, kernel k, neighbourhood r."""

    n: int
    d: int
    k: int
    r: int


@dataclass(frozen=True, kw_only=True)
class Counted(LayerSizes):
    """Forward FLOPs of one sentence: of table 1's term alone, and of the whole layer of h heads."""

    h: int
    term: int
    layer: int
    source: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """The power of a size in the FLOPs of table 1's term, and in those of the whole layer."""

    term: Fitted
    layer: Fitted


@dataclass(frozen=True, kw_only=True)
class Counts:
    """FLOPs of a layer type: points by their sizes (n10_d512...), exponents and the paper's."""

    points: Mapping[str, Counted]
    exponents: Mapping[str, Exponent]
    paper: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Longest chain of operations by length (n4...), and the line through it."""

    operations: Mapping[str, int]
    intercept: Fitted
    slope: Fitted


@dataclass(frozen=True, kw_only=True)
class PathPoint:
    """Layers until the last of n positions depends on the first, of kernel k or neighbourhood r."""

    n: int
    k: int | None = None
    r: int | None = None
    layers: int
    source: str = field(default="", compare=False)

    @property
    def size(self) -> int | None:
        """The kernel or neighbourhood, of what has one."""
        return self.r if self.k is None else self.k


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Path lengths of a kind of stack; exponents, ours and the paper's, go by what the length is a
    power of."""

    points: Mapping[str, PathPoint]
    exponents: Mapping[str, Fitted]
    paper: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class _Layers:
    """Mappings go by layer type or kind of stack. `fixed` is what the other sizes are while one of
    them varies."""

    heads: int
    fixed: LayerSizes
    counts: Mapping[str, Counts]
    chains: Mapping[str, Chain]
    paths: Mapping[str, Paths]


@dataclass(frozen=True, kw_only=True)
class _LayersFile(_Layers):
    """As it lies: the sizes of the maps stand among them."""

    maps: Mapping[str, Any]


_MAP_SIZES = ("k", "r")


@dataclass(frozen=True, kw_only=True)
class LayersProfile(_Layers):
    """Table 1, measured.

    `maps` tell by kind of stack and number of layers (layers1...) which outputs depend on which
    inputs, a row of 0 and 1 each; `map_sizes` are the kernel k and the neighbourhood r there.
    """

    map_sizes: Mapping[str, int]
    maps: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Sides:
    """FLOPs of a source and of a target piece."""

    source: int
    target: int


@dataclass(frozen=True, kw_only=True)
class PairFlops:
    """FLOPs of a sentence pair: forward, and forward and backward."""

    forward: int
    training: int


@dataclass(frozen=True, kw_only=True)
class ModelCost:
    """Parameters, FLOPs a piece and FLOPs a pair of a model over `vocabulary` pieces."""

    vocabulary: int
    parameters: int
    forward_flops: Sides
    training_flops: Sides
    pair_flops: PairFlops
    source: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class ModelsProfile:
    """`models` by name and task, `paper` by row of table 3; in sentences of so many pieces."""

    sentence_pieces: int
    models: Mapping[str, Mapping[str, ModelCost]]
    paper: Mapping[str, ModelCost]


def write_layers(path: Path, profile: LayersProfile) -> None:
    """Write the profile of table 1's layers."""
    data = plain(profile)
    data["maps"] = data.pop("map_sizes") | data["maps"]
    _write(path, data)


def read_layers(path: Path) -> LayersProfile:
    """The profile of table 1's layers.

    Raises:
        ProfileError: the file is missing, or is not a profile of layers.
    """
    file = shaped(_LayersFile, read_json(path, _complaint), path, _complaint)
    for size in _MAP_SIZES:
        if size not in file.maps:
            raise _complaint(path, f"maps.{size} is missing.")
    stacks = {name: maps for name, maps in file.maps.items() if name not in _MAP_SIZES}
    of_stacks: Any = Mapping[str, Mapping[str, tuple[str, ...]]]
    profile = LayersProfile(
        heads=file.heads,
        fixed=file.fixed,
        counts=file.counts,
        chains=file.chains,
        paths=file.paths,
        map_sizes={
            size: shaped(int, file.maps[size], path, _complaint, f"maps.{size}")
            for size in _MAP_SIZES
        },
        maps=shaped(of_stacks, stacks, path, _complaint, "maps"),
    )
    return placed(profile, f"{path.name}:")


def write_models(path: Path, profile: ModelsProfile) -> None:
    """Write the profile of models."""
    _write(path, plain(profile))


def read_models(path: Path) -> ModelsProfile:
    """The profile of models.

    Raises:
        ProfileError: the file is missing, or is not a profile of models.
    """
    data = read_json(path, _complaint)
    return placed(shaped(ModelsProfile, data, path, _complaint), f"{path.name}:")


def _write(path: Path, data: Any) -> None:
    write_atomically(path, json.dumps(data, indent=1) + "\n")


def _complaint(path: Path, what: str) -> ProfileError:
    return ProfileError(f"{path}: {what} Make it again: dvc repro -f profile_{path.stem}.")
