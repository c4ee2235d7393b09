"""A wider model that computes the same function, to measure speed at a size that was not trained.
Every vector x of the model becomes (x, x, ...) in the wider one.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from aiayn.config import Model
from aiayn.model.transformer import Transformer

POSITIONS = 512  # longer than any sentence here


@torch.no_grad()
def widened(model: Transformer, row: Model, times: int) -> tuple[Transformer, Model]:
    """The model, `times` as wide, and its row: d_model, d_ff, d_k and d_v grow, N and h stay.

    Its logits are those of `model` up to rounding; it has learned positions, for there is no
    sinusoid of that shape.
    """
    if times == 1:
        return model, row
    wider = row.replace(
        d_model=row.d_model * times,
        d_ff=row.d_ff * times,
        d_k=row.d_k * times,
        d_v=row.d_v * times,
        positions="learned",
    )
    out = Transformer(wider, len(model.embedding), max_length=POSITIONS)
    own, weights = model.state_dict(), {}
    for side in ("source_positions", "target_positions"):
        weights[f"{side}.table"] = getattr(model, side)(0, POSITIONS).tile(1, times)
    for name, weight in own.items():
        if not name.endswith("positions.table"):
            weights[name] = _widened(name, weight, row, times)
    out.load_state_dict(weights)
    return out.eval(), wider


def _widened(name: str, weight: Tensor, row: Model, times: int) -> Tensor:
    if name == "embedding":  # the input is scaled by sqrt(d_model)
        return torch.tile(weight, (1, times)) / math.sqrt(times)
    if name.startswith(f"decoder.{row.N - 1}.feed_forward_residual"):  # the output is not
        return torch.tile(weight, (times,)) / math.sqrt(times)
    if weight.ndim == 1:
        return torch.tile(weight, (times,))
    if "attention.w_o" in name:
        by_head = weight.view(row.d_model, row.h, 1, -1).expand(-1, -1, times, -1)
        return torch.tile(by_head.flatten(1), (times, 1)) / times
    if "attention.w_" in name:
        by_head = weight.view(row.h, 1, -1, row.d_model).expand(-1, times, -1, -1)
        # scores are divided by sqrt(d_k)
        root = 1.0 if name.endswith("w_v.weight") else times**-0.25
        return torch.tile(by_head.flatten(0, 2), (1, times)) * root / times
    return torch.tile(weight, (times, times)) / times
