"""Attention weights of a trained model. Shape suffixes as in model/transformer.py; N layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, START
from aiayn.decoding.outputs import Decoder, classifier_of
from aiayn.model.attention import KeysValues, MultiHeadAttention
from aiayn.model.encoder import Encoding
from aiayn.model.layers import EncoderLayer
from aiayn.model.transformer import Transformer
from aiayn.results.illustrations import AttentionMaps, write_attention

DECIMALS = 4
WORDS = range(6, 16)  # sentence lengths in words that are legible in a figure


@torch.inference_mode()
def attention_maps(
    model: Transformer, source: Sequence[int], target: Sequence[int]
) -> dict[str, Tensor]:
    """The attention weights of `model` for `source` and, by teacher forcing, `target`.

    Args:
        model: in evaluation mode.
        source: S piece ids, the end symbol last.
        target: T piece ids, the start symbol first.
    Returns:
        (N, H, queries, keys) by kind: encoder self-attention (S x S), decoder self-attention
        (T x T), and cross-attention of the decoder to the encoder's output (T x S).
    """
    device = model.embedding.device
    attentions = {
        "encoder": _self_attentions(model),
        "decoder": [layer.self_attention for layer in model.decoder_layers],
        "cross": [layer.cross_attention for layer in model.decoder_layers],
    }
    with ExitStack() as stack:
        calls = {
            kind: [stack.enter_context(_recorded(layer)) for layer in layers]
            for kind, layers in attentions.items()
        }
        model.states(torch.tensor([source], device=device), torch.tensor([target], device=device))
    return {kind: _stacked(layers) for kind, layers in calls.items()}


@torch.inference_mode()
def encoder_map(model: Encoding, source: Sequence[int]) -> Tensor:
    """The encoder's attention weights for `source`, (N, H, queries, keys).

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
    """(N, H, queries, keys) from the recorded calls of each layer, one sentence each."""
    return torch.cat([call for layer in calls for call in layer]).cpu().float()


@contextmanager
def _recorded(attention: MultiHeadAttention) -> Iterator[list[Tensor]]:
    """Record the weights (B, H, T, S) of every call of `attend` in the block.

    The fused kernel does not return its weights, so they are recomputed from the same queries and
    keys.
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
        calls.append(attention.weights(queries_BHTK, attended.keys_BHSK, mask))
        return attend(queries_BHTK, attended, may_attend=may_attend, is_causal=is_causal)

    attention.attend = recording  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        del attention.attend


def sentence_maps(
    model: Transformer, bpe: Bpe, sentence: str, translation: str, *, run: str, task: str
) -> AttentionMaps:
    """Attention maps for a sentence and its translation.

    The decoder's queries are labelled by its input pieces, so the first one is the start symbol.
    """
    source, target = [*bpe.encode([sentence])[0], END], [START, *bpe.encode([translation])[0]]
    return AttentionMaps(
        run=run,
        task=task,
        sentence=sentence,
        translation=translation,
        source=tuple(bpe.pieces(source)),
        target=tuple(bpe.pieces(target)),
        maps=_rounded(attention_maps(model, source, target)),
    )


def label_maps(
    model: Encoding, bpe: Bpe, sentence: str, label: str, *, run: str, task: str
) -> AttentionMaps:
    """Attention maps of a classifier's encoder for a sentence and its label."""
    source = [*bpe.encode([sentence])[0], END]
    return AttentionMaps(
        run=run,
        task=task,
        sentence=sentence,
        translation=label,
        source=tuple(bpe.pieces(source)),
        target=(),
        maps=_rounded({"encoder": encoder_map(model, source)}),
    )


def write_label_maps(
    path: Path,
    decoder: Decoder,
    run: str,
    task: str,
    sentences: Sequence[str],
    outputs: Sequence[str],
) -> None:
    """Write a classifier's attention maps for the first sentence of legible length, if there is
    one. Writes nothing for a run that is not a classifier.

    Args:
        outputs: the run's output lines for the sentences.
    """
    model = classifier_of(decoder)
    number = next((n for n, line in enumerate(sentences) if len(line.split()) in WORDS), None)
    if model is None or number is None:
        return
    label = outputs[number].partition("\t")[0]
    with decoder.device.autocast():
        maps = label_maps(model, decoder.bpe, sentences[number], label, run=run, task=task)
    write_attention(path, maps)


def head_statistics(
    model: Transformer, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> pd.DataFrame:
    """The distance and entropy of each head's attention, averaged over the queries of all `pairs`.

    `distance` is the expected number of positions between query and key (self-attention only:
    source and target positions are not comparable); `entropy`, in bits, is 0 for a head that
    attends to one piece and log2 of the number of pieces for uniform attention.

    Args:
        pairs: source and target ids as in `attention_maps`.
    """
    all_maps = [attention_maps(model, source, target) for source, target in pairs]
    rows = []
    for kind in all_maps[0]:
        entropy_LH = _mean_over_queries([_entropy_LHT(maps[kind]) for maps in all_maps])
        distance_LH = _mean_over_queries([_distance_LHT(maps[kind]) for maps in all_maps])
        for layer, head in torch.cartesian_prod(*map(torch.arange, entropy_LH.shape)).tolist():
            distance = round(distance_LH[layer, head].item(), DECIMALS)
            rows.append(
                {
                    "attention": kind,
                    "layer": layer + 1,
                    "head": head + 1,
                    "distance": None if kind == "cross" else distance,
                    "entropy": round(entropy_LH[layer, head].item(), DECIMALS),
                }
            )
    return pd.DataFrame(rows)


def _mean_over_queries(values_LHT: Sequence[Tensor]) -> Tensor:
    """(N, H), the mean over the T queries of all sentences."""
    return torch.cat(list(values_LHT), dim=2).mean(dim=2)


def _entropy_LHT(weights_LHTS: Tensor) -> Tensor:
    """Entropy in bits."""
    nats: Tensor = torch.special.entr(weights_LHTS.double()).sum(dim=3)
    return nats / torch.log(torch.tensor(2.0, dtype=torch.float64))


def _distance_LHT(weights_LHTS: Tensor) -> Tensor:
    """Expected number of positions between query and key."""
    queries, keys = (torch.arange(n, dtype=torch.float64) for n in weights_LHTS.shape[2:])
    return (weights_LHTS.double() * (queries[:, None] - keys).abs()).sum(dim=3)


def _rounded(maps: Mapping[str, Tensor]) -> dict[str, Any]:
    """Weights by kind as nested lists: layer, head, query, key."""
    return {
        kind: [
            [[[round(weight, DECIMALS) for weight in row] for row in head] for head in layer]
            for layer in weights_LHTS.tolist()
        ]
        for kind, weights_LHTS in maps.items()
    }
