"""All parameters of a model as one vector: one tensor to add up, to step and to save."""

from __future__ import annotations

import torch
from torch import nn


class FlatParameters:
    """Moves a model's parameters and gradients into one vector each; the model keeps views.

    The optimiser updates `values`; every backward pass accumulates into its `.grad`. That is the
    first part of `sums`, which processes sum in one call; the last part, `control`, carries what
    else they exchange at every step.
    """

    def __init__(self, model: nn.Module, *, control_slots: int) -> None:
        parameters = list(model.parameters())
        self.values = nn.Parameter(torch.cat([p.detach().flatten() for p in parameters]))
        size = self.values.numel()
        self.sums = torch.zeros(size + control_slots, device=self.values.device)
        self.control = self.sums[size:]
        self.values.grad = self.sums[:size]
        begin = 0
        for parameter in parameters:
            end = begin + parameter.numel()
            parameter.data = self.values.data[begin:end].view_as(parameter)
            parameter.grad = self.values.grad[begin:end].view_as(parameter)
            begin = end
