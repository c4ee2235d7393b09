"""The model is the paper's: same logits as torch's own Transformer, same parameter count as its
formula, and nothing leaks from the future or from padding."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from aiayn.config import Model
from aiayn.model.attention import (
    FUSED_FROM_WIDTH,
    SOFTMAX_FROM_LENGTH,
    attention,
    attention_weights,
    fast_attention,
)
from aiayn.model.masks import may_attend_to_earlier
from aiayn.model.transformer import Transformer

VOCABULARY = 23
START = 2
Row = Callable[..., Model]


def tokens(rows: int, length: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(4, VOCABULARY, (rows, length), generator=generator)


def seeded(model: Model) -> Transformer:
    torch.manual_seed(0)
    return Transformer(model, VOCABULARY, max_length=32).eval()


def reference_with_same_weights(ours: Transformer, row: Model) -> nn.Transformer:
    """torch's ReLU Transformer; attention biases, which the paper does not have, are zero."""
    reference = nn.Transformer(
        row.d_model, row.h, row.N, row.N, row.d_ff, dropout=0.0, batch_first=True,
        layer_norm_eps=1e-6, norm_first=row.norm == "pre",
    )  # fmt: skip
    for stack, norm in (
        (reference.encoder, ours.encoder_norm),
        (reference.decoder, ours.decoder_norm),
    ):
        if row.norm == "pre":
            assert isinstance(stack.norm, nn.LayerNorm)
            stack.norm.load_state_dict(norm.state_dict())
        else:  # torch normalises each stack's output once more; the paper does not
            stack.norm = None

    def copy(attention: nn.MultiheadAttention, source: Any) -> None:
        packed = torch.cat([getattr(source, f"w_{name}").weight for name in "qkv"])
        attention.in_proj_weight.data.copy_(packed)
        attention.in_proj_bias.data.zero_()
        attention.out_proj.weight.data.copy_(source.w_o.weight)
        attention.out_proj.bias.data.zero_()

    stacks: Any = ((reference.encoder, ours.encoder), (reference.decoder, ours.decoder))
    for theirs, mine in stacks:
        for layer, source in zip(theirs.layers, mine, strict=True):
            copy(layer.self_attn, source.self_attention)
            norms = [source.self_attention_residual.norm, source.feed_forward_residual.norm]
            if mine is ours.decoder:
                copy(layer.multihead_attn, source.cross_attention)
                norms.insert(1, source.cross_attention_residual.norm)
            for number, norm in enumerate(norms, start=1):
                getattr(layer, f"norm{number}").load_state_dict(norm.state_dict())
            layer.linear1.load_state_dict(source.feed_forward.w_1.state_dict())
            layer.linear2.load_state_dict(source.feed_forward.w_2.state_dict())
    return reference.train()  # without dropout the same, and off the path of nested tensors


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"positions": "learned"},
        {"positions": "none"},
        {"position_base": 100.0},
        {"norm": "pre"},
    ],
    ids=str,
)
def test_same_logits_as_torch(tiny: Row, columns: dict[str, object]) -> None:
    row = tiny(**columns, h=4, d_k=4, d_v=4)
    ours = seeded(row)
    for parameter in ours.parameters():  # biases and gains too: zeros and ones would hide a mistake
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    source, target = tokens(3, 9), tokens(3, 7, seed=1)
    source[1, 5:] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about nested tensors, which are not used
        reference = reference_with_same_weights(ours, row)

    def embed(ids: Tensor, table: nn.Module) -> Tensor:
        return ours.embedding[ids] * row.d_model**0.5 + table(0, ids.shape[1])

    with torch.no_grad():
        states = reference(
            embed(source, ours.source_positions),
            embed(target, ours.target_positions),
            tgt_mask=torch.ones(7, 7).triu(1).bool(),
            src_key_padding_mask=source == 0,
            memory_key_padding_mask=source == 0,
        )
        theirs = states @ ours.embedding.T
        mine = ours(source, target)
    torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-5)


