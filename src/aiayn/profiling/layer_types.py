"""The layer types of table 1, one entry each: name, module, cost and path length. Profiling
measures them and the report shows them; a new type is an entry here and its module.

Torch is imported only when a layer is built: the report needs just names and formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from aiayn.results.profiles import PathPoint

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Sizes:
    """n positions, width d, kernel k, neighbourhood r (table 1); h heads of d / h."""

    n: int
    d: int
    k: int
    r: int
    h: int


@dataclass(frozen=True, kw_only=True)
class Path:
    """How many stacked layers connect the two ends of a sequence.

    Attributes:
        formula: the exact number of layers by the layer's definition, as text.
        layers: the same, from n and the size below (0 if there is none).
        exponents: the exponents of its growth, from the paper; keys as in GROWS_WITH.
        size: what it depends on besides n.
        layer_at: the layer at a height in the stack, from 0; None for the layer type itself.
        alike_from: the height from which all layers of the stack are identical.
    """

    formula: str
    layers: Callable[[int, int], int]
    exponents: Mapping[str, int]
    size: Literal["k", "r"] | None = None
    layer_at: Callable[[Sizes, int], nn.Module] | None = None
    alike_from: float = 0

    def count(self, point: PathPoint) -> int:
        """The exact number of layers at a measured point's sizes."""
        return self.layers(point.n, point.size or 0)

    def matches(self, points: Iterable[PathPoint]) -> bool:
        """Whether every measured number of layers equals the exact one."""
        return all(point.layers == self.count(point) for point in points)


@dataclass(frozen=True, kw_only=True)
class LayerType:
    """A type of layer. FLOPs are for the forward pass of one sentence; a multiply-add is two.

    Attributes:
        name: as shown in tables and figures.
        build: makes the module, which maps (B, N, D) to (B, N, D).
        term: FLOPs of the part that table 1's formula describes.
        projections: FLOPs of the rest of the layer.
        exponents: those of the paper's formula.
        term_operators: the operators of the term, by fvcore's names; None if the term is the whole
            layer.
        in_table: whether table 1 has a row for it (paper/table_1.py, by the same key).
        path: None if no stack of it is measured.
        path_from: the layer type whose path length the row shows instead of its own.
        counted_on_meta: whether FLOPs are counted on the meta device. On the CPU, the attention
            kernel pads the products that torch's counter sees, and restricted attention is several
            times slower. On the meta device, fvcore's tracer cannot infer the shape of a
            convolution, and each of a recurrence's many small operators runs in Python.
    """

    name: str
    build: Callable[[Sizes], nn.Module]
    term: Callable[[Sizes], int]
    exponents: Mapping[str, int]
    projections: Callable[[Sizes], int] = lambda _: 0
    term_operators: frozenset[str] | None = None
    in_table: bool = False
    path: Path | None = None
    path_from: str | None = None
    counted_on_meta: bool = False


def _modules() -> ModuleType:
    from aiayn.profiling import modules

    return modules


def _four_projections(s: Sizes) -> int:
    return 2 * 4 * s.n * s.d**2


def _digits(number: int, base: int) -> int:
    """The number of digits of an integer, without the rounding errors of logarithms."""
    digits = 1
    while number >= base:
        number //= base
        digits += 1
    return digits


