# %% [markdown]
# # 翻译：训练好的模型的注意力、束搜索与平均
#
# *论文第 6.1 节，以及图 3 至图 5。*
#
# 软件包里附带一个英德小模型：3 层，390 万个参数，用 tatoeba.org 的日常短句训练。不需要训练，也不需要下载。

# %%
import pandas as pd
import torch

import aiayn
from aiayn.components import END, PAD, START, length_penalty

model = aiayn.load("shipped")
sentences = [
    "Where is the station?",
    "I have never seen such a beautiful garden.",
    "My father bought a new car because the old one was broken.",
]
translations = model.translate(sentences)
assert translations[0] == "Wo ist der Bahnhof?"
pd.DataFrame({"English": sentences, "German": translations})

# %% [markdown]
# ## 各个头在看什么
#
# 解码器写译文时，交叉注意力回看源句。行是正在写的内容（每行预测*下一个*词片），列是源句；3 层，每层 6 个头：

# %%
model.attention_figure(sentences[0])

# %% [markdown]
# 有些头会对齐。写完 “der”、正要写 “Bahnhof” 时，第 3 层的所有头都看着 “station”；没有人告诉过它们哪些词相对应。下面放大权重最大的那个头（在网站上，指针所到之处显示权重）。另一些头回看的是译文刚刚写出的那个源词：例如第 1 层第 6 个头。

# %%
weights = model.attention(sentences[0]).frame("cross")
aligned = weights.query("query_piece == '▁der' and key_piece == '▁station'")
best = aligned.loc[aligned["weight"].idxmax()]
assert (aligned.query("layer == 3")["weight"] > 0.5).all()
model.attention_figure(
    sentences[0], layer=int(best["layer"]), head=int(best["head"])
)

# %% [markdown]
# 注意力权重说明信息可能从哪里来，而不说明模型为何如此决定：被混合的值已经穿过若干层，早已含有邻近词的信息。
#
# ## 束搜索，一步一步来
#
# 模型给出下一个词片的分布。每次取最可能的（贪心）可能错过开头稍差而结尾更好的句子。束搜索保留最好的几个开头。写完的句子，得分要除以长度惩罚：每多一个词片，概率就更低，不除的话短句总会赢（Wu et al. 2016；论文取 $\alpha = 0.6$、束宽 4）。每一步取 2·4 个最好的扩展，这样即使有四个已结束，仍剩下四个未完成的；只有排在前四名的结束才算数。输出最多比输入长 50 个词片（第 6.1 节）：
#
# $$s(Y) = \frac{\log P(Y \mid X)}{lp(Y)}, \qquad lp(Y) = \left(\frac{5 + |Y|}{6}\right)^\alpha$$
#
# $|Y|$ 含结束符；下面各表的 `pieces` 一列不含。

# %%
text = "I like him, but she does not."
BEAM, ALPHA = 4, 0.6
(source,) = model.vocabulary.encode([text], end=True)


@torch.inference_mode()
def extensions(beginnings):
    """The 2 BEAM best one-piece extensions of (log-probability, pieces)."""
    target = torch.tensor([[START, *pieces] for _, pieces in beginnings])
    logits = model.transformer(torch.tensor([source] * len(target)), target)[:, -1]
    logits[:, [PAD, START]] = float("-inf")  # are no output
    totals = logits.log_softmax(dim=1) + torch.tensor(
        [[total] for total, _ in beginnings]
    )
    best = totals.flatten().topk(2 * BEAM)
    for total, index in zip(
        best.values.tolist(), best.indices.tolist(), strict=True
    ):
        row, piece = divmod(index, totals.shape[1])
        yield total, [*beginnings[row][1], piece]


beam, finished, steps = [(0.0, [])], [], []
while True:
    candidates = list(extensions(beam))
    for total, pieces in candidates[:BEAM]:
        if pieces[-1] == END:
            finished.append(
                (total / length_penalty(len(pieces), ALPHA), pieces[:-1])
            )
    beam = [(total, pieces) for total, pieces in candidates if pieces[-1] != END][
        :BEAM
    ]
    steps.append(
        [f"{model.vocabulary.decode([p])[0]} ({total:.1f})" for total, p in beam]
    )
    # a hypothesis only loses probability as it grows: this is the best score that
    # the beam can still reach
    bound = beam[0][0] / length_penalty(len(source) - 1 + 50 + 1, ALPHA)
    if len(finished) >= BEAM and bound < sorted(finished)[-BEAM][0]:
        break

pd.DataFrame(steps, columns=["best", "second", "third", "fourth"]).rename_axis(
    "step"
).head(7)

# %% [markdown]
# 每行是一步：保留下来的四个开头和它们的对数概率。再看写完的句子，最好的在前；并与软件包的结果比较，后者同时搜索许多句子，每个位置只算一次：

# %%
finished.sort(reverse=True)
by_hand = [model.vocabulary.decode([pieces])[0] for _, pieces in finished[:BEAM]]
found = model.hypotheses([text], beam=BEAM, alpha=ALPHA, n_best=BEAM)
assert found["text"].tolist() == by_hand
assert all(
    abs(a - b) < 1e-3 for a, (b, _) in zip(found["score"], finished, strict=False)
)
found.drop(columns="sentence").round(2)

# %% [markdown]
# 长度惩罚的用处：没有它，漏译一段比译出来更划算。

# %%
longer = "He is not as tall as his father, who used to play basketball."
by_alpha = {}
for alpha in (0.0, 0.6):
    best = model.hypotheses([longer], beam=8, alpha=alpha, n_best=1).iloc[0]
    by_alpha[f"α = {alpha}"] = best[["text", "pieces", "log_probability", "score"]]
found = pd.DataFrame(by_alpha).T.rename_axis("penalty")
assert ["Vater" in text for text in found["text"]] == [False, True]
assert found["log_probability"].is_monotonic_decreasing
found.astype({"pieces": int, "log_probability": float, "score": float}).round(2)

# %% [markdown]
# ## 各有多大作用
#
# 权重是最后若干检查点的平均（第 6.1 节；第 5 页说明了为什么有用），输出由束搜索得到。两者各带来多少是可以测的：同一次训练分别用最后的检查点、用平均、用平均加贪心来解码开发集。在 Tatoeba 上，以 BLEU 计：

# %%
findings = aiayn.reproduction("tatoeba").findings.set_index("finding")
gains = findings.loc[["averaging", "search"], ["effect", "low", "high", "verdict"]]
assert (gains["low"] <= gains["effect"]).all()
assert (gains["effect"] <= gains["high"]).all()
gains.round(2)

# %% [markdown]
# 各约一个 BLEU：少于 big 带来的（+3.5），多于第四层带来的（+0.2，未定），而且两者都不需要额外训练。
#
# **代码**：`src/aiayn/decoding/beam.py`、`src/aiayn/model/checkpoints.py`；在命令行里是 `aiayn translate shipped "Where is the station?" --attention attention.svg`。
