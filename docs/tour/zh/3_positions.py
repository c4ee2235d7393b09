# %% [markdown]
# # 位置：模型如何知道顺序
#
# *论文第 3.5 节。*
#
# 注意力是加权平均，而平均与各项的次序无关。如果不把位置放进去，“狗咬人”和“人咬狗”就是同一个词袋。

# %%
import pandas as pd
import torch

import aiayn
from aiayn.components import FeedForward, MultiHeadAttention, sinusoids

torch.manual_seed(0)
D = 32
attention, feed_forward = MultiHeadAttention(D, 4, 8, 8), FeedForward(D, 64)


def layer(x):
    """A layer of the encoder without norms, which treat positions alike too."""
    x = x + attention.attend_to_itself(x)
    return x + feed_forward(x)


words = {word: torch.randn(D) for word in ("dog", "bites", "man")}
sentence = torch.stack([words[w] for w in ("dog", "bites", "man")])[None]
turned = sentence.flip(1)  # man bites dog

# %% [markdown]
# 没有位置编码时，输入怎样换序，输出就怎样换序，仅此而已：“狗”得到同一个向量，无论它咬人还是被咬。

# %%
torch.testing.assert_close(layer(sentence).flip(1), layer(turned))

with_positions = sinusoids(3, D)
agent = layer(sentence + with_positions)[0, 0]  # the dog that bites
patient = layer(turned + with_positions)[0, 2]  # the dog that is bitten
print(f"with positions, the two dogs differ by {(agent - patient).norm():.2f}")
assert (agent - patient).norm() > 1

# %% [markdown]
# （带掩码的解码器是例外：位置 $t$ 恰好看到 $t$ 个位置，所以即使没有编码也有一点顺序信息。）
#
# ## 正弦编码
#
# $$PE_{(pos, 2i)} = \sin\!\left(pos / 10000^{2i/d_{\text{model}}}\right), \qquad
# PE_{(pos, 2i+1)} = \cos\!\left(pos / 10000^{2i/d_{\text{model}}}\right)$$
#
# 每对通道好比一根表针：最快的每 $2\pi$ 个位置转一圈，最慢的在 $d_{\text{model}} = 512$ 时要将近 $10000 \cdot 2\pi$ 个位置（本页只有 32 个通道，是 $5623 \cdot 2\pi$）。就像数的各位数字：快的区分邻近位置，慢的说明在文中的大致位置。

# %%
table = sinusoids(60, D)
channels = pd.DataFrame(
    table[:, [0, 1, 8, 16]].numpy(), columns=["0", "1", "8", "16"]
)
channels.plot(
    xlabel="position", title="Four of 32 channels of the positional encoding"
)

# %% [markdown]
# “对任意固定的偏移 $k$，$PE_{pos+k}$ 可以表示为 $PE_{pos}$ 的线性函数”，而且在每个位置上都是同一个函数：每根表针转过一个固定的角度。

# %%
k = 5
rotation = torch.zeros(D, D)
for i in range(0, D, 2):
    angle = torch.tensor(k / 10000 ** (i / D))
    rotation[i : i + 2, i : i + 2] = torch.tensor(
        [[angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]]
    )
torch.testing.assert_close(table[k:], table[:-k] @ rotation.T, atol=1e-5, rtol=0)

# %% [markdown]
# 所以一个头无论站在哪里，都能用同一个矩阵去看“我前面第五个位置”。两个编码的点积也只取决于它们的距离：它是各个 $k \omega_i$ 的余弦之和，其中 $\omega_i = 10000^{-2i/d_{\text{model}}}$。

# %%
similarity = table @ table.T / (D / 2)  # 1 for a position with itself
by_distance = pd.DataFrame(
    {f"to position {p}": similarity[p, p : p + 30].numpy() for p in (0, 10, 30)}
)
assert (by_distance.max(axis=1) - by_distance.min(axis=1)).max() < 1e-5
by_distance["to position 0"].plot(
    xlabel="distance in positions",
    ylim=(0, 1.05),
    title="Similarity of two positional encodings",
)

# %% [markdown]
# 编码是*加*到词嵌入上的，而模型先把嵌入乘以 $\sqrt{d_{\text{model}}}$（第 3.4 节）。若不乘，刚初始化的嵌入只有位置编码的十六分之一：

# %%
d_model = 512
drawn = (
    torch.randn(1000, d_model) * d_model**-0.5
)  # as a new model's embeddings are
size = {
    "embedding": drawn,
    "embedding × √d_model": drawn * d_model**0.5,
    "positions": sinusoids(50, d_model),
}
sizes = pd.Series(
    {name: x.square().mean().sqrt().item() for name, x in size.items()}
)
assert 15 < sizes["positions"] / sizes["embedding"] < 17
sizes.to_frame("root mean square").round(2)

# %% [markdown]
# 训练出来的模型有多需要位置？下面是几个小模型的 BLEU 与困惑度：用正弦编码的、底数为 100 而不是 10,000 的、完全不用位置的（Tatoeba 上三个种子，[附检验](../../results.md#what-no-table-shows)）：

# %%
trained = aiayn.reproduction("tatoeba_extensions").comparisons
names = {
    "base": "sinusoids",
    "X_base100": "sinusoids to base 100",
    "X_no_positions": "none",
}
effects = trained.pivot(index="model", columns="measure", values="mean")
effects = effects.loc[list(names)].rename(names).rename_axis("positions")
assert effects.loc["none", "bleu"] < effects.loc["sinusoids", "bleu"] - 2
effects.round(2)

# %% [markdown]
# 没有位置损失 4.6 BLEU；两种底数之间，三个种子看不出差异。
#
# 正弦编码没有最后一个位置，而学习得到的位置表有尽头（表 3 的 E 行）。论文发现两者“结果几乎相同”，之所以保留正弦，是因为它*也许*能推广到训练中没有的长度。真能推广吗？`make repro SCALE=copy`（一分钟）用 3 到 10 个符号的序列训练，也在 11 到 16 个的序列上测试：比较报告中的 `test` 与 `longer`。
#
# **代码**：`src/aiayn/model/positions.py`。作者的程序把所有正弦放在所有余弦之前，指数的分母也不同（`docs/deviations.md`）；这里按论文正文的公式。
