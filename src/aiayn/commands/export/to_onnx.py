"""Export to two ONNX graphs, and translation with them by onnxruntime.

encoder.onnx runs once per sentence, decoder.onnx once per step of its hypotheses. Both return their
attention weights, and take a factor for the output of every head: 1, or 0 to turn the head off.
Weights that are exact in half precision are stored in it; all arithmetic is in float32. Shape
suffixes as in model/transformer.py; M is the number of hypotheses of the previous step.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import helper, numpy_helper
from scipy.special import log_softmax
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from aiayn.commands.export.engine import NEVER, POSITIONS
from aiayn.config import Decoding, Model
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.beam import length_penalty
from aiayn.model.attention import KeysValues, MultiHeadAttention, attention_weights
from aiayn.model.layers import EncoderLayer
from aiayn.model.transformer import Transformer
from aiayn.results import paths

_Input = tuple[tuple[int, ...], torch.dtype, dict[int, Any] | None]
"""A graph's input: the shape of an example, the dtype, the dynamic dimensions."""

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
SOURCE = ("source_keys", "source_values")
CACHE = ("keys", "values")


class Encoder(nn.Module):
    """The encoder, and the keys and values of its output for the decoder's layers."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model
        self.positions_ND = nn.Buffer(model.source_positions(0, POSITIONS).detach())

    def forward(self, source_S: Tensor, heads_LH: Tensor) -> tuple[Tensor, ...]:
        """Keys (L, H, S, K), values (L, H, S, V), attention (L, H, S, S).

        Args:
            source_S: int64 piece ids, ending in the end symbol.
            heads_LH: factors of the heads.
        """
        model = self.model
        x_1SD = functional.embedding(source_S[None], model.embedding) * model.scale
        x_1SD = x_1SD + self.positions_ND[: source_S.shape[0]]
        maps = []
        layers = [layer for layer in model.encoder if isinstance(layer, EncoderLayer)]
        for layer, heads_H in zip(layers, heads_LH, strict=True):
            queries, own = layer.self_attention.queries_keys_values(x_1SD)
            out, weights = _attend(layer.self_attention, queries, own, heads_H)
            x_1SD = layer.self_attention_residual(x_1SD, _returning(out))
            x_1SD = layer.feed_forward_residual(x_1SD, layer.feed_forward)
            maps.append(weights)
        source = [layer.cross_attention.keys_values(x_1SD) for layer in model.decoder_layers]
        keys = torch.cat([layer.keys_BHSK for layer in source])
        return keys, torch.cat([layer.values_BHSV for layer in source]), torch.cat(maps)


class DecoderStep(nn.Module):
    """One step of the decoder for F hypotheses of one sentence, all of T + 1 pieces."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model
        self.positions_ND = nn.Buffer(model.target_positions(0, POSITIONS).detach())
        bias_P = torch.zeros(len(model.embedding))
        bias_P[[PAD, START]] = NEVER
        self.bias_P = nn.Buffer(bias_P)

    def forward(
        self,
        newest_F: Tensor,
        origin_F: Tensor,
        keys_LMHTK: Tensor,
        values_LMHTV: Tensor,
        source_keys_LHSK: Tensor,
        source_values_LHSV: Tensor,
        heads_LH: Tensor,
        source_heads_LH: Tensor,
    ) -> tuple[Tensor, ...]:
        """Logits (F, P), keys (L, F, H, T + 1, K), values (L, F, H, T + 1, V), attention to the
        hypothesis (L, F, H, T + 1) and to the source (L, F, H, S).

        Args:
            newest_F: int64 piece ids; at first the start symbol.
            origin_F: int64, the hypothesis of the previous step that each one extends.
            keys_LMHTK: from the previous step, at first with T = 0; values_LMHTV likewise.
            source_keys_LHSK: from the encoder; source_values_LHSV likewise.
            heads_LH: factors of self-attention's heads; source_heads_LH of cross-attention's.
        """
        model = self.model
        x_F1D = functional.embedding(newest_F[:, None], model.embedding) * model.scale
        x_F1D = x_F1D + self.positions_ND[keys_LMHTK.shape[3]]
        all_keys, all_values, maps, source_maps = [], [], [], []
        for n, layer in enumerate(model.decoder_layers):
            queries, newest = layer.self_attention.queries_keys_values(x_F1D)
            keys = torch.cat((keys_LMHTK[n][origin_F], newest.keys_BHSK), dim=2)
            values = torch.cat((values_LMHTV[n][origin_F], newest.values_BHSV), dim=2)
            own = KeysValues(keys, values)
            out, weights = _attend(layer.self_attention, queries, own, heads_LH[n])
            x_F1D = layer.self_attention_residual(x_F1D, _returning(out))
            queries = layer.cross_attention.queries(x_F1D)
            source = KeysValues(source_keys_LHSK[n][None], source_values_LHSV[n][None])
            out, source_weights = _attend(
                layer.cross_attention, queries, source, source_heads_LH[n]
            )
            x_F1D = layer.cross_attention_residual(x_F1D, _returning(out))
            x_F1D = layer.feed_forward_residual(x_F1D, layer.feed_forward)
            all_keys.append(keys)
            all_values.append(values)
            maps.append(weights[:, :, 0])
            source_maps.append(source_weights[:, :, 0])
        logits_FP = model.logits(x_F1D[:, 0]) + self.bias_P
        return logits_FP, *map(torch.stack, (all_keys, all_values, maps, source_maps))


