"""Parts of the model, of its training and of table 1, for experiments: see docs/tour.

All names here are stable, and documented where they are defined. A tensor's name ends in its shape,
such as x_BTD; `aiayn.model.transformer` explains the letters.
"""

from __future__ import annotations

from aiayn.config import Model
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.beam import length_penalty
from aiayn.model.attention import MultiHeadAttention, attention, attention_weights
from aiayn.model.layers import FeedForward, Residual
from aiayn.model.masks import may_attend_to_earlier, may_attend_to_real
from aiayn.model.positions import sinusoids
from aiayn.model.transformer import Transformer
from aiayn.paper import model_of
from aiayn.profiling.chains import longest_chain
from aiayn.profiling.counting import count_with_torch
from aiayn.profiling.layer_types import LAYER_TYPES, Sizes
from aiayn.profiling.reachability import dependence, path_length, relations
from aiayn.training.batching import BatchPlan
from aiayn.training.loss import plain_smoothed_cross_entropy, smoothed_cross_entropy
from aiayn.training.schedule import learning_rate

__all__ = [
    "END",
    "LAYER_TYPES",
    "PAD",
    "START",
    "BatchPlan",
    "FeedForward",
    "Model",
    "MultiHeadAttention",
    "Residual",
    "Sizes",
    "Transformer",
    "attention",
    "attention_weights",
    "count_with_torch",
    "dependence",
    "learning_rate",
    "length_penalty",
    "longest_chain",
    "may_attend_to_earlier",
    "may_attend_to_real",
    "model_of",
    "path_length",
    "plain_smoothed_cross_entropy",
    "relations",
    "sinusoids",
    "smoothed_cross_entropy",
]
