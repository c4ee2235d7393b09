# %% [markdown]
# # 论文没有说的
#
# *以及要把它跑起来必须自己决定的。*
#
# 只凭论文，读者能写出图 1 的模型，却训练不出论文的模型。下面是正文留白之处、作者的程序（tensor2tensor 1.0.3，2017 年 6 月）的做法，以及这里的做法。完整的清单是 `docs/deviations.md`，每一行都注明所在的文件。
#
# | 留白 | 作者的程序 | 这里 |
# | :-- | :-- | :-- |
# | 初始权重 | Glorot 均匀分布，嵌入的标准差为 $d_{\text{model}}^{-0.5}$ | 相同 |
# | 归一化的 $\epsilon$ | $10^{-6}$ | 相同 |
# | $\epsilon_{ls}$ 分给谁 | 其余词片 | 全部词片，按论文的参考文献 36 |
# | 解码器最先读什么 | 零向量 | 起始符号 |
# | 训练句对的长度 | 至多 256 个词片 | 相同 |
# | 25,000 个词片的一批如何计数 | 含填充的位置 | 真实的词片 |
# | 种子的个数 | 看来只有一个 | 想要几个就几个 |
#
# 其中有些用几行代码就能看到。初始权重：嵌入的标准差取 $d_{\text{model}}^{-0.5}$，使得共用同一矩阵的 logits 一开始大小约为 1。

# %%
import math

import pandas as pd
import torch

import aiayn
from aiayn.components import Transformer, model_of, plain_smoothed_cross_entropy

torch.manual_seed(0)
P = 1000  # pieces
source, target = torch.randint(4, P, (8, 20)), torch.randint(4, P, (8, 20))
untrained = {}
for N in (1, 2, 6):
    model = Transformer(model_of("base").replace(N=N), P, max_length=64).eval()
    with torch.no_grad():
        logits = model(source, target).flatten(0, 1)
    loss = plain_smoothed_cross_entropy(
        logits, torch.randint(4, P, (160,)), eps_ls=0.0
    ).mean()
    untrained[N] = {
        "deviation of the embeddings": model.embedding.detach().std().item(),
        "of the logits": logits.std().item(),
        "loss": loss.item(),
        "repeats what it reads": (logits.argmax(dim=1) == target.flatten())
        .float()
        .mean()
        .item(),
    }

table = pd.DataFrame(untrained).T.rename_axis("N")
assert (table["deviation of the embeddings"] - 512**-0.5).abs().max() < 1e-3
assert table["of the logits"].between(0.9, 1.2).all()
table.round(3)

# %% [markdown]
# 未经训练的模型应当一无所知：它的损失应当是随机 logits 的损失，即 $\log P$ 加上方差的一半。六层时正是如此。但一层和两层的模型只会重复读到的词片，既自信又错误，因为输出用的就是输入的那个矩阵（第 3.4 节），而中间几乎什么也没做。它们的损失远高于一无所知的模型。

# %%
ignorant = math.log(P) + table["of the logits"] ** 2 / 2
assert abs(table.loc[6, "loss"] - ignorant[6]) < 0.3
assert table.loc[1, "loss"] - ignorant[1] > 1
assert table["repeats what it reads"].round(1).tolist() == [1, 1, 0]

# %% [markdown]
# 标签平滑的两种读法只差一点：在作者的程序里，其余词片得到 $\epsilon / (P - 1)$，正确的得到 $1 - \epsilon$；按参考文献 36，每个词片都得到 $\epsilon / P$，正确的也不例外。词表有 37,000 个词片时，两者无法区分：

# %%
P, eps = 37_000, 0.1  # pieces, and the paper's smoothing
readings = pd.DataFrame(
    {
        "right piece": [1 - eps, 1 - eps + eps / P],
        "each other piece": [eps / (P - 1), eps / P],
    },
    index=pd.Index(
        ["the authors' program", "reference 36, and here"], name="reading"
    ),
)
assert readings["right piece"].diff().iloc[1] < 1e-5
readings.map("{:.4g}".format)

# %% [markdown]
# ## 随机种子
#
# 表 3 每行只训练了一次，没有给出波动。同一个 base 只换种子训练五次，在 Multi30k 上：

# %%
published = aiayn.reproduction("multi30k_table3")
dev = published.scores.query("split == 'dev' and model == 'base'")
spread = dev.groupby("metric")["value"].agg(["count", "mean", "std", "min", "max"])
assert (spread["std"] > 0.2).any()
spread.round(2)

# %% [markdown]
# 同一个模型最好与最坏的种子之间，差距与表 3 若干行之间的差距相当。所以这里的报告给出区间，按比较的次数校正，该说“未定”时就说“未定”：`docs/decisions/significance.md`。
#
# ## 同样的词，如今的含义
#
# 2017 年以来有三件事变了，常让论文的读者困惑：
#
# - **归一化在前。** 较新的模型在子层之前归一化；图 1 在求和之后。
# - **BLEU。** 论文用的是分词后的 BLEU，德语复合词在连字符处拆开。后来的论文用 SacreBLEU，同样的输出，数值更低：在 newstest2014 英德上低 0.7 到 1.5。
# - **数据集。** “WMT14 EN-DE” 有许多种清洗方式；论文的有 450 万个句对。
#
# 接下来可以：[只改一处](../../change.md)、[重跑 WMT14](../../wmt14.md)，或[评判所得的结果](../../results.md)。
