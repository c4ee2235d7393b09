"""Models whose every weight is drawn, so that none can stand in the wrong place unseen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aiayn.config import Model
from aiayn.model.transformer import Transformer

Drawn = Callable[..., tuple[Transformer, Model]]
PIECES = ["<pad>", "<unk>", "<s>", "</s>", *(f"w{n}" for n in range(4, 40))]


@pytest.fixture
def drawn(tiny: Callable[..., Model]) -> Drawn:
    """A model of a small row with any columns replaced; biases and norms are not their starts."""

    def make(pieces: int = len(PIECES), **columns: object) -> tuple[Transformer, Model]:
        torch.manual_seed(5)
        row = tiny(**columns)
        model = Transformer(row, pieces, max_length=16).eval()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if name.endswith("bias"):
                    weight.normal_(std=0.3)
                elif "norm.weight" in name:
                    weight.uniform_(0.5, 1.5)
        return model, row

    return make
