"""Table 1 measured: FLOPs, sequential operations, path lengths and times of every layer type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from itertools import islice

import torch

from aiayn.config import LayerSizes, Profiling
from aiayn.errors import ProfileError
from aiayn.model.device import Device
from aiayn.profiling.chains import longest_chain
from aiayn.profiling.clocks import clock
from aiayn.profiling.counting import count_with_fvcore, count_with_torch
from aiayn.profiling.growth import exponents, line
from aiayn.profiling.layer_types import GROWS_WITH, LAYER_TYPES, PATHS, LayerType, Path, Sizes
from aiayn.profiling.reachability import path_length, relations, stacked
from aiayn.results.metadata import LayerTimes
from aiayn.results.profiles import (
    Chain,
    Counted,
    Counts,
    Exponent,
    Fitted,
    LayersProfile,
    Maps,
    PathPoint,
    Paths,
)

MAP_POSITIONS, MAP_LAYERS = 16, 3
HEADS = 2  # of the stacks: path lengths do not depend on it


def profile_layers(spec: Profiling) -> LayersProfile:
    """FLOPs, chains and path lengths: everything that is the same on every machine.

    Raises:
        ProfileError: an operator that cannot be counted, or counters that disagree.
    """
    sizes = _map_sizes(spec)
    return LayersProfile(
        heads=spec.heads,
        fixed=spec.fixed,
        counts={name: _counts(name, kind, spec) for name, kind in LAYER_TYPES.items()},
        chains={name: _chains(kind, spec) for name, kind in LAYER_TYPES.items()},
        paths={name: _paths(name, path, spec) for name, path in PATHS.items()},
        maps=Maps(
            k=sizes.k,
            r=sizes.r,
            **{name: _maps(name, path, sizes) for name, path in PATHS.items()},
        ),
    )


def clock_layers(
    spec: Profiling, device: Device, done: Callable[[], object]
) -> dict[str, dict[str, LayerTimes]]:
    """Seconds and bytes for one sentence, by layer type and length; `done` is called after each."""
    grid = spec.clocks
    times: dict[str, dict[str, LayerTimes]] = {}
    for name, kind in LAYER_TYPES.items():
        times[name] = {}
        for n in grid.n:
            layer = kind.build(Sizes(n, grid.d[0], grid.k[0], grid.r[0], spec.heads))
            x_1ND = torch.randn(1, n, grid.d[0], device=device.device)
            times[name][f"n{n}"] = clock(layer.to(device.device), x_1ND, device)
            done()
    return times


def count(name: str, kind: LayerType, sizes: Sizes) -> tuple[int, int]:
    """Forward FLOPs of one sentence: of the term alone, and of the whole layer.

    Raises:
        ProfileError: fvcore, torch's counter and the closed formula are not equal.
    """
    with torch.device("meta" if kind.counted_on_meta else "cpu"), torch.no_grad():
        # float64, for which the CPU has no fused LSTM kernel: torch counts nothing inside that
        layer = kind.build(sizes).double()
        x_1ND = torch.zeros(1, sizes.n, sizes.d, dtype=torch.float64)
        by_operator = count_with_fvcore(layer, x_1ND)
        by_torch, _ = count_with_torch(lambda: layer(x_1ND))
    whole = sum(by_operator.values())
    chosen = kind.term_operators or by_operator.keys()
    term = sum(flops for operator, flops in by_operator.items() if operator in chosen)
    formula = kind.term(sizes) + kind.projections(sizes)
    if not (whole == by_torch == formula and term == kind.term(sizes)):
        raise ProfileError(
            f"{name} at {sizes}: fvcore counts {whole:,} FLOPs ({term:,} in the term), torch "
            f"{by_torch:,}, the closed formula {formula:,} ({kind.term(sizes):,}). Correct "
            "whichever is wrong in src/aiayn/profiling/."
        )
    return term, whole


def _counts(name: str, kind: LayerType, spec: Profiling) -> Counts:
    points: dict[str, Counted] = {}
    for sizes in _grid(kind, spec):
        term, whole = count(name, kind, sizes)
        key = "_".join(f"{letter}{value}" for letter, value in asdict(sizes).items())
        points[key] = Counted(**asdict(sizes), term=term, layer=whole)
    return Counts(
        points=points,
        exponents={
            size: Exponent(
                term=_exponent(size, "term", points.values(), spec.fixed),
                layer=_exponent(size, "layer", points.values(), spec.fixed),
            )
            for size in kind.exponents
        },
        paper=dict(kind.exponents),
    )


def _grid(kind: LayerType, spec: Profiling) -> Iterator[Sizes]:
    """Points that vary one size at a time while the others are fixed.

    Rows of table 1 also vary n at the larger widths. Other layer types get only the three smallest
    n, because tracing a thousand LSTM steps takes seconds.
    """
    fixed, grid = Sizes(**dict(spec.fixed), h=spec.heads), spec.counts
    widths = [d for d in grid.d if d > fixed.d] if kind.in_table else []
    lengths = grid.n if kind.in_table else sorted(grid.n)[:3]
    points = [replace(fixed, n=n, d=d) for d in (fixed.d, *widths) for n in lengths]
    for size in kind.exponents:
        if size != "n":
            points += [replace(fixed, **{size: value}) for value in getattr(grid, size)]
    yield from dict.fromkeys(points)


def _exponent(size: str, part: str, points: Iterable[Counted], fixed: LayerSizes) -> Fitted:
    others = {name: value for name, value in vars(fixed).items() if name != size}
    chosen = [p for p in points if all(getattr(p, n) == value for n, value in others.items())]
    sizes, costs = ([getattr(p, name) for p in chosen] for name in (size, part))
    return exponents({size: sizes}, costs)[size].as_written()


def _chains(kind: LayerType, spec: Profiling) -> Chain:
    """The longest chain at each length, and the fitted line."""
    grid = spec.chains
    lengths = {
        n: longest_chain(
            kind.build(Sizes(n, grid.d[0], grid.k[0], grid.r[0], spec.heads)), n, grid.d[0]
        )
        for n in grid.n
    }
    intercept, slope = line(list(lengths), list(lengths.values()))
    return Chain(
        operations={f"n{n}": chain for n, chain in lengths.items()},
        intercept=intercept.as_written(),
        slope=slope.as_written(),
    )


def _paths(name: str, path: Path, spec: Profiling) -> Paths:
    """Path lengths of stacks of a layer type over its grid, and their exponents."""
    grid = spec.paths
    points: dict[str, PathPoint] = {}
    others: list[dict[str, int]] = [{}]
    if path.size:
        others = [{path.size: value} for value in getattr(grid, path.size)]
    for n in grid.n:
        for size in others:
            sizes = replace(Sizes(n, grid.d[0], grid.k[0], grid.r[0], HEADS), **size)
            length = path_length(relations(LAYER_TYPES[name], path, sizes), n)
            key = "_".join(f"{letter}{number}" for letter, number in {"n": n, **size}.items())
            points[key] = PathPoint(n=n, k=size.get("k"), r=size.get("r"), layers=length)
    grown = {size: [GROWS_WITH[size](p) for p in points.values()] for size in path.exponents}
    fitted = exponents(grown, [p.layers for p in points.values()])
    return Paths(
        points=points,
        exponents={size: exponent.as_written() for size, exponent in fitted.items()},
        paper=dict(path.exponents),
    )


def _map_sizes(spec: Profiling) -> Sizes:
    grid = spec.paths
    return Sizes(MAP_POSITIONS, grid.d[0], grid.k[0], grid.r[0], HEADS)


def _maps(name: str, path: Path, sizes: Sizes) -> dict[str, tuple[str, ...]]:
    """The relations of stacks of one to MAP_LAYERS layers, as rows of 0 and 1."""
    reached = islice(stacked(relations(LAYER_TYPES[name], path, sizes), sizes.n), MAP_LAYERS)
    return {
        f"layers{depth}": tuple("".join(map(str, row)) for row in relation.int().tolist())
        for depth, relation in enumerate(reached, start=1)
    }
