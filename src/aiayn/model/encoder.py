"""The left half of figure 1: embeddings, positions and the encoder's layers. Shape suffixes as in
model/transformer.py."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from aiayn.model import masks
from aiayn.model.dropout import Dropout
from aiayn.model.layers import DecoderLayer, EncoderLayer, FeedForward
from aiayn.model.positions import LearnedPositions


class Encoding(nn.Module):
    """The encoder that all models share. A subclass creates its parts in its own order, on which
    the random numbers of a seed, and so its initial weights, depend.

    Attributes:
        pad: id of the padding token.
        scale: sqrt(d_model), by which embeddings are multiplied (section 3.4).
    """

    pad: int
    scale: float
    embedding: nn.Parameter
    source_positions: nn.Module
    source_dropout: Dropout
    encoder: nn.ModuleList
    encoder_norm: nn.Module

    def reset_parameters(self) -> None:
        """Glorot-uniform weights, zero biases, normal embeddings of deviation d_model^-0.5.

        The paper is silent; this is the authors' code, which draws the projections of one input
        as one matrix (docs/deviations.md). Draws from torch's default generator.
        """
        for module in self.modules():
            if isinstance(module, FeedForward):
                for linear in (module.w_1, module.w_2):
                    nn.init.xavier_uniform_(linear.weight)
                    nn.init.zeros_(linear.bias)
            elif isinstance(module, LearnedPositions):
                nn.init.normal_(module.table, std=1 / self.scale)
            elif isinstance(module, EncoderLayer | DecoderLayer):
                module.self_attention.reset_parameters(is_self=True)
            if isinstance(module, DecoderLayer):
                module.cross_attention.reset_parameters(is_self=False)
        nn.init.normal_(self.embedding, std=1 / self.scale)

    def read(self, source_BS: Tensor) -> tuple[Tensor, Tensor]:
        """The encoder's output (B, S, D), and which positions are real, (B, 1, 1, S).

        Args:
            source_BS: int64 piece ids, padded on the right.
        """
        may_attend_B11S = masks.may_attend_to_real(masks.is_real(source_BS, self.pad))
        x_BSD = functional.embedding(source_BS, self.embedding) * self.scale
        x_BSD = self.source_dropout(x_BSD + self.source_positions(0, source_BS.shape[1]))
        for layer in self.encoder:
            x_BSD = layer(x_BSD, may_attend_B11S)
        return self.encoder_norm(x_BSD), may_attend_B11S