LAYER_TYPES: Mapping[str, LayerType] = {
    "self_attention": LayerType(
        name="Self-attention",
        build=lambda s: _modules().SelfAttention(s.d, s.h, s.d // s.h, s.d // s.h),
        term=lambda s: 2 * 2 * s.n**2 * s.d,
        projections=_four_projections,
        exponents={"n": 2, "d": 1},
        term_operators=frozenset({"scaled_dot_product_attention"}),
        in_table=True,
        path=Path(formula="1", layers=lambda n, _: 1, exponents={"n": 0}),
        counted_on_meta=True,
    ),
    "recurrent": LayerType(
        name="Recurrent",
        build=lambda s: _modules().Recurrence(s.d),
        term=lambda s: 2 * 2 * s.n * s.d**2,
        exponents={"n": 1, "d": 2},
        in_table=True,
        path=Path(
            formula="n",
            layers=lambda n, _: n,
            exponents={"n": 1},
            layer_at=lambda s, height: _modules().RecurrenceStep(s.d, reads=height == 0),
            alike_from=1,
        ),
    ),
    "convolutional": LayerType(
        name="Convolutional",
        build=lambda s: _modules().Convolution(s.d, s.k),
        term=lambda s: 2 * s.k * s.n * s.d**2,
        exponents={"k": 1, "n": 1, "d": 2},
        in_table=True,
        path=Path(
            formula="⌈(n − 1) / ⌊k / 2⌋⌉",
            layers=lambda n, k: -(-(n - 1) // (k // 2)),
            exponents={"n": 1, "k": -1},
            size="k",
        ),
        path_from="dilated",  # the paper's log_k(n)
    ),
    "restricted": LayerType(
        name="Self-attention (restricted)",
        build=lambda s: _modules().RestrictedSelfAttention(s.d, s.h, s.d // s.h, s.d // s.h, s.r),
        term=lambda s: 2 * 2 * s.r * s.n * s.d,
        projections=_four_projections,
        exponents={"r": 1, "n": 1, "d": 1},
        term_operators=frozenset({"matmul"}),
        in_table=True,
        path=Path(
            formula="⌈(n − 1) / ⌊r / 2⌋⌉",
            layers=lambda n, r: -(-(n - 1) // (r // 2)),
            exponents={"n": 1, "r": -1},
            size="r",
        ),
        counted_on_meta=True,
    ),
    "lstm": LayerType(
        name="LSTM",
        build=lambda s: _modules().GatedRecurrence("LSTM", s.d),
        term=lambda s: 2 * 8 * s.n * s.d**2,
        exponents={"n": 1, "d": 2},
    ),
    "gru": LayerType(
        name="GRU",
        build=lambda s: _modules().GatedRecurrence("GRU", s.d),
        term=lambda s: 2 * 6 * s.n * s.d**2,
        exponents={"n": 1, "d": 2},
    ),
    "dilated": LayerType(
        name="Convolutional, dilated",
        build=lambda s: _modules().DilatedConvolution(s.d, s.k, dilation=s.k),
        term=lambda s: 2 * s.k * s.n * s.d**2,
        exponents={"k": 1, "n": 1, "d": 2},
        path=Path(
            formula="⌈log_k n⌉",
            layers=lambda n, k: _digits(n - 1, k),
            exponents={"log_k_n": 1},
            size="k",
            # dilations 1, k, k^2, ..., from the bottom (section 4)
            layer_at=lambda s, height: _modules().DilatedConvolution(s.d, s.k, s.k**height),
            alike_from=math.inf,
        ),
    ),
    "separable": LayerType(
        name="Separable convolution",
        build=lambda s: _modules().SeparableConvolution(s.d, s.k),
        term=lambda s: 2 * (s.k * s.n * s.d + s.n * s.d**2),
        exponents={"n": 1},  # a sum of two terms: not a power of k or d
    ),
}

ROWS = {name: kind for name, kind in LAYER_TYPES.items() if kind.in_table}
"""The rows of table 1, in its order."""


def _with_paths() -> dict[str, Path]:
    """Rows of the table first, each followed by the type in its `path_from`."""
    rows = [name for row, kind in ROWS.items() for name in (row, kind.path_from) if name]
    return {
        name: kind.path
        for name in dict.fromkeys([*rows, *LAYER_TYPES])
        if (kind := LAYER_TYPES[name]).path
    }


PATHS: Mapping[str, Path] = _with_paths()
"""The layer types of which stacks are measured."""


def _size(point: PathPoint) -> float:
    assert point.size is not None, "the stack has no kernel or neighbourhood"
    return float(point.size)


GROWS_WITH: Mapping[str, Callable[[PathPoint], float]] = {
    "n": lambda point: float(point.n),
    "k": _size,
    "r": _size,
    "log_k_n": lambda point: math.log(point.n, _size(point)),
}
"""The quantities that path lengths are fitted against."""
