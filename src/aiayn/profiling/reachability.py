"""Path length (table 1): how many layers until one position depends on another.

A layer's Jacobian gives its dependence relation: which outputs depend on which inputs. By the chain
rule, the relation of a stack is the boolean product of its layers' relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count

import torch
from torch import Tensor

from aiayn.errors import ProfileError
from aiayn.profiling.layer_types import LayerType, Path, Sizes


def dependence(layer: Callable[[Tensor], Tensor], n: int, d: int) -> Tensor:
    """Which of a layer's n outputs depend on which of its n inputs: bool (outputs, inputs).

    True where the Jacobian's d x d block is not zero, at a random point in float64. One backward
    pass suffices: in a batch of n copies, sentence i is differentiated at its output i.

    Args:
        layer: from (B, N, D) to (B, N, D), in float64.
    """
    generator = torch.Generator().manual_seed(0)
    x_ND = torch.randn(n, d, generator=generator, dtype=torch.float64)
    x_NND = x_ND.expand(n, n, d).clone().requires_grad_()
    weights_D = torch.randn(d, generator=generator, dtype=torch.float64)
    chosen = (layer(x_NND).diagonal(dim1=0, dim2=1).mT * weights_D).sum()
    (gradient_NND,) = torch.autograd.grad(chosen, x_NND)
    return gradient_NND.ne(0).any(dim=-1)


def relations(kind: LayerType, path: Path, sizes: Sizes) -> Callable[[int], Tensor]:
    """A function from a layer's height in the stack, from 0, to its dependence relation."""

    @cache
    def relation(height: float) -> Tensor:
        layer = path.layer_at(sizes, int(height)) if path.layer_at else kind.build(sizes)
        return dependence(layer.double(), sizes.n, sizes.d)

    return lambda height: relation(min(height, path.alike_from))


def path_length(layer_at: Callable[[int], Tensor], n: int) -> int:
    """The number of stacked layers until the last output depends on the first input.

    Args:
        layer_at: the relation (outputs, inputs) of each layer, counted from 0 at the bottom.
    Raises:
        ProfileError: not even n layers connect the two ends.
    """
    depends_N = torch.arange(n) == 0  # which positions depend on the first input
    for height in range(n):
        depends_N = layer_at(height)[:, depends_N].any(dim=1)
        if depends_N[-1]:
            return height + 1
    raise ProfileError(f"{n} layers do not connect the ends of {n} positions.")


def stacked(layer_at: Callable[[int], Tensor], n: int) -> Iterator[Tensor]:
    """The relations of stacks of 1, 2, 3, ... layers: an endless iterator."""
    reached = torch.eye(n)
    for depth in count():
        reached = (layer_at(depth).float() @ reached).gt(0).float()
        yield reached.bool()
