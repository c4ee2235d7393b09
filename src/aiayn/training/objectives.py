"""The model, targets and loss of each kind of task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from aiayn.config import Kind, Model
from aiayn.data.tokens import label_pieces
from aiayn.data.tokens.arrays import TokenArrays
from aiayn.data.tokens.special import PAD, START
from aiayn.model.classifier import Classifier
from aiayn.model.encoder import Encoding
from aiayn.model.transformer import Transformer
from aiayn.training.loss import smoothed_cross_entropy

M = TypeVar("M", bound=Encoding)
Losses = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Objective(Generic[M]):
    """How a kind of task is trained.

    field | what it does
    --- | ---
    pairs | turns a split's pairs into those to train on
    build | creates the model of a row of table 3, given the training pairs and the max_length
    losses | smoothed loss and negative log-likelihood, in nats, summed over the real targets; of
    | | the model, source (B, S), target (B, T) and eps_ls
    """

    pairs: Callable[[TokenArrays], TokenArrays]
    build: Callable[[Model, TokenArrays, int], M]
    losses: Callable[[M, Tensor, Tensor, float], Losses]


def _transformer(row: Model, train: TokenArrays, max_length: int) -> Transformer:
    return Transformer(row, train.vocabulary, max_length=max_length, pad=PAD)


def _next_pieces(model: Transformer, source: Tensor, target: Tensor, eps_ls: float) -> Losses:
    start = target.new_full((len(target), 1), START)
    states = model.states(source, torch.cat((start, target[:, :-1]), dim=1))
    return smoothed_cross_entropy(
        states.flatten(0, 1), model.embedding, target.flatten(), eps_ls=eps_ls, pad=PAD
    )


def _classifier(row: Model, train: TokenArrays, max_length: int) -> Classifier:
    return Classifier(
        row, train.vocabulary, label_pieces.count(train), max_length=max_length, pad=PAD
    )


def _labels(model: Classifier, source: Tensor, target: Tensor, eps_ls: float) -> Losses:
    """Smoothing as in section 5.4, over the labels."""
    logits_BY = model(source).float()
    target_B = target[:, 0] - label_pieces.FIRST
    padding = PAD - label_pieces.FIRST
    loss = functional.cross_entropy(
        logits_BY, target_B, ignore_index=padding, reduction="sum", label_smoothing=eps_ls
    )
    nll = functional.cross_entropy(
        logits_BY.detach(), target_B, ignore_index=padding, reduction="sum"
    )
    return loss, nll


SEQUENCE = Objective(lambda pairs: pairs, _transformer, _next_pieces)
LABEL = Objective(label_pieces.labels_alone, _classifier, _labels)

OBJECTIVES: Mapping[Kind, Objective[Any]] = {
    "translation": SEQUENCE,
    "parsing": SEQUENCE,
    "copying": SEQUENCE,
    "classification": LABEL,
}
