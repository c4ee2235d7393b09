"""In onnxruntime the graphs compute what the model does, and find the same hypotheses."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from tests.commands.export.conftest import SENTENCES, RandomModel

from aiayn.config import Decoding
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.beam import beam_search
from aiayn.illustrations.attention import attention_maps
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer

onnx, *_ = (
    pytest.importorskip(name, reason="the extra onnx is not installed")
    for name in ("onnx", "onnxscript", "onnxruntime")
)
pytestmark = pytest.mark.slow
SEARCH = Decoding(beam=4, alpha=0.6, extra_length=12)


class Exported(NamedTuple):
    model: Transformer
    folder: Path


@pytest.fixture
def exported(random_model: RandomModel, bpe: Path, tmp_path: Path) -> Iterator[Exported]:
    """A model whose dimensions all differ, its decoder's weights of half precision, as graphs."""
    from aiayn.commands.export import to_onnx

    model, row = random_model(pieces=Bpe(bpe).size, h=3, d_k=4, d_v=5, positions="learned")
    with torch.no_grad():
        for weight in model.decoder.parameters():
            weight.copy_(weight.half())
        # likelier to end
        last = model.decoder_layers[-1].feed_forward_residual.norm.bias
        last.add_(2.5 * model.embedding[END]).copy_(last.half())
    folder = tmp_path / "exported"
    folder.mkdir()
    logging.disable(logging.DEBUG)  # pytest would collect thousands of torch's
    to_onnx.write(model, row, bpe, SEARCH, folder)
    yield Exported(model, folder)
    logging.disable(logging.NOTSET)


def run(folder: Path, source: list[int], target: list[int], heads: Any) -> dict[str, Any]:
    """The logits after every piece of the target, and the weights of all attentions; with the
    target as the second of two hypotheses, which swap in each step.

    Args:
        heads: factors, (3, layers, heads): of the encoder, the decoder, and between them.
    """
    from aiayn.commands.export.to_onnx import Translator

    graphs = Translator(folder)
    keys, values, encoder = graphs.encoder.run(
        None, {"source": np.array(source), "heads": heads[0]}
    )
    cache, logits, decoder, cross = graphs.empty, [], [], []
    for n, piece in enumerate(target):
        inputs = {
            "newest": np.array([piece, END] if n % 2 else [END, piece]),
            "origin": np.array([0, 0] if n == 0 else [1, 0]),
            "keys": cache[0],
            "values": cache[1],
            "source_keys": keys,
            "source_values": values,
            "heads": heads[1],
            "source_heads": heads[2],
        }
        found, *cache, self_weights, cross_weights = graphs.decoder.run(None, inputs)
        row = 1 - n % 2
        logits.append(found[row])
        decoder.append(np.pad(self_weights[:, row], ((0, 0), (0, 0), (0, len(target) - n - 1))))
        cross.append(cross_weights[:, row])
    return {
        "logits": np.stack(logits),
        "encoder": encoder,
        "decoder": np.stack(decoder, axis=2),
        "cross": np.stack(cross, axis=2),
    }


def compare(exported: Exported, source: list[int], target: list[int], heads: Any) -> None:
    model, folder = exported
    found = run(folder, source, target, heads)
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([target]))[0].numpy()
    excluded = [PAD, START]
    assert found["logits"][:, excluded].max() < -1e8
    expected, actual = (np.delete(values, excluded, axis=1) for values in (logits, found["logits"]))
    np.testing.assert_allclose(actual, expected, atol=1e-4, rtol=0)
    for kind, weights in attention_maps(model, source, target).items():
        np.testing.assert_allclose(found[kind], weights.numpy(), atol=1e-5, rtol=0)


def test_the_graphs_compute_what_the_model_does(exported: Exported) -> None:
    """Logits, attention and search; and a head that is switched off contributes nothing."""
    from aiayn.commands.export import to_onnx

    model, folder = exported
    bpe = Bpe(folder / "model.model")
    source = [*bpe.encode(SENTENCES[:1])[0], END]
    target = [START, *bpe.encode(SENTENCES[2:3])[0][:9]]
    heads = np.ones((3, 2, 3), np.float32)
    compare(exported, source, target, heads)
    for kind, layer in ((0, 1), (1, 0), (2, 1)):
        layers = model.encoder if kind == 0 else model.decoder
        attention = layers[layer].cross_attention if kind == 2 else layers[layer].self_attention
        original = attention.w_o.weight.detach().clone()
        with torch.no_grad():
            attention.w_o.weight[:, 10:] = 0  # what reads the third head of width 5
        heads_off = heads.copy()
        heads_off[kind, layer, 2] = 0
        compare(exported, source, target, heads_off)
        with torch.no_grad():
            attention.w_o.weight.copy_(original)
    words = " ".join(SENTENCES).split()
    sources = [" ".join(words[n : n + 1 + n % 5]) for n in range(len(words))]
    device = Device(torch.device("cpu"), "float32")
    lengths = set()
    for search in (
        SEARCH,
        SEARCH.replace(beam=1),
        SEARCH.replace(alpha=1.5),
        SEARCH.replace(stop="beam"),
    ):
        ours = beam_search(model, bpe.encode(sources, end=True), search, device)
        expected_texts = bpe.decode([hypothesis.pieces for hypothesis in ours])
        assert to_onnx.translate(folder, sources, search) == expected_texts
        lengths |= {len(hypothesis.pieces) for hypothesis in ours}
    assert len(lengths) > 2
    # the decoder's own weights are stored in half precision, the embedding is not
    weights = onnx.load(folder / "decoder.onnx").graph.initializer
    kinds = {weight.data_type for weight in weights if len(weight.dims) == 2}
    assert kinds == {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16}