def test_gradients_agree_with_torch(tiny: Row) -> None:
    row = tiny()
    ours = seeded(row)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = reference_with_same_weights(ours, row)
    x, y = torch.randn(2, 5, row.d_model), torch.randn(2, 4, row.d_model)
    mask = torch.ones(4, 4).triu(1).bool()
    reference(x, y, tgt_mask=mask).square().sum().backward()
    for layer in ours.encoder:
        x = layer(x, None)
    for layer in ours.decoder:
        y = layer(y, layer.attention(layer.cross_attention.keys_values(x), None))
    y.square().sum().backward()
    theirs = reference.decoder.layers[0].linear1.weight.grad
    torch.testing.assert_close(ours.decoder[0].feed_forward.w_1.weight.grad, theirs)
    theirs = reference.encoder.layers[0].self_attn.in_proj_weight.grad
    mine: Any = ours.encoder[0].self_attention
    packed = torch.cat([mine.w_q.weight.grad, mine.w_k.weight.grad, mine.w_v.weight.grad])
    torch.testing.assert_close(packed, theirs, atol=1e-5, rtol=1e-4)


def test_later_pieces_change_no_earlier_logit(tiny: Row) -> None:
    model = seeded(tiny())
    source, target = tokens(2, 6), tokens(2, 8)
    changed = target.clone()
    changed[:, 5:] = tokens(2, 3, seed=9)
    with torch.no_grad():
        before, after = model(source, target), model(source, changed)
    torch.testing.assert_close(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


def test_padding_changes_nothing(tiny: Row) -> None:
    model = seeded(tiny())
    source, target = tokens(2, 6), tokens(2, 5)
    padded_source = nn.functional.pad(source, (0, 4))
    padded_target = nn.functional.pad(target, (0, 3))
    with torch.no_grad():
        torch.testing.assert_close(
            model(padded_source, padded_target)[:, :5], model(source, target), atol=1e-5, rtol=1e-5
        )


def test_a_row_of_nothing_but_padding_is_finite(tiny: Row) -> None:
    """Short micro-batches are filled up with such rows."""
    model = seeded(tiny()).train()
    source = torch.cat((tokens(1, 6), torch.zeros(1, 6, dtype=torch.int64)))
    states = model.states(source, torch.zeros(2, 4, dtype=torch.int64))
    states.sum().backward()
    assert states.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_the_last_learned_position_repeats(tiny: Row) -> None:
    model = seeded(tiny(positions="learned"))
    table = model.source_positions(30, 5)
    torch.testing.assert_close(table[1:], table[1:2].expand(4, -1))


def test_sinusoids_grow_with_the_sentence(tiny: Row) -> None:
    model = seeded(tiny())
    with torch.no_grad():
        assert model(tokens(1, 100), tokens(1, 90)).isfinite().all()


@pytest.mark.parametrize("d_k", [3, FUSED_FROM_WIDTH])
@pytest.mark.parametrize("length", [5, SOFTMAX_FROM_LENGTH, 21])
@pytest.mark.parametrize("mask", ["none", "some", "causal"])
def test_both_attention_functions_are_equation_1(d_k: int, length: int, mask: str) -> None:
    """The formula and torch's kernel; values differ in width from queries and keys."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (
        torch.randn(2, 2, length, width, generator=generator, requires_grad=True)
        for width in (d_k, d_k, 5)
    )
    may_attend = {
        "none": None,
        "some": torch.arange(length)[None, None, None] != 3,
        "causal": may_attend_to_earlier(length),
    }[mask]
    weights = attention_weights(q, k, may_attend)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, length))
    if may_attend is not None:
        assert (weights[(~may_attend).expand_as(weights)] == 0).all()

    def with_gradients(heads: Tensor) -> tuple[Tensor, ...]:
        return heads, *torch.autograd.grad(heads.square().sum(), (q, k, v))

    expected = with_gradients(scaled_dot_product_attention(q, k, v, attn_mask=may_attend))
    fast = (
        fast_attention(q, k, v, is_causal=True)
        if mask == "causal"
        else fast_attention(q, k, v, may_attend)
    )
    for found in (fast, attention(q, k, v, may_attend)):
        torch.testing.assert_close(with_gradients(found), expected, atol=1e-5, rtol=1e-5)


def test_weights_of_bfloat16_products_are_float32() -> None:
    """Even for short rows: products are rounded, their softmax is not."""
    with torch.autocast("cpu", torch.bfloat16):
        weights = attention_weights(torch.randn(2, 2, 9, 8), torch.randn(2, 2, 9, 8), None)
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 9))


def test_equation_1_by_hand() -> None:
    """Scores ln 3 and 0 after division by sqrt(4): weights 3/4 and 1/4."""
    queries = torch.tensor([[[[2 * math.log(3), 0.0, 0.0, 0.0]]]])
    keys, values = torch.eye(4)[None, None, :2], torch.tensor([[[[8.0], [4.0]]]])
    torch.testing.assert_close(attention(queries, keys, values), torch.tensor([[[[7.0]]]]))
