# %% [markdown]
# # 注意力：公式 (1)、掩码与多头
#
# *论文第 3.2 节。*
#
# 查询（query）提问，各个键（key）以匹配程度作答，结果是值（value）按匹配程度的加权平均：
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# 下面是项目代码中计算权重的部分，权重再乘以 $V$ 就是结果。在 GPU 上训练时改用 torch 的融合算子，算出的结果相同。张量按形状命名：B 个句子、H 个头、T 个提问的位置、S 个被问的位置，K 与 V 是键和值的宽度。

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
# 代码中被除的是查询而不是得分：结果相同，计算更省。它真是那个公式吗？逐个数字手算一遍，再与 torch 自带的算子比较：

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
# ## 为什么除以 $\sqrt{d_k}$
#
# 两个随机向量的点积是 $d_k$ 项之和，标准差随 $\sqrt{d_k}$ 增长。得分太大，softmax 就几乎把全部权重放在一个键上，梯度接近于零（论文脚注 4）。两百个查询对十个键：

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
# 训练出来的模型也是如此。Bahdanau 的加性注意力不用乘积，而用一个小网络给查询与键打分。论文引述：$d_k$ 小的时候它与不缩放的点积相当，$d_k$ 大的时候它更好（第 3.2.1 节）。下面是几个小模型的困惑度，它们在其他方面完全相同（Tatoeba 上三个种子，[附检验](../../results.md#what-no-table-shows)）：

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
# ## 掩码：哪些不能看
#
# 解码器根据前面的词片预测下一个，训练时一句话的所有位置同时计算。所以位置 $t$ 不能看 $t$ 之后的位置（第 3.1 节）。True 表示“可以看”；其余位置的得分为 $-\infty$，权重恰好为 0。

# %%
mask = may_attend_to_earlier(5)
weights = attention_weights(queries[:1, :1], keys[:1, :1], mask)[0, 0]
assert (weights[~mask] == 0).all()
torch.testing.assert_close(weights.sum(dim=1), torch.ones(5))
pd.DataFrame(weights.numpy()).rename_axis("query").round(2)

# %% [markdown]
# 有没有泄漏，仍然是关于导数的问题。输出 2 只依赖输入 0、1、2：

# %%
layer = MultiHeadAttention(d_model=16, h=4, d_k=4, d_v=4)
x = torch.randn(1, 5, 16, requires_grad=True)
(gradient,) = torch.autograd.grad(
    layer.attend_to_itself(x, is_causal=True)[0, 2].sum(), x
)
seen = (gradient[0] != 0).any(dim=1)
assert seen.tolist() == [True, True, True, False, False]

# %% [markdown]
# 第二种掩码遮住填充：一批里的句子都补齐到最长的一句，而补上的部分不得改变任何结果。

# %%
is_real = torch.tensor([[True, True, True, False, False]])
short = layer.attend_to_itself(x[:, :3])
padded = layer.attend_to_itself(x, may_attend=may_attend_to_real(is_real))
torch.testing.assert_close(padded[:, :3], short)

# %% [markdown]
# ## 多头
#
# $$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h) W^O,
# \qquad \mathrm{head}_i = \mathrm{Attention}(Q W_i^Q, K W_i^K, V W_i^V)$$
#
# 一个 softmax 只给出一个平均，而平均会抹掉细节。多个较窄的头可以同时看几个地方。代码里所有的头合成一次矩阵乘法；手写则是一个循环：

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
# 当 $d_k = d_v = d_{\text{model}} / h$ 时，八个头的开销与一个全宽的头相同：四个矩阵的参数量与 $h$ 无关。正因如此，表 3 的 (A) 行才能在“保持计算量不变”的前提下改变头数。

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
# **代码**：`src/aiayn/model/attention.py` 与 `masks.py`。论文在三处使用注意力：编码器看自己；解码器看自己（带掩码）；解码器看编码器的输出（交叉注意力），此时查询来自一个序列，键和值来自另一个。
