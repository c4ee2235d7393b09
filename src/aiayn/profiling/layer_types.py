"""The layers of table 1 by name: how each is built, and what it costs in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from aiayn.model.attention import MultiHeadAttention
from aiayn.profiling.convolutional import Convolution, DilatedConvolution, SeparableConvolution
from aiayn.profiling.recurrent import GatedRecurrence, Recurrence
from aiayn.profiling.restricted import RestrictedSelfAttention


@dataclass(frozen=True)
class Sizes:
    """n positions, width d, kernel k, neighbourhood r (table 1); h heads of d / h."""

    n: int
    d: int
    k: int
    r: int
    h: int


@dataclass(frozen=True)
class LayerType:
    """A kind of layer.

    `term` is what table 1 counts, `projections` what the whole layer computes besides, both in
    FLOPs for one sentence: a multiply-add is two. `term_operators` are the operators, as fvcore
    names them, that make up the term; None where the whole layer is the term. `exponents` are those
    of the paper's formula; `in_table` tells whether table 1 has a row of it.
    """

    build: Callable[[Sizes], nn.Module]
    term: Callable[[Sizes], int]
    projections: Callable[[Sizes], int]
    exponents: Mapping[str, int]
    term_operators: frozenset[str] | None = None
    in_table: bool = False


class SelfAttention(MultiHeadAttention):
    """The model's own multi-head attention, from a sequence to itself (section 3.2.3)."""

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        return self.attend_to_itself(x_BND)


def _nothing(_: Sizes) -> int:
    return 0


def _four_projections(s: Sizes) -> int:
    return 2 * 4 * s.n * s.d**2


LAYER_TYPES: Mapping[str, LayerType] = {
    "self_attention": LayerType(
        build=lambda s: SelfAttention(s.d, s.h, s.d // s.h, s.d // s.h),
        term=lambda s: 2 * 2 * s.n**2 * s.d,
        projections=_four_projections,
        exponents={"n": 2, "d": 1},
        in_table=True,
        term_operators=frozenset({"scaled_dot_product_attention"}),
    ),
    "recurrent": LayerType(
        build=lambda s: Recurrence(s.d),
        term=lambda s: 2 * 2 * s.n * s.d**2,
        projections=_nothing,
        exponents={"n": 1, "d": 2},
        in_table=True,
    ),
    "convolutional": LayerType(
        build=lambda s: Convolution(s.d, s.k),
        term=lambda s: 2 * s.k * s.n * s.d**2,
        projections=_nothing,
        exponents={"k": 1, "n": 1, "d": 2},
        in_table=True,
    ),
    "restricted": LayerType(
        build=lambda s: RestrictedSelfAttention(s.d, s.h, s.d // s.h, s.d // s.h, s.r),
        term=lambda s: 2 * 2 * s.r * s.n * s.d,
        projections=_four_projections,
        exponents={"r": 1, "n": 1, "d": 1},
        in_table=True,
        term_operators=frozenset({"matmul"}),
    ),
    "lstm": LayerType(
        build=lambda s: GatedRecurrence(nn.LSTM, s.d),
        term=lambda s: 2 * 8 * s.n * s.d**2,
        projections=_nothing,
        exponents={"n": 1, "d": 2},
    ),
    "gru": LayerType(
        build=lambda s: GatedRecurrence(nn.GRU, s.d),
        term=lambda s: 2 * 6 * s.n * s.d**2,
        projections=_nothing,
        exponents={"n": 1, "d": 2},
    ),
    "dilated": LayerType(
        build=lambda s: DilatedConvolution(s.d, s.k, dilation=s.k),
        term=lambda s: 2 * s.k * s.n * s.d**2,
        projections=_nothing,
        exponents={"k": 1, "n": 1, "d": 2},
    ),
    "separable": LayerType(
        build=lambda s: SeparableConvolution(s.d, s.k),
        term=lambda s: 2 * (s.k * s.n * s.d + s.n * s.d**2),
        projections=_nothing,
        exponents={"n": 1},  # a sum of two terms is no power of k or d
    ),
}
