"""All parameters of a model as one vector: one tensor to add up, to step and to save."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class FlatParameters:
    """Moves a model's parameters and gradients into one vector each; the model keeps views.

    `values` is what an optimiser steps; its `.grad` is where every backward pass adds up, so that
    micro-batches accumulate and processes add up in a single call.
    """

    def __init__(self, model: nn.Module) -> None:
        parameters = list(model.parameters())
        self.values = nn.Parameter(torch.cat([p.detach().flatten() for p in parameters]))
        self.values.grad = torch.zeros_like(self.values)
        begin = 0
        for parameter in parameters:
            end = begin + parameter.numel()
            parameter.data = self.values.data[begin:end].view_as(parameter)
            parameter.grad = self.values.grad[begin:end].view_as(parameter)
            begin = end

    @property
    def gradients(self) -> Tensor:
        """The gradient vector; shape (parameters,)."""
        assert self.values.grad is not None
        return self.values.grad