def _attend(
    attention: MultiHeadAttention, queries_BHTK: Tensor, attended: KeysValues, heads_H: Tensor
) -> tuple[Tensor, Tensor]:
    """The attention's output (B, T, D) and weights (B, H, T, S). No mask is needed: a single
    sentence has no padding, and all pieces precede the newest one."""
    weights_BHTS = attention_weights(queries_BHTK, attended.keys_BHSK, None)
    heads_BHTV = weights_BHTS @ attended.values_BHSV * heads_H[:, None, None]
    return attention.w_o(heads_BHTV.transpose(1, 2).flatten(2)), weights_BHTS


def _returning(out: Tensor) -> Callable[[Tensor], Tensor]:
    """A sub-layer that returns a precomputed output."""
    return lambda x: out


def write(model: Transformer, row: Model, bpe: Path, search: Decoding, folder: Path) -> None:
    """Write encoder.onnx and decoder.onnx, and the BPE model."""
    dynamic = Dim.DYNAMIC
    heads: _Input = ((row.N, row.h), torch.float32, None)
    # the examples' sizes differ, because equal ones would be merged into one dynamic dimension
    _export(
        Encoder(model),
        folder / ENCODER,
        {"source": ((6,), torch.int64, {0: dynamic}), "heads": heads},
        [*SOURCE, "attention"],
    )
    pieces: _Input = ((3,), torch.int64, {0: dynamic})
    _export(
        DecoderStep(model),
        folder / DECODER,
        {
            "newest": pieces,
            "origin": pieces,
            "keys": ((row.N, 2, row.h, 5, row.d_k), torch.float32, {1: dynamic, 3: dynamic}),
            "values": ((row.N, 2, row.h, 5, row.d_v), torch.float32, {1: dynamic, 3: dynamic}),
            "source_keys": ((row.N, row.h, 6, row.d_k), torch.float32, {2: dynamic}),
            "source_values": ((row.N, row.h, 6, row.d_v), torch.float32, {2: dynamic}),
            "heads": heads,
            "source_heads": heads,
        },
        ["logits", "next_keys", "next_values", "attention", "source_attention"],
    )
    paths.bpe_model(folder).write_bytes(bpe.read_bytes())


