"""CTranslate2 with the weights of a model of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import TransformerSpec
from torch import Tensor

from aiayn.config import Model
from aiayn.model.attention import MultiHeadAttention
from aiayn.model.layers import LAYER_NORM_EPSILON, FeedForward, Residual
from aiayn.model.transformer import Transformer
from aiayn.tokens.bpe import END, START, UNK

POSITIONS = 512


def convert(model: Transformer, row: Model, folder: Path) -> None:
    """Write the model as CTranslate2 reads it, in float32; pieces go by their number.

    Raises:
        ValueError: CTranslate2 has no such model: d_k and d_v are not d_model / h.
    """
    if not row.d_k == row.d_v == row.d_model // row.h:
        raise ValueError("CTranslate2 wants d_k = d_v = d_model / h")
    spec = TransformerSpec.from_config((row.N, row.N), row.h, pre_norm=False)
    sides = ((spec.encoder, model.source_positions), (spec.decoder, model.target_positions))
    for side, positions in sides:
        embeddings = side.embeddings
        embedding = embeddings[0] if isinstance(embeddings, list) else embeddings
        embedding.weight = _array(model.embedding)
        side.position_encodings.encodings = _array(positions(0, POSITIONS))
    spec.decoder.projection.weight = _array(model.embedding)
    encoder: Any = model.encoder
    for layer, own in zip(spec.encoder.layer, encoder, strict=True):
        _attention(layer.self_attention, own.self_attention, own.self_attention_residual)
        _feed_forward(layer.ffn, own.feed_forward, own.feed_forward_residual)
    for layer, own in zip(spec.decoder.layer, model.decoder_layers, strict=True):
        _attention(layer.self_attention, own.self_attention, own.self_attention_residual)
        _attention(layer.attention, own.cross_attention, own.cross_attention_residual)
        _feed_forward(layer.ffn, own.feed_forward, own.feed_forward_residual)
    names = [str(piece) for piece in range(len(model.embedding))]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.layer_norm_epsilon = LAYER_NORM_EPSILON
    spec.config.unk_token, spec.config.eos_token = names[UNK], names[END]
    spec.config.bos_token = spec.config.decoder_start_token = names[START]
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def translate(
    translator: Any, sources: Sequence[Sequence[int]], *, beam: int, alpha: float, longest: int
) -> list[list[int]]:
    """Pieces of the best hypothesis for each source, each source ending in the end symbol."""
    results = translator.translate_batch(
        [[str(piece) for piece in source] for source in sources],
        beam_size=beam,
        length_penalty=alpha,
        max_decoding_length=longest,
        max_batch_size=32,
    )
    return [[int(piece) for piece in result.hypotheses[0]] for result in results]


def _array(weight: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    array: np.ndarray[Any, np.dtype[np.float32]] = weight.detach().numpy()
    return array


def _attention(spec: Any, own: MultiHeadAttention, residual: Residual) -> None:
    queries, keys, values = (_array(linear.weight) for linear in (own.w_q, own.w_k, own.w_v))
    is_self = len(spec.linear) == 2
    groups = [(queries, keys, values)] if is_self else [(queries,), (keys, values)]
    for linear, group in zip(spec.linear, [*groups, (_array(own.w_o.weight),)], strict=True):
        linear.weight = np.concatenate(group)
    _norm(spec.layer_norm, residual)


def _feed_forward(spec: Any, own: FeedForward, residual: Residual) -> None:
    for linear, module in ((spec.linear_0, own.w_1), (spec.linear_1, own.w_2)):
        linear.weight, linear.bias = _array(module.weight), _array(module.bias)
    _norm(spec.layer_norm, residual)


def _norm(spec: Any, residual: Residual) -> None:
    spec.gamma, spec.beta = _array(residual.norm.weight), _array(residual.norm.bias)
