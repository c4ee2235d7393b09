"""Sentence classification by the encoder of figure 1 and a linear layer. Beyond the paper. Shape
suffixes as in model/transformer.py."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aiayn.config import Model
from aiayn.model.dropout import Dropout
from aiayn.model.encoder import Encoding
from aiayn.model.layers import encoder_layers, final_norm
from aiayn.model.positions import positions_of


class Classifier(Encoding):
    """The encoder stack, the mean of its output over the real positions, and one linear layer.

    Args:
        model: a row of table 3.
        vocabulary: number of pieces.
        labels: number of labels.
        max_length: rows of the learned position table, where the row asks for one.
        pad: id of the padding token.
    """

    def __init__(
        self, model: Model, vocabulary: int, labels: int, *, max_length: int, pad: int = 0
    ) -> None:
        super().__init__()
        self.pad = pad
        self.scale = model.d_model**0.5
        self.embedding = nn.Parameter(torch.empty(vocabulary, model.d_model))
        self.source_positions = positions_of(model, max_length)
        self.source_dropout = Dropout(model.P_drop)
        self.encoder = encoder_layers(model)
        self.encoder_norm = final_norm(model)
        self.head = nn.Linear(model.d_model, labels)
        self.reset_parameters()
        nn.init.xavier_uniform_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, source_BS: Tensor) -> Tensor:
        """Logits of each label, (B, Y).

        Args:
            source_BS: int64 piece ids, the end symbol last, padded on the right. A row of padding
                only, which fills up a batch, has logits too: those of its first position.
        """
        x_BSD, is_real_B11S = self.read(source_BS)
        is_real_BS1 = is_real_B11S[:, 0, 0, :, None]
        mean_BD = (x_BSD * is_real_BS1).sum(dim=1) / is_real_BS1.sum(dim=1)
        logits_BY: Tensor = self.head(mean_BD)
        return logits_BY