def _export(module: nn.Module, path: Path, inputs: dict[str, _Input], outputs: list[str]) -> None:
    """Write a module as a graph with named inputs and outputs."""
    # torch warns about its own internals: missing optional packages, a deprecated class
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.onnx.export(
            module.eval(),
            tuple(torch.zeros(shape, dtype=dtype) for shape, dtype, _ in inputs.values()),
            dynamic_shapes=tuple(dynamic for *_, dynamic in inputs.values()),
            input_names=list(inputs),
            output_names=outputs,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    graph = program.model_proto
    _store_in_half(graph)
    onnx.save(graph, path)


def _store_in_half(model: onnx.ModelProto) -> None:
    """Store weights in half precision if that is lossless, with a cast back to float32, which
    onnxruntime does once."""
    casts = []
    for stored in model.graph.initializer:
        weight = numpy_helper.to_array(stored)
        if weight.dtype != np.float32 or weight.ndim == 0:
            continue
        with np.errstate(over="ignore"):
            half = weight.astype(np.float16)
        if (half.astype(np.float32) == weight).all():
            name = stored.name
            stored.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
            casts.append(helper.make_node("Cast", [stored.name], [name], to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


class Translator:
    """The graphs of a folder in onnxruntime, one thread each."""

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(folder / name, options, providers=["CPUExecutionProvider"])
            for name in (ENCODER, DECODER)
        )
        shapes = {node.name: node.shape for node in self.decoder.get_inputs()}
        self.heads = np.ones(shapes["heads"], np.float32)
        # the cache of one hypothesis without pieces
        self.empty = [
            np.zeros((shapes[name][0], 1, shapes[name][2], 0, shapes[name][4]), np.float32)
            for name in CACHE
        ]

    def best(self, source: Sequence[int], search: Decoding) -> list[int]:
        """The best hypothesis, without end symbol, for a source with end symbol, by the same search
        as in decoding/beam.py."""
        inputs = {"source": np.array(source), "heads": self.heads}
        keys, values, _ = self.encoder.run(None, inputs)
        fixed = {"heads": self.heads, "source_heads": self.heads} | dict(
            zip(SOURCE, (keys, values), strict=True)
        )
        limit = len(source) - 1 + search.extra_length
        largest = length_penalty(limit + 1, search.alpha)
        cache = self.empty
        live, totals, origin = [[START]], np.zeros(1, np.float32), [0]
        best, best_score, ended = list[int](), -np.inf, 0
        for length in range(1, limit + 2):
            newest = np.array([pieces[-1] for pieces in live])
            inputs = {"newest": newest, "origin": np.array(origin)} | fixed
            logits, *cache = self.decoder.run(
                ["logits", "next_keys", "next_values"],
                inputs | dict(zip(CACHE, cache, strict=True)),
            )
            found = totals[:, None] + log_softmax(logits, axis=1)
            if length > limit:  # outputs of maximum length must end
                found[:, np.arange(found.shape[1]) != END] = -np.inf
            order = np.argsort(-found, axis=None, kind="stable")[: 2 * search.beam]
            rows = []
            for rank, (row, piece) in enumerate(
                zip(*np.divmod(order, found.shape[1]), strict=True)
            ):
                if piece != END:
                    rows.append((row, piece))
                elif rank < search.beam:
                    ended += 1
                    score = found[row, END] / length_penalty(length, search.alpha)
                    if score > best_score:
                        best, best_score = live[row][1:], score
            to_beat = best_score * largest
            if search.stop == "beam":
                to_beat = -np.inf if ended < search.beam else 0.0
            rows = [at for at in rows[: search.beam] if found[at] > to_beat]
            if not rows:
                break
            live = [[*live[row], int(piece)] for row, piece in rows]
            totals = np.array([found[at] for at in rows])
            origin = [row for row, _ in rows]
        return best


def translate(folder: Path, sentences: Sequence[str], search: Decoding) -> list[str]:
    """The best hypothesis for each sentence."""
    bpe, translator = Bpe(paths.bpe_model(folder)), Translator(folder)
    sources = bpe.encode(sentences, end=True)
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return bpe.decode(list(pool.map(partial(translator.best, search=search), sources)))
