"""Models with all weights random, so that a misplaced one is noticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from aiayn.config import Bpe, Model
from aiayn.data.bpe.vocabulary import train_bpe
from aiayn.model.transformer import Transformer

RandomModel = Callable[..., tuple[Transformer, Model]]
SENTENCES = ["a dog sleeps in the sun .", "two men are walking .", "ein hund schläft ½ .", "x"]
PIECES = ["<pad>", "<unk>", "<s>", "</s>", *(f"w{n}" for n in range(4, 40))]


@pytest.fixture
def random_model(tiny: Callable[..., Model]) -> RandomModel:
    """Makes a model of a small row with any columns replaced; biases and norms are random too."""

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


@pytest.fixture
def bpe(tmp_path: Path) -> Path:
    text = tmp_path / "text"
    text.write_text("".join(f"{line}\n" for line in SENTENCES[:2] * 5))
    train_bpe([text], tmp_path / "bpe", Bpe(vocabulary=290, normalization="identity"))
    return tmp_path / "bpe/model.model"
