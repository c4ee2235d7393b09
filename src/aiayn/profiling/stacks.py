"""Stacks of one kind of layer: what each joins, and how table 1 says the path length grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from aiayn.profiling.convolutional import DilatedConvolution
from aiayn.profiling.layer_types import LAYER_TYPES, Sizes
from aiayn.profiling.reachability import dependence
from aiayn.profiling.recurrent import Recurrence
from aiayn.results.profiles import PathPoint

Relations = Callable[[int], Tensor]
"""Which outputs depend on which inputs, by the layer's height in the stack, from 0."""


@dataclass(frozen=True)
class Stack:
    """A kind of stack.

    `size` is what its path length may depend on besides n. The length is held against powers of
    `grows_with`, functions of a measured point; `exponents` are the paper's.
    """

    relations: Callable[[Sizes], Relations]
    size: str | None
    grows_with: Mapping[str, Callable[[PathPoint], float]]
    exponents: Mapping[str, int]


def _alike(name: str) -> Callable[[Sizes], Relations]:
    """The same layer at every height."""

    def relations(sizes: Sizes) -> Relations:
        relation = _dependence(LAYER_TYPES[name].build(sizes), sizes)
        return lambda _: relation

    return relations


def _dilated(sizes: Sizes) -> Relations:
    """Dilations 1, k, k^2, ..., from the bottom (section 4)."""
    return lambda height: _dependence(DilatedConvolution(sizes.d, sizes.k, sizes.k**height), sizes)


def _steps(sizes: Sizes) -> Relations:
    """Of the recurrence a layer is a step of time: the first reads the inputs, the others pass the
    states on.
    """
    recurrence = Recurrence(sizes.d).double()
    still = torch.zeros(1, sizes.n, sizes.d, dtype=torch.float64)
    read = dependence(lambda x: recurrence.step(still, x), sizes.n, sizes.d)
    passed = dependence(lambda states: recurrence.step(states, still), sizes.n, sizes.d)
    return lambda height: passed if height else read


def _dependence(layer: nn.Module, sizes: Sizes) -> Tensor:
    return dependence(layer.double(), sizes.n, sizes.d)


def _n(point: PathPoint) -> float:
    return float(point.n)


def _size(point: PathPoint) -> float:
    assert point.size is not None, "of a stack that has a kernel or a neighbourhood"
    return float(point.size)


STACKS: Mapping[str, Stack] = {
    "self_attention": Stack(_alike("self_attention"), None, {"n": _n}, {"n": 0}),
    "recurrent": Stack(_steps, None, {"n": _n}, {"n": 1}),
    "convolutional": Stack(_alike("convolutional"), "k", {"n": _n, "k": _size}, {"n": 1, "k": -1}),
    "dilated": Stack(_dilated, "k", {"log_k_n": lambda p: math.log(p.n, _size(p))}, {"log_k_n": 1}),
    "restricted": Stack(_alike("restricted"), "r", {"n": _n, "r": _size}, {"n": 1, "r": -1}),
}
