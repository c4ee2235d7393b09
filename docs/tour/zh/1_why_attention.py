# %% [markdown]
# # 为什么用注意力：实测表 1
#
# *论文第 1、2、4 节。*
#
# 翻译模型必须在位置之间传递信息：句末的动词可能取决于句首的词。论文第 4 节用三个数比较三类层：
#
# | | 问的是 | 关系到 |
# | :-- | :-- | :-- |
# | 每层复杂度 | 要做多少次运算？ | 训练的开销 |
# | 顺序操作次数 | 有多少次运算必须依次等待？ | 并行硬件能否发挥作用 |
# | 最大路径长度 | 信号要穿过多少层？ | 远距离的依赖能否学会 |
#
# 不必轻信：这三个数本页都会实测。

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
# ## 路径长度：求导便知
#
# 最后一个输出是否依赖第一个输入？这是关于导数的问题：只要 $\partial y_n / \partial x_1$ 不为零，信号就到达了。取八个位置、宽度为 4，分别用一层自注意力和一层覆盖三个相邻位置的卷积：

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
# 自注意力一次看到所有位置。卷积只看到相邻的位置，所以要叠好几层。`restricted` 是只看 r = 4 个位置的自注意力：前两个、自身和后一个。`dependence` 对所有位置对问同样的问题：第 $i$ 行第 $j$ 列表示输出 $i$ 是否依赖输入 $j$。

# %%
for name in ("convolutional", "restricted"):
    print(name)
    for row in (
        dependence(LAYER_TYPES[name].build(sizes).double(), n=8, d=4).int().tolist()
    ):
        print("  ", *row)

# %% [markdown]
# 由链式法则，若干层叠起来的依赖关系由这些矩阵的乘积给出。路径长度就是矩阵中“首位置到末位置”的那个角变为非零所需的层数。对循环层，每个时间步算作一层，因为信号要逐步穿过它们。下表取 k = 5、r = 8。

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
# 无论多长都只要一层：论文的标题说的正是表中这一行。卷积需要 $O(n/k)$ 层（论文里的 $O(\log_k n)$ 指*空洞*卷积），循环层需要 $n$ 步，只看 $r$ 个邻居的注意力需要 $O(n/r)$ 层。
#
# ## 顺序操作次数
#
# 追踪一层的计算图，找出最长的一条链，链上每个运算都要等前一个完成。

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
# 只有循环层的这条链随句长增长。GPU 上有成千上万个同时工作的单元，LSTM 训练得多快就由这条链决定；论文要去掉的正是它。
#
# ## 每层复杂度
#
# 由 torch 在运行时统计矩阵乘法的运算量（FLOPs，一次乘加算两次运算）。表中自注意力的 $O(n^2 d)$ 是公式 (1) 里的两次乘法：$QK^T$，以及权重乘 $V$。它们前后的四个投影另需 $O(n d^2)$，表里没有列出；卷积和循环层除此之外没有别的乘法。

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
# “当序列长度 $n$ 小于表示维度 $d$ 时，自注意力层比循环层快”（第 4 节）。曲线果然在 $n = d$ 处相交：

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
# 最后这张表是常被略过的细节：与普通循环层相比，自注意力的*整层*在任何长度下都更贵，因为有投影。（LSTM 有四个门，开销是普通循环层的四倍，因此只有当 $n > 2d$ 时才比注意力便宜。）与普通循环层或核宽为 3 的卷积相比，注意力在运算量上并不占优；它的优势在另外两列：没有必须依次等待的链，路径长度为一。
#
# **代码**：`src/aiayn/profiling/`。所有层、各种尺寸以及真实机器上的耗时，见任意一份报告的表 1：`aiayn.reproduction("multi30k_table3").table(1)`。
