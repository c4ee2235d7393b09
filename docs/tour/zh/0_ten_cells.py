# %% [markdown]
# # 十个单元格：在笔记本里使用模型、译文和结果
#
# 在笔记本里只需 `import aiayn`：模型可以直接翻译，结果都是 pandas 的 DataFrame。这里用的模型随软件包附带；在某个规模（scale，即 `conf/scale/` 中的一套完整配置）的文件夹里，`aiayn.load("en-de.base")` 载入你自己训练的模型。

# %%
import pandas as pd

import aiayn

model = aiayn.load("shipped")

# %%
sentences = [
    "Where is the station?",
    "The dog sleeps.",
    "She speaks three languages.",
]
pd.DataFrame(
    {"English": sentences, "German": model.translate(sentences, beam=4, alpha=0.6)}
)

# %% [markdown]
# 每句话最好的几个译文，以及束搜索用来排序的得分（自然对数；论文第 6.1 节）：

# %%
hypotheses = model.hypotheses(sentences, n_best=2)
assert (hypotheses.groupby("sentence")["rank"].max() == 2).all()
hypotheses.round(2)

# %% [markdown]
# 注意力既可以看图，也可以看数：写出每个词片之后、预测下一个词片时，最后一层所有头的平均权重在源句的哪个词片（即词元 token：一个词或词的一部分）上最大。这是交叉注意力：解码器看编码器的输出。

# %%
model.attention_figure(sentences[0])

# %%
weights = model.attention(sentences[0]).frame("cross")
mean = (
    weights.query("layer == layer.max()")
    .groupby(["query", "query_piece", "key_piece"])["weight"]
    .mean()
)
most = mean.unstack("key_piece").idxmax(axis=1).reset_index(name="looks at")
most.rename(columns={"query_piece": "has written"}).drop(columns="query")

# %% [markdown]
# ## 结果
#
# 已发布的复现不需要权重；`aiayn.read_results("scales/copy")` 读取你自己跑出的结果。每张表的列在 `aiayn.results.schemas` 里有说明。

# %%
results = aiayn.reproduction("multi30k_tiny")
columns = ["run", "split", "metric", "value", "low", "high"]
chosen = results.scores.query("split == 'test' and metric == 'lowercased_bleu'")
chosen[columns].reset_index(drop=True)

# %% [markdown]
# 表 2，论文的各行和我们的结果：

# %%
table = results.table(2)
assert (table["Model"] == "Transformer (big)").any()
table

# %% [markdown]
# 一条学习曲线，与报告中的一样；图中的数据在 `.data` 里，所有训练的数据在 `.histories` 里。

# %%
results.figures()["training_en-fr"]

# %%
last = results.histories.dropna(subset="dev_perplexity").groupby("run").last()
last[["step", "epoch", "dev_perplexity"]].round(2)

# %% [markdown]
# 用多个种子检验论文的各项论断：给出效应及其区间，p 值按检验次数校正。效应是 BLEU 之差（0 表示无差异）或困惑度之比（1 表示无差异）；`positions_…` 两行检验的是两者在给定范围内*相同*。各项论断见[结果](../../results.md#table-3-variations)。

# %%
findings = aiayn.reproduction("tatoeba").findings
findings[["finding", "verdict", "effect", "low", "high", "p_corrected"]].round(
    {"effect": 2, "low": 2, "high": 2, "p_corrected": 5}
)
