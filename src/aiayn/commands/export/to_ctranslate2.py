"""Export to CTranslate2, and translation with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import sentencepiece
from ctranslate2.specs import TransformerSpec
from torch import Tensor

from aiayn.commands.export.engine import BATCH, NEVER, POSITIONS, EngineSearch
from aiayn.config import Model
from aiayn.data.tokens.special import END, PAD, START, UNK
from aiayn.model.attention import MultiHeadAttention
from aiayn.model.layers import LAYER_NORM_EPSILON, FeedForward, Residual
from aiayn.model.transformer import Transformer
from aiayn.results import paths

PATIENCE = 2  # with its default of 1, beam search stops too early


def write(model: Transformer, row: Model, bpe: Path, search: EngineSearch, folder: Path) -> None:
    """Write model.bin, config.json and shared_vocabulary.json, in float32, and the BPE model."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(bpe))
    pieces = [processor.id_to_piece(n) for n in range(processor.get_piece_size())]
    write_model(model, row, pieces, folder)
    paths.bpe_model(folder).write_bytes(bpe.read_bytes())


def write_model(model: Transformer, row: Model, pieces: list[str], folder: Path) -> None:
    """As `write`, without the BPE model; `pieces` in the order of their ids."""
    spec = TransformerSpec.from_config((row.N, row.N), row.h, pre_norm=False)
    sides = ((spec.encoder, model.source_positions), (spec.decoder, model.target_positions))
    for side, positions in sides:
        embeddings = side.embeddings
        embedding = embeddings[0] if isinstance(embeddings, list) else embeddings
        embedding.weight = _array(model.embedding)
        # CTranslate2's own sinusoids differ: all sines first, and d_model / 2 - 1 in the exponent
        side.position_encodings.encodings = _array(positions(0, POSITIONS))
    spec.decoder.projection.weight = _array(model.embedding)
    bias = np.zeros(len(pieces), np.float32)
    bias[[PAD, START]] = NEVER
    spec.decoder.projection.bias = bias
    encoder: Any = model.encoder
    for layer, own in zip(spec.encoder.layer, encoder, strict=True):
        _attention(layer.self_attention, own.self_attention, own.self_attention_residual)
        _feed_forward(layer.ffn, own.feed_forward, own.feed_forward_residual)
    for layer, own in zip(spec.decoder.layer, model.decoder_layers, strict=True):
        _attention(layer.self_attention, own.self_attention, own.self_attention_residual)
        _attention(layer.attention, own.cross_attention, own.cross_attention_residual)
        _feed_forward(layer.ffn, own.feed_forward, own.feed_forward_residual)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.layer_norm_epsilon = LAYER_NORM_EPSILON
    spec.config.unk_token, spec.config.eos_token = pieces[UNK], pieces[END]
    spec.config.bos_token = spec.config.decoder_start_token = pieces[START]
    spec.config.add_source_bos, spec.config.add_source_eos = False, True
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def translate(folder: Path, sentences: Sequence[str], search: EngineSearch) -> list[str]:
    """The best hypothesis for each sentence."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(paths.bpe_model(folder)))
    translator = ctranslate2.Translator(str(folder), compute_type="float32")
    results = translator.translate_batch(
        processor.encode(list(sentences), out_type=str),
        beam_size=search.beam,
        patience=PATIENCE,
        length_penalty=search.alpha,
        min_decoding_length=0,
        max_decoding_length=search.longest,
        max_batch_size=BATCH,
    )
    return [processor.decode(result.hypotheses[0]) for result in results]


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
