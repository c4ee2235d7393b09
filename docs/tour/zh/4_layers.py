# %% [markdown]
# # 层：前馈、残差、归一化，以及 6300 万个参数
#
# *论文第 3.1、3.3、3.4 节。*
#
# 注意力在位置之间搬运信息；如何处理这些信息则由每个位置各自决定：两个线性变换，中间一个 ReLU：
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
# “另一种说法是两个核宽为 1 的卷积。”字面意义上正是如此：

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
# ## 残差与归一化
#
# 每个子层（注意力或前馈）外面都是 $\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))$。求和让梯度可以绕过子层；归一化让每个位置的向量回到均值 0、方差 1（再乘以可学习的增益，加上可学习的偏置）。训练时，dropout（第 5.4 节）把子层输出随机置零十分之一，并把其余的相应放大；`.eval()` 将其关闭。

# %%
print(inspect.getsource(Residual.forward))
base = model_of("base")
residual = Residual(base).eval()
y = residual(10 * torch.randn(1, 4, 512), lambda x: 3 * x)
assert y.mean(dim=2).abs().max() < 1e-5
torch.testing.assert_close(y.var(dim=2, correction=0), torch.ones(1, 4))

# %% [markdown]
# 求和的好处在很深的网络里才看得清。下图是梯度反向穿过 2 到 32 个前馈网络之后的范数，分别为有求和与无求和；两者都不带归一化，因为在这里单靠归一化也能防止梯度消失。

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
# 先求和*后*归一化，这是论文的图 1。此后的模型大多把归一化放在子层*之前*，不用预热也容易训练；作者自己的程序从 2017 年 10 月起也是如此。在本项目里，给模型的那一行加上 `norm: pre` 即可（见 `docs/change.md`）；用两种方式训练的小模型，比较结果见[这里](../../results.md#what-no-table-shows)。
#
# ## 一个矩阵，三种用途
#
# 第 3.4 节：源语言嵌入、目标语言嵌入和输出 logits 的变换共用一个矩阵。因此整个模型的参数很快就能手算出来，以论文的 base 为例：
#
# | 部分 | 参数量 |
# | :-- | :-- |
# | 嵌入 | $V d$ |
# | 注意力：$W^Q, W^K, W^V, W^O$ | $d h (2 d_k + 2 d_v)$ |
# | 前馈 | $2 d\, d_{ff} + d_{ff} + d$ |
# | 一个归一化：增益与偏置 | $2 d$ |
# | 编码器层 | 注意力 + 前馈 + 2 个归一化 |
# | 解码器层 | 2 个注意力 + 前馈 + 3 个归一化 |

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
# 论文给出的是 6500 万。若词表约为 40,500 个词片，公式与论文各行的数字相差都不到 80 万，唯独 big 例外：它的 2.13 亿要求词表小于 37,000。可见论文的“约 37000”与参数量那一列并非出自同一个词表：

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
# 随本软件包附带的小模型由同样的部件搭成：

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
# **代码**：`src/aiayn/model/layers.py` 与 `transformer.py`。
