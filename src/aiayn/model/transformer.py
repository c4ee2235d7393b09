"""The Transformer (figure 1).

Tensors have their shape as a suffix, a letter for each dimension (x_BTD), in all packages:

letter | dimension
--- | ---
B | sentences of a batch
S | positions that are attended to: of the source, or before this one
T | positions that attend: of the target, or of either side to itself
N | positions in a row: of a sequence of table 1's layers, of a whole batch in the loss
D | d_model
H | heads
K | d_k
V | d_v
R | neighbours that restricted attention sees, table 1's r; so many queries make a block of it
G | blocks of a sentence
X | positions that any query of a block sees
A | B * G, the blocks of all sentences
P | pieces of the vocabulary
W | hypotheses of a sentence: the width of the beam
F | B * W, the hypotheses of all sentences
C | candidates to extend a sentence's hypotheses by
L | layers
Y | labels
1 | one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from aiayn.config import Model
from aiayn.model.attention import KeysValues
from aiayn.model.dropout import Dropout
from aiayn.model.encoder import Encoding
from aiayn.model.layers import (
    DecoderAttention,
    DecoderLayer,
    decoder_layers,
    encoder_layers,
    final_norm,
)
from aiayn.model.positions import positions_of


@dataclass
class Memory:
    """The source as the decoder sees it: each layer's keys and values, and which are real."""

    layers: list[KeysValues]
    may_attend_B11S: Tensor


class Transformer(Encoding):
    """Encoder and decoder stacks over one shared embedding matrix (section 3.4).

    Args:
        model: a row of table 3.
        vocabulary: number of pieces, shared by source and target.
        max_length: rows of the learned position table, where the row asks for one.
        pad: id of the padding token.
    """

    def __init__(self, model: Model, vocabulary: int, *, max_length: int, pad: int = 0) -> None:
        super().__init__()
        self.pad = pad
        self.neighbourhood = model.neighbourhood
        self.scale = model.d_model**0.5
        self.embedding = nn.Parameter(torch.empty(vocabulary, model.d_model))
        self.source_positions = positions_of(model, max_length)
        self.target_positions = positions_of(model, max_length)
        self.source_dropout = Dropout(model.P_drop)
        self.target_dropout = Dropout(model.P_drop)
        self.encoder = encoder_layers(model)
        self.encoder_norm = final_norm(model)
        self.decoder = decoder_layers(model)
        self.decoder_norm = final_norm(model)
        self.reset_parameters()

    def forward(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """Logits of the next piece after each target position, (B, T, P).

        Args:
            source_BS: int64 piece ids, padded on the right.
            target_BT: int64 piece ids beginning with the start symbol, padded on the right.
        """
        return self.logits(self.states(source_BS, target_BT))

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        """The decoder's layers, by their type."""
        return [layer for layer in self.decoder if isinstance(layer, DecoderLayer)]

    def states(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """The decoder's output (B, T, D), from which `logits` predicts the next piece."""
        memory = self.encode(source_BS)
        attentions = [
            layer.attention(source, memory.may_attend_B11S)
            for layer, source in zip(self.decoder_layers, memory.layers, strict=True)
        ]
        return self.decode(target_BT, self.target_positions(0, target_BT.shape[1]), attentions)

    def decode(
        self, target_BT: Tensor, positions_TD: Tensor, attentions: Sequence[DecoderAttention]
    ) -> Tensor:
        """Run the decoder; its output (B, T, D).

        Args:
            target_BT: int64 piece ids.
            positions_TD: their positional encodings; (1, D) if all have the same position.
            attentions: of each layer.
        """
        x_BTD: Tensor = functional.embedding(target_BT, self.embedding) * self.scale
        x_BTD = self.target_dropout(x_BTD + positions_TD)
        for layer, attention in zip(self.decoder, attentions, strict=True):
            x_BTD = layer(x_BTD, attention)
        out: Tensor = self.decoder_norm(x_BTD)
        return out

    def logits(self, states_BTD: Tensor) -> Tensor:
        """The embedding matrix, transposed, as the pre-softmax transformation (section 3.4)."""
        return functional.linear(states_BTD, self.embedding)

    def encode(self, source_BS: Tensor) -> Memory:
        """Run the encoder and project its output for every decoder layer."""
        x_BSD, may_attend_B11S = self.read(source_BS)
        layers = [layer.cross_attention.keys_values(x_BSD) for layer in self.decoder_layers]
        return Memory(layers, may_attend_B11S)
