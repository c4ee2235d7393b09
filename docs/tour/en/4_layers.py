# %% [markdown]
# # Layers: feed-forward, residual, norm, and 63 million parameters
#
# *Sections 3.1, 3.3 and 3.4 of the paper.*
#
# Attention moves information between positions. What is done with it, each position decides for
# itself, by two linear maps with a ReLU between:
#
# $$\mathrm{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2$$

# %%
import inspect

import pandas as pd
import torch

import aiayn
from aiayn.components import FeedForward, Residual, Transformer, model_of

torch.manual_seed(0)
print(inspect.getsource(FeedForward.forward))

# %% [markdown]
# "Another way of describing this is as two convolutions with kernel size 1." Literally:

# %%
feed_forward = FeedForward(d_model=16, d_ff=64)
convolutions = torch.nn.Sequential(
    torch.nn.Conv1d(16, 64, 1), torch.nn.ReLU(), torch.nn.Conv1d(64, 16, 1)
)
with torch.no_grad():
    for conv, linear in (
        (convolutions[0], feed_forward.w_1),
        (convolutions[2], feed_forward.w_2),
    ):
        conv.weight.copy_(linear.weight[:, :, None])
        conv.bias.copy_(linear.bias)
x = torch.randn(2, 7, 16)
torch.testing.assert_close(convolutions(x.mT).mT, feed_forward(x))

# %% [markdown]
# ## Residual and norm
#
# Around each sub-layer, attention or feed-forward: $\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))$.
# The sum lets a gradient bypass the sub-layer; the norm brings each position's vector back to mean
# 0 and variance 1 (times a learned gain, plus a learned bias). In training, dropout (section 5.4)
# sets a random tenth of the sub-layer's output to zero and scales up the rest; `.eval()` switches
# it off.

# %%
print(inspect.getsource(Residual.forward))
base = model_of("base")
residual = Residual(base).eval()
y = residual(10 * torch.randn(1, 4, 512), lambda x: 3 * x)
assert y.mean(dim=2).abs().max() < 1e-5
torch.testing.assert_close(y.var(dim=2, correction=0), torch.ones(1, 4))

# %% [markdown]
# What the sum is good for shows in a deep stack. Below: the norm of the gradient after passing back
# through 2 to 32 feed-forward networks, with the sum and without it; neither stack has a norm,
# which would also keep the gradient from vanishing here.

# %%
rows = []
for depth in (2, 4, 8, 16, 32):
    for has_residual in (True, False):
        stack = [FeedForward(512, 2048) for _ in range(depth)]
        y = x = torch.randn(1, 4, 512, requires_grad=True)
        for sublayer in stack:
            y = y + sublayer(y) if has_residual else sublayer(y)
        (gradient,) = torch.autograd.grad((y * torch.randn_like(y)).sum(), x)
        rows.append(
            (
                depth,
                "x + FFN(x)" if has_residual else "FFN(x)",
                gradient.norm().item(),
            )
        )

norms = pd.DataFrame(rows, columns=["layers", "stack", "gradient"])
norms = norms.pivot(index="layers", columns="stack", values="gradient")
assert norms.loc[32, "x + FFN(x)"] > 0.1 * norms.loc[2, "x + FFN(x)"]
assert norms.loc[32, "FFN(x)"] < 1e-10 * norms.loc[2, "FFN(x)"]
norms.plot(
    logy=True, marker="o", title="Norm of the gradient at the bottom of a stack"
)

# %% [markdown]
# Norm *after* the sum, as here, is the paper's figure 1. Most models since put it *before* the
# sub-layer, which trains more easily without a warm-up; so does the authors' own program from
# October 2017 on. A row with `norm: pre` has it here (`docs/change.md`); small models trained both
# ways are [compared](../../results.md#what-no-table-shows).
#
# ## One matrix, three uses
#
# Section 3.4: source embedding, target embedding and the map to logits share one matrix. The
# whole model is therefore quickly counted by hand, here for the paper's base:
#
# | part | parameters |
# | :-- | :-- |
# | embedding | $V d$ |
# | attention: $W^Q, W^K, W^V, W^O$ | $d h (2 d_k + 2 d_v)$ |
# | feed-forward | $2 d\, d_{ff} + d_{ff} + d$ |
# | a norm: gain and bias | $2 d$ |
# | encoder layer | attention + feed-forward + 2 norms |
# | decoder layer | 2 attention + feed-forward + 3 norms |

# %%
V = 37_000  # "about 37000 tokens", section 5.1


def parameters(row, vocabulary=V, learned_positions=0):
    d, d_ff = row.d_model, row.d_ff
    attention = d * row.h * (2 * row.d_k + 2 * row.d_v)
    feed_forward = 2 * d * d_ff + d_ff + d
    norm = 2 * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    return vocabulary * d + row.N * (encoder + decoder) + 2 * learned_positions * d


with torch.device("meta"):  # shapes without memory
    model = Transformer(base, V, max_length=256)
counted = sum(p.numel() for p in model.parameters())
assert counted == parameters(base) == 63_045_632
print(f"{counted:,}")

# %% [markdown]
# The paper prints 65 million. With some 40,500 pieces the formula comes within 0.8 million of every
# printed number but that of the big model, whose 213 million require fewer than 37,000. So the
# paper's "about 37000" and its column of parameters do not come from one vocabulary:

# %%
printed = {
    "base": 65, "B_dk16": 58, "B_dk32": 60, "C_N2": 36, "C_N4": 50, "C_N8": 80,
    "C_d256": 28, "C_d1024": 168, "C_ff1024": 53, "C_ff4096": 90, "big": 213,
}  # fmt: skip
counts = pd.DataFrame(
    {
        "paper, millions": printed,
        "37,000 pieces": {row: parameters(model_of(row)) / 1e6 for row in printed},
        "40,500 pieces": {
            row: parameters(model_of(row), 40_500) / 1e6 for row in printed
        },
    }
)
off = (counts["40,500 pieces"] - counts["paper, millions"]).abs()
assert off.drop("big").max() < 0.8 < 4 < off["big"]
counts.rename_axis("row").round(1)

# %% [markdown]
# The small model that comes with this package is built from the same parts:

# %%
shipped = aiayn.load("shipped").transformer
own = sum(p.numel() for p in shipped.parameters())
layers, (vocabulary, width) = len(shipped.encoder), shipped.embedding.shape
row = base.replace(
    N=layers, d_model=width, d_ff=4 * width, h=6, d_k=width // 6, d_v=width // 6
)
assert own == parameters(row, vocabulary)
print(
    f"{layers} layers, d_model {width}, {vocabulary:,} pieces: {own:,} parameters"
)

# %% [markdown]
# **In the code**: `src/aiayn/model/layers.py` and `transformer.py`.
