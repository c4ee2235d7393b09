# %% [markdown]
# # Why attention: table 1, measured
#
# *Sections 1, 2 and 4 of the paper.*
#
# A translation model must carry information between positions: a verb at the end of a sentence may
# depend on its first word. Section 4 compares three kinds of layers by three numbers:
#
# | | asks | matters for |
# | :-- | :-- | :-- |
# | complexity per layer | how many operations? | the cost of training |
# | sequential operations | how many must wait for one another? | what parallel hardware can do |
# | maximum path length | through how many layers does a signal pass? | whether a distant dependency is learned |
#
# You need not believe any of it: this page measures all three.

# %%
import pandas as pd
import torch

from aiayn.components import (
    LAYER_TYPES,
    Sizes,
    count_with_torch,
    dependence,
    longest_chain,
    path_length,
    relations,
)

torch.manual_seed(0)
ROWS = ["self_attention", "recurrent", "convolutional", "restricted"]  # of table 1
assert [name for name, kind in LAYER_TYPES.items() if kind.in_table] == ROWS

# %% [markdown]
# ## Path length, by differentiating
#
# Does the last output depend on the first input? That is a question about a derivative: if
# $\partial y_n / \partial x_1$ is not zero, the signal arrives. One layer of self-attention, one
# convolution over three neighbours, eight positions of width 4:

# %%
x = torch.randn(1, 8, 4, requires_grad=True)
sizes = Sizes(n=8, d=4, k=3, r=4, h=1)  # k: kernel, r: neighbourhood, h: heads
arrives = {}
for name in ("self_attention", "convolutional"):
    layer = LAYER_TYPES[name].build(sizes)
    (gradient,) = torch.autograd.grad(layer(x)[0, -1].sum(), x)
    arrives[name] = (
        gradient[0].abs().sum(dim=1) > 0
    )  # of which inputs does the last output know?
    print(f"{name:>15}: {arrives[name].int().tolist()}")

assert arrives["self_attention"].all()
assert arrives["convolutional"].tolist() == [False] * 6 + [True] * 2

# %% [markdown]
# Self-attention sees every position at once. The convolution sees its neighbour, so that several
# layers must be stacked. `restricted` is self-attention to r = 4 positions: two before, itself and
# one after. `dependence` asks the same of all pairs: row $i$, column $j$ says whether output $i$
# depends on input $j$.

# %%
for name in ("convolutional", "restricted"):
    print(name)
    for row in (
        dependence(LAYER_TYPES[name].build(sizes).double(), n=8, d=4).int().tolist()
    ):
        print("  ", *row)

# %% [markdown]
# By the chain rule, a stack of layers depends on what the product of these matrices says. The path
# length is the number of layers after which the corner from first to last position is filled. For a
# recurrence each step of time counts as a layer, since a signal passes through all of them. Below,
# k = 5 and r = 8.

# %%
lengths = [8, 16, 32, 64]
measured = {}
for name in ROWS:
    kind = LAYER_TYPES[name]
    measured[name] = {"exact formula": kind.path.formula}
    for n in lengths:
        sizes = Sizes(n=n, d=4, k=5, r=8, h=1)
        found = path_length(relations(kind, kind.path, sizes), n)
        assert found == kind.path.layers(n, {"k": 5, "r": 8}.get(kind.path.size, 0))
        measured[name][f"n = {n}"] = found

pd.DataFrame(measured).T

# %% [markdown]
# One layer, whatever the length: that is the row of the table for which the paper is named. A
# convolution needs $O(n/k)$ layers (the paper's $O(\log_k n)$ is for *dilated* ones), a recurrence
# $n$ steps, attention to $r$ neighbours $O(n/r)$.
#
# ## Sequential operations
#
# Trace the layer, and find the longest chain of operations in which each needs the one before.

# %%
chains = pd.DataFrame(
    {
        f"n = {n}": [
            longest_chain(
                LAYER_TYPES[name].build(Sizes(n=n, d=4, k=3, r=4, h=1)), n, 4
            )
            for name in ROWS
        ]
        for n in (4, 8, 12)
    },
    index=ROWS,
)
assert (chains["n = 4"] == chains["n = 12"]).tolist() == [True, False, True, True]
chains

# %% [markdown]
# Only the recurrence grows with the sentence. On a GPU, with thousands of units that work at the
# same time, this chain decides how fast an LSTM trains, and it is what the paper set out to remove.
#
# ## Complexity per layer
#
# The FLOPs of matrix products (a multiply-add is two), counted by torch as they happen. The table's
# $O(n^2 d)$ for self-attention is the two products of equation 1, $QK^T$ and the weights times $V$.
# The four projections around them cost $O(n d^2)$ more, which the table leaves out; a convolution
# and a recurrence have no others.

# %%
D = 256
points = []
for name in ("self_attention", "recurrent", "convolutional"):
    kind = LAYER_TYPES[name]
    for n in (32, 64, 128, 256, 512):
        sizes = Sizes(n=n, d=D, k=3, r=64, h=8)
        with torch.device("meta"), torch.no_grad():  # shapes alone, no numbers
            layer, x = kind.build(sizes), torch.zeros(1, n, D)
            flops, _ = count_with_torch(lambda layer=layer, x=x: layer(x))
        assert flops == kind.term(sizes) + kind.projections(sizes)
        points.append((name, n, flops, flops - kind.projections(sizes)))

costs = pd.DataFrame(
    points, columns=["layer", "n", "whole layer", "term of table 1"]
)
term = costs.pivot(index="n", columns="layer", values="term of table 1")
axes = term.plot(
    loglog=True,
    marker="o",
    ylabel="FLOPs of a sentence",
    title="The terms of table 1, d = 256",
)
axes.set_xscale("log", base=2)
axes

# %% [markdown]
# "Self-attention layers are faster than recurrent layers when the sequence length $n$ is smaller
# than the representation dimensionality $d$" (section 4). The lines cross where they should:

# %%
assert (term["self_attention"] < term["recurrent"]).tolist() == [
    True,
    True,
    True,
    False,
    False,
]
assert term.loc[D, "self_attention"] == term.loc[D, "recurrent"]  # n = d
whole = costs.pivot(index="n", columns="layer", values="whole layer")
(whole / whole[["recurrent"]].to_numpy()).round(2)

# %% [markdown]
# This last table is the small print: beside a plain recurrence, the *whole* layer of self-attention
# costs more at every length, because of its projections. (An LSTM, with its four gates, costs four
# times the plain recurrence, so it is cheaper than attention only beyond $n = 2d$.) Against a plain
# recurrence or a convolution of width 3, attention wins nothing in operations. It wins the other
# two columns: no chain of waiting, and a path of one.
#
# **In the code**: `src/aiayn/profiling/`. All layers at all sizes, with times on a real machine:
# table 1 of any report, `aiayn.reproduction("multi30k_table3").table(1)`.
