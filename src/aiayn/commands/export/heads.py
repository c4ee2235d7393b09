"""A model whose heads are as wide as other engines want them: d_k = d_v = d_model / h."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from aiayn.config import Model
from aiayn.errors import ConfigError
from aiayn.model.transformer import Transformer


@torch.no_grad()
def of_usual_width(model: Transformer, row: Model, max_length: int) -> tuple[Transformer, Model]:
    """The same function with keys and values of d_model / h numbers a head: narrower ones (table 3,
    rows B) get zeros, which add nothing to a product; and as the scores are divided by the root of
    the wider d_k, the queries grow by as much.

    Args:
        max_length: rows of the position table, where that is learned.
    Raises:
        ConfigError: heads are wider than d_model / h, or h does not divide d_model.
    """
    width = row.d_model // row.h
    if row.d_k == row.d_v == width and width * row.h == row.d_model:
        return model, row
    if width * row.h != row.d_model or max(row.d_k, row.d_v) > width:
        raise ConfigError(
            f"heads of d_k {row.d_k} and d_v {row.d_v} cannot be exported: other engines know "
            f"d_model / h, here {row.d_model} / {row.h}, and narrower ones alone."
        )
    usual = row.replace(d_k=width, d_v=width)
    out = Transformer(usual, len(model.embedding), max_length=max_length).eval()
    weights = {
        name: _widened(name, weight, row, width) for name, weight in model.state_dict().items()
    }
    out.load_state_dict(weights)
    return out, usual


def _widened(name: str, weight: Tensor, row: Model, width: int) -> Tensor:
    """h groups of d_k or d_v rows (of W_o: columns), each filled up with zeros."""
    if name.endswith("w_q.weight"):
        return _filled(weight, row.h, width) * math.sqrt(width / row.d_k)
    if name.endswith(("w_k.weight", "w_v.weight")):
        return _filled(weight, row.h, width)
    if name.endswith("w_o.weight"):
        return _filled(weight.t(), row.h, width).t()
    return weight


def _filled(weight: Tensor, heads: int, width: int) -> Tensor:
    by_head = weight.reshape(heads, -1, weight.shape[1])
    return torch.nn.functional.pad(by_head, (0, 0, 0, width - by_head.shape[1])).flatten(0, 1)
