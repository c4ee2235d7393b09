"""Who attends to whom in a trained model. Shape suffixes as in model/transformer.py; N layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, START
from aiayn.model.attention import KeysValues, MultiHeadAttention, attention_weights
from aiayn.model.encoder import Encoding
from aiayn.model.layers import EncoderLayer
from aiayn.model.transformer import Transformer
from aiayn.results.illustrations import KINDS, AttentionMaps

DECIMALS = 4


@dataclass(frozen=True)
class AttentionWeights:
    """Attention weights of one sentence, (N, H, queries, keys) for each kind of attention.

    Encoder self-attention has S queries and S keys, decoder self-attention T and T, attention of
    the decoder to the encoder's output (cross) T and S.
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor

    @property
    def by_kind(self) -> Mapping[str, Tensor]:
        """The three of them by name."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}


@torch.inference_mode()
def attention_maps(
    model: Transformer, source: Sequence[int], target: Sequence[int]
) -> AttentionWeights:
    """The weights with which `model` reads `source` and, given what it has written, `target`.

    Args:
        model: in evaluation mode.
        source: piece ids, the end symbol last.
        target: piece ids, the start symbol first.
    """
    device = model.embedding.device
    attentions = {
        "encoder": _self_attentions(model),
        "decoder": [layer.self_attention for layer in model.decoder_layers],
        "cross": [layer.cross_attention for layer in model.decoder_layers],
    }
    with ExitStack() as stack:
        weights = {
            kind: [stack.enter_context(_recorded(layer)) for layer in layers]
            for kind, layers in attentions.items()
        }
        model.states(torch.tensor([source], device=device), torch.tensor([target], device=device))
    return AttentionWeights(**{kind: _stacked(calls) for kind, calls in weights.items()})


@torch.inference_mode()
def encoder_map(model: Encoding, source: Sequence[int]) -> Tensor:
    """The weights with which `model` reads `source`, (N, H, queries, keys).

    Args:
        model: in evaluation mode.
        source: piece ids, the end symbol last.
    """
    with ExitStack() as stack:
        calls = [stack.enter_context(_recorded(layer)) for layer in _self_attentions(model)]
        model.read(torch.tensor([source], device=model.embedding.device))
    return _stacked(calls)


def _self_attentions(model: Encoding) -> list[MultiHeadAttention]:
    return [layer.self_attention for layer in model.encoder if isinstance(layer, EncoderLayer)]


def _stacked(calls: Sequence[Sequence[Tensor]]) -> Tensor:
    """(N, H, queries, keys) of the calls of each layer, which had one sentence each."""
    return torch.cat([call for layer in calls for call in layer]).cpu().float()


@contextmanager
def _recorded(attention: MultiHeadAttention) -> Iterator[list[Tensor]]:
    """The weights (B, H, T, S) of every call of `attend` inside the block.

    The fused kernel keeps its weights to itself; they are computed again from the same queries
    and keys.
    """
    calls: list[Tensor] = []
    attend = attention.attend

    def recording(
        queries_BHTK: Tensor,
        attended: KeysValues,
        *,
        may_attend: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        mask = attention.mask(queries_BHTK.shape[2], may_attend, is_causal=is_causal)
        calls.append(attention_weights(queries_BHTK, attended.keys_BHSK, mask))
        return attend(queries_BHTK, attended, may_attend=may_attend, is_causal=is_causal)

    attention.attend = recording  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        del attention.attend


def sentence_maps(
    model: Transformer, bpe: Bpe, sentence: str, translation: str, *, run: str, task: str
) -> AttentionMaps:
    """Maps of one sentence and its translation by the model of a run.

    Queries of the decoder are named by the piece that was read last, so the first is the start
    symbol.
    """
    source, target = [*bpe.encode([sentence])[0], END], [START, *bpe.encode([translation])[0]]
    weights = attention_maps(model, source, target).by_kind
    about = {"run": run, "task": task, "sentence": sentence, "translation": translation}
    return _named(bpe, source, target, weights, about)


def label_maps(
    model: Encoding, bpe: Bpe, sentence: str, label: str, *, run: str, task: str
) -> AttentionMaps:
    """Maps of one sentence that the model of a run has labelled: its encoder's alone."""
    source = [*bpe.encode([sentence])[0], END]
    weights = {"encoder": encoder_map(model, source)}
    about = {"run": run, "task": task, "sentence": sentence, "translation": label}
    return _named(bpe, source, (), weights, about)


def _named(
    bpe: Bpe,
    source: Sequence[int],
    target: Sequence[int],
    weights: Mapping[str, Tensor],
    about: Mapping[str, str],
) -> AttentionMaps:
    """Weights by kind as a record that names the piece of each query and key."""
    return AttentionMaps(
        **about,
        source=tuple(bpe.pieces(source)),
        target=tuple(bpe.pieces(target)),
        maps={kind: _rounded(weights_LHTS) for kind, weights_LHTS in weights.items()},
    )


def head_statistics(
    model: Transformer, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> Iterator[dict[str, str | int | float]]:
    """How far and how widely each head looks, as means over the queries of all `pairs`.

    `distance` counts the pieces between a query and what it attends to (self-attention only, as a
    source and a target share no positions); `entropy`, in bits, is 0 for a head that looks at one
    piece and log2 of the number of pieces for one that looks at all alike.

    Args:
        pairs: source and target ids as in `attention_maps`.
    """
    all_maps = [attention_maps(model, source, target).by_kind for source, target in pairs]
    for kind in KINDS:
        queries = sum(maps[kind].shape[2] for maps in all_maps)
        entropy_LH = sum(_entropy_LHT(maps[kind]).sum(dim=2) for maps in all_maps) / queries
        distance_LH = sum(_distance_LHT(maps[kind]).sum(dim=2) for maps in all_maps) / queries
        assert isinstance(entropy_LH, Tensor)
        assert isinstance(distance_LH, Tensor)
        for layer in range(entropy_LH.shape[0]):
            for head in range(entropy_LH.shape[1]):
                yield {
                    "attention": kind,
                    "layer": layer + 1,
                    "head": head + 1,
                    "distance": ""
                    if kind == "cross"
                    else round(distance_LH[layer, head].item(), DECIMALS),
                    "entropy": round(entropy_LH[layer, head].item(), DECIMALS),
                }


def _entropy_LHT(weights_LHTS: Tensor) -> Tensor:
    """Bits."""
    bits: Tensor = torch.special.entr(weights_LHTS.double()).sum(dim=3) / torch.log(
        torch.tensor(2.0, dtype=torch.float64)
    )
    return bits


def _distance_LHT(weights_LHTS: Tensor) -> Tensor:
    """Expected number of positions between query and key."""
    queries, keys = (torch.arange(n, dtype=torch.float64) for n in weights_LHTS.shape[2:])
    return (weights_LHTS.double() * (queries[:, None] - keys).abs()).sum(dim=3)


def _rounded(weights_LHTS: Tensor) -> Any:
    return [
        [[[round(weight, DECIMALS) for weight in row] for row in head] for head in layer]
        for layer in weights_LHTS.tolist()
    ]
