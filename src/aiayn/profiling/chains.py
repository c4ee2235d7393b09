"""Sequential operations (table 1): the longest chain in a layer's data-dependence graph."""

from __future__ import annotations

import torch
from torch import nn
from torch.func import functionalize
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import make_fx


def longest_chain(layer: nn.Module, n: int, d: int) -> int:
    """The length of the longest chain of dependent operations, for a sequence of n positions.

    The layer is traced on the meta device, where torch decomposes LSTM and attention, and
    functionalized (no in-place writes), so that every dependence is an edge. A matrix product
    counts as one operation, a view or a copy as none.
    """
    with torch.no_grad():
        traced = make_fx(functionalize(layer.to("meta"), remove="mutations_and_views"))(
            torch.empty(1, n, d, device="meta")
        )
    length: dict[Node, int] = {}
    for node in traced.graph.nodes:
        before = max((length[argument] for argument in node.all_input_nodes), default=0)
        length[node] = before + _computes(node)
    return max(length.values())


def _computes(node: Node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return False
    is_view = any(result.alias_info is not None for result in target._schema.returns)
    # functionalization replaces views and in-place writes with operators of these endings
    return not is_view and not target.overloadpacket.__name__.endswith(
        ("copy", "_scatter", "clone")
    )
