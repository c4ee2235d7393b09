"""What the profiling stages measured, read back with types: profiles/layers.json, models.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from aiayn.errors import ProfileError

T = TypeVar("T")


@dataclass(frozen=True)
class Fitted:
    """A fitted number with its standard error; `source` is where it stands, FILE:KEY.KEY."""

    value: float
    standard_error: float
    source: str


@dataclass(frozen=True)
class Exponent:
    """The power of a size in table 1's term, as the paper has it and fitted, and in the layer."""

    paper: int
    term: Fitted
    layer: Fitted


@dataclass(frozen=True)
class Counted:
    """Forward FLOPs of one sentence: of table 1's term alone, and of the whole layer."""

    n: int
    d: int
    k: int
    r: int
    term: int
    layer: int
    source: str


@dataclass(frozen=True)
class Chain:
    """Longest chain of operations by n, and the line through it."""

    operations: Mapping[int, int]
    intercept: Fitted
    slope: Fitted


@dataclass(frozen=True)
class PathPoint:
    """Layers until the last position depends on the first; `size` is a kernel or neighbourhood."""

    n: int
    size: int | None
    layers: int
    source: str


@dataclass(frozen=True)
class PathGrowth:
    """Path lengths of a kind of stack; `exponents` go by what the length is a power of."""

    points: tuple[PathPoint, ...]
    exponents: Mapping[str, tuple[int, Fitted]]


@dataclass(frozen=True)
class LayersProfile:
    """profiles/layers.json. Mappings go by layer type; maps by layer type and number of layers."""

    fixed: Mapping[str, int]
    exponents: Mapping[str, Mapping[str, Exponent]]
    counts: Mapping[str, tuple[Counted, ...]]
    chains: Mapping[str, Chain]
    paths: Mapping[str, PathGrowth]
    maps: Mapping[str, Mapping[int, tuple[str, ...]]]
    map_sizes: Mapping[str, int]


@dataclass(frozen=True)
class ModelCost:
    """Parameters and FLOPs a piece of a model over `vocabulary` pieces; mappings go by side."""

    vocabulary: int
    parameters: int
    forward_flops: Mapping[str, int]
    training_flops: Mapping[str, int]
    source: str


@dataclass(frozen=True)
class ModelsProfile:
    """profiles/models.json: `models` by model and task, `paper` by row of table 3."""

    sentence_pieces: int
    models: Mapping[str, Mapping[str, ModelCost]]
    paper: Mapping[str, ModelCost]


def read_layers(path: Path) -> LayersProfile | None:
    """profiles/layers.json; None where it is missing.

    Raises:
        ProfileError: the file is not a profile of layers.
    """
    return _read(path, _layers, "profile_layers")


def read_models(path: Path) -> ModelsProfile | None:
    """profiles/models.json; None where it is missing.

    Raises:
        ProfileError: the file is not a profile of models.
    """
    return _read(path, _models, "profile_models")


def _read(path: Path, build: Callable[[Any, str], T], stage: str) -> T | None:
    try:
        return build(json.loads(path.read_bytes()), path.name)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        complaint = " ".join(str(error).split())
        raise ProfileError(
            f"{path}: not a profile ({type(error).__name__}: {complaint}). "
            f"Make it again: dvc repro -f {stage}."
        ) from error


def _layers(data: Mapping[str, Any], file: str) -> LayersProfile:
    maps = dict(data["maps"])
    sizes = {size: int(maps.pop(size)) for size in ("k", "r")}
    return LayersProfile(
        fixed={size: int(value) for size, value in data["fixed"].items()},
        exponents={
            name: {
                size: Exponent(
                    int(counts["paper"][size]),
                    *(
                        _fitted(entry[part], f"{file}:counts.{name}.exponents.{size}.{part}")
                        for part in ("term", "layer")
                    ),
                )
                for size, entry in counts["exponents"].items()
            }
            for name, counts in data["counts"].items()
        },
        counts={
            name: tuple(
                Counted(
                    **{key: int(point[key]) for key in ("n", "d", "k", "r", "term", "layer")},
                    source=f"{file}:counts.{name}.points.{place}",
                )
                for place, point in counts["points"].items()
            )
            for name, counts in data["counts"].items()
        },
        chains={
            name: Chain(
                operations={int(n[1:]): int(c) for n, c in chain["operations"].items()},
                intercept=_fitted(chain["intercept"], f"{file}:chains.{name}.intercept"),
                slope=_fitted(chain["slope"], f"{file}:chains.{name}.slope"),
            )
            for name, chain in data["chains"].items()
        },
        paths={name: _path(path, f"{file}:paths.{name}") for name, path in data["paths"].items()},
        maps={
            name: {int(depth.removeprefix("layers")): tuple(rows) for depth, rows in kind.items()}
            for name, kind in maps.items()
        },
        map_sizes=sizes,
    )


def _path(data: Mapping[str, Any], place: str) -> PathGrowth:
    return PathGrowth(
        points=tuple(
            PathPoint(
                int(point["n"]),
                point.get("k", point.get("r")),
                int(point["layers"]),
                f"{place}.points.{key}",
            )
            for key, point in data["points"].items()
        ),
        exponents={
            size: (int(data["paper"][size]), _fitted(entry, f"{place}.exponents.{size}"))
            for size, entry in data["exponents"].items()
        },
    )


def _fitted(data: Mapping[str, Any], place: str) -> Fitted:
    return Fitted(float(data["value"]), float(data["standard_error"]), place)


def _models(data: Mapping[str, Any], file: str) -> ModelsProfile:
    return ModelsProfile(
        sentence_pieces=int(data["sentence_pieces"]),
        models={
            model: {
                task: _cost(cost, f"{file}:models.{model}.{task}") for task, cost in tasks.items()
            }
            for model, tasks in data["models"].items()
        },
        paper={row: _cost(cost, f"{file}:paper.{row}") for row, cost in data["paper"].items()},
    )


def _cost(data: Mapping[str, Any], place: str) -> ModelCost:
    flops = {
        kind: {side: int(data[kind][side]) for side in ("source", "target")}
        for kind in ("forward_flops", "training_flops")
    }
    return ModelCost(
        vocabulary=int(data["vocabulary"]),
        parameters=int(data["parameters"]),
        source=place,
        **flops,
    )
