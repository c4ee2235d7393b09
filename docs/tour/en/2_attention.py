# %% [markdown]
# # Attention: equation 1, masks, heads
#
# *Section 3.2 of the paper.*
#
# A query asks, keys answer how well they fit, and the answer is a mean of the values, weighted by
# the fit:
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# Here are its weights in the project's code; the result is these weights times $V$. On a GPU,
# training uses torch's fused kernel, which computes the same. Tensors are named by their shape: B
# sentences, H heads, T positions that ask, S that are asked, K and V the widths of keys and values.

# %%
import inspect
import math

import pandas as pd
import torch

import aiayn
from aiayn.components import (
    MultiHeadAttention,
    attention,
    attention_weights,
    may_attend_to_earlier,
    may_attend_to_real,
)

torch.manual_seed(0)
print(inspect.getsource(attention_weights))

# %% [markdown]
# The queries are divided instead of the scores, which is the same and cheaper. Is it the formula?
# Written out, number by number, and compared with torch's own kernel:

# %%
queries, keys, values = (
    torch.randn(2, 3, 5, 16) for _ in range(3)
)  # B, H, T or S, K or V
ours = attention(queries, keys, values)

by_hand = torch.zeros_like(ours)
for b, h, t in torch.cartesian_prod(
    torch.arange(2), torch.arange(3), torch.arange(5)
).tolist():
    scores = [
        sum(queries[b, h, t] * keys[b, h, s]).item() / math.sqrt(16)
        for s in range(5)
    ]
    total = sum(math.exp(score) for score in scores)
    for s, score in enumerate(scores):
        by_hand[b, h, t] += math.exp(score) / total * values[b, h, s]

torch.testing.assert_close(ours, by_hand)
torch.testing.assert_close(
    ours, torch.nn.functional.scaled_dot_product_attention(queries, keys, values)
)
print("equation 1, by hand and by torch: the same")

# %% [markdown]
# ## Why divide by $\sqrt{d_k}$
#
# A dot product of two random vectors is a sum of $d_k$ terms: its standard deviation grows with
# $\sqrt{d_k}$. Large scores push the softmax to where nearly all weight lies on one key and the
# gradient is close to zero (the paper's footnote 4). Two hundred queries over ten keys:

# %%
rows = []
for d_k in (4, 16, 64, 256, 1024):
    q, k = torch.randn(1, 1, 200, d_k), torch.randn(1, 1, 10, d_k)
    scaled = attention_weights(q, k, None)
    unscaled = torch.softmax(q @ k.transpose(2, 3), dim=-1)
    rows.append(
        {
            "d_k": d_k,
            "deviation of q·k": (q @ k.transpose(2, 3)).std().item(),
            "√d_k": math.sqrt(d_k),
            "largest weight, scaled": scaled.amax(-1).mean().item(),
            "largest weight, not scaled": unscaled.amax(-1).mean().item(),
        }
    )

widths = pd.DataFrame(rows)
assert (widths["deviation of q·k"] / widths["√d_k"]).between(0.8, 1.2).all()
assert widths["largest weight, scaled"].between(0.25, 0.45).all()
assert widths["largest weight, not scaled"].iloc[-1] > 0.9
widths.round(2)

# %% [markdown]
# So it is when models are trained. Bahdanau's additive attention scores a query and a key by a small
# network instead of a product. The paper, citing earlier work, says that it is about as good as the plain dot product
# where $d_k$ is small and better where it is large (section 3.2.1). Perplexity of small models that
# differ in nothing else (three seeds on Tatoeba, [with tests](../../results.md#what-no-table-shows)):

# %%
trained = aiayn.reproduction("tatoeba_extensions").comparisons
perplexity = trained.query("measure == 'perplexity'").set_index("model")["mean"]
by_width = pd.DataFrame(
    {
        "q·k / √d_k": perplexity[["base", "X_dk64"]].to_numpy(),
        "q·k": perplexity[["X_unscaled", "X_dk64_unscaled"]].to_numpy(),
        "additive": perplexity[["X_additive", "X_dk64_additive"]].to_numpy(),
    },
    index=pd.Index([16, 64], name="d_k"),
)
assert (by_width["q·k"] > by_width["q·k / √d_k"]).all()
assert by_width.loc[64, "q·k"] > 1.5 * by_width.loc[64, "additive"]
by_width.round(2)

# %% [markdown]
# ## Masks: what must not be seen
#
# A decoder predicts each piece from the ones before it, and trains on all positions of a sentence at
# once. So position $t$ must not see positions after $t$ (section 3.1). True means "may attend"; the
# others get a score of $-\infty$, hence a weight of exactly 0.

# %%
mask = may_attend_to_earlier(5)
weights = attention_weights(queries[:1, :1], keys[:1, :1], mask)[0, 0]
assert (weights[~mask] == 0).all()
torch.testing.assert_close(weights.sum(dim=1), torch.ones(5))
pd.DataFrame(weights.numpy()).rename_axis("query").round(2)

# %% [markdown]
# Whether anything leaks is again a question about derivatives. Output 2 depends only on inputs 0 to 2:

# %%
layer = MultiHeadAttention(d_model=16, h=4, d_k=4, d_v=4)
x = torch.randn(1, 5, 16, requires_grad=True)
(gradient,) = torch.autograd.grad(
    layer.attend_to_itself(x, is_causal=True)[0, 2].sum(), x
)
seen = (gradient[0] != 0).any(dim=1)
assert seen.tolist() == [True, True, True, False, False]

# %% [markdown]
# The second mask hides padding: sentences of a batch are filled up to the longest, and what fills
# them must change nothing.

# %%
is_real = torch.tensor([[True, True, True, False, False]])
short = layer.attend_to_itself(x[:, :3])
padded = layer.attend_to_itself(x, may_attend=may_attend_to_real(is_real))
torch.testing.assert_close(padded[:, :3], short)

# %% [markdown]
# ## Heads
#
# $$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h) W^O,
# \qquad \mathrm{head}_i = \mathrm{Attention}(Q W_i^Q, K W_i^K, V W_i^V)$$
#
# One softmax gives one mean, and a mean blurs. Several heads, each narrower, look at several places
# at once. In the code all heads are one matrix product; by hand they are a loop:

# %%
heads = []
for i in range(4):
    own = slice(4 * i, 4 * i + 4)  # this head's rows of the matrices
    q, k, v = (
        (x @ w.weight[own].T)[:, None] for w in (layer.w_q, layer.w_k, layer.w_v)
    )
    heads.append(attention(q, k, v)[:, 0])
torch.testing.assert_close(
    layer.w_o(torch.cat(heads, dim=2)), layer.attend_to_itself(x)
)

# %% [markdown]
# With $d_k = d_v = d_{\text{model}} / h$, eight heads cost what one full head would: the parameters
# of the four matrices do not depend on $h$. That is why table 3's rows (A) can vary the heads
# while "keeping the amount of computation constant".

# %%
sizes = {
    h: sum(
        p.numel()
        for p in MultiHeadAttention(512, h, 512 // h, 512 // h).parameters()
    )
    for h in (1, 4, 8, 16, 32)
}
assert set(sizes.values()) == {4 * 512**2}
print(f"{4 * 512**2:,} parameters with 1, 4, 8, 16 or 32 heads")

# %% [markdown]
# **In the code**: `src/aiayn/model/attention.py` and `masks.py`. The paper uses attention in three
# places: the encoder to itself, the decoder to itself (masked), and the decoder to the encoder's
# output (cross-attention), where queries come from one sequence and keys and values from the other.
