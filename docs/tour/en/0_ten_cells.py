# %% [markdown]
# # Ten cells: a model, its translations and the results in a notebook
#
# `import aiayn` is all that a notebook needs: models translate, results are pandas DataFrames. The
# model here comes with the package; in the folder of a scale (one configuration of the whole
# pipeline, a file of `conf/scale/`), `aiayn.load("en-de.base")` loads a run of your own.

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
# The best hypotheses of each sentence, with the scores by which the beam search ranks them (natural
# logarithms; section 6.1 of the paper):

# %%
hypotheses = model.hypotheses(sentences, n_best=2)
assert (hypotheses.groupby("sentence")["rank"].max() == 2).all()
hypotheses.round(2)

# %% [markdown]
# Attention as a picture, and as numbers: which source piece (a token of the vocabulary: a word or
# part of one) gets most of the weight, in the mean of all heads of the last layer, when a piece has
# been written and the next one is predicted. This is cross-attention: the decoder looks at the
# encoder's output.

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
# ## Results
#
# A published reproduction needs no weights; `aiayn.read_results("scales/copy")` reads a scale of your
# own. Every frame's columns are described in `aiayn.results.schemas`.

# %%
results = aiayn.reproduction("multi30k_tiny")
columns = ["run", "split", "metric", "value", "low", "high"]
chosen = results.scores.query("split == 'test' and metric == 'lowercased_bleu'")
chosen[columns].reset_index(drop=True)

# %% [markdown]
# Table 2, the paper's rows and ours:

# %%
table = results.table(2)
assert (table["Model"] == "Transformer (big)").any()
table

# %% [markdown]
# A learning curve, as the report draws it; its numbers are `.data`, those of all runs `.histories`.

# %%
results.figures()["training_en-fr"]

# %%
last = results.histories.dropna(subset="dev_perplexity").groupby("run").last()
last[["step", "epoch", "dev_perplexity"]].round(2)

# %% [markdown]
# What the paper states, tested over seeds: effects with intervals, p-values corrected for the
# number of tests. An effect is a difference of BLEU (no effect: 0) or a ratio of perplexities (no
# effect: 1). `positions_…` hold if the two kinds are *alike* within a margin. Each claim is spelled
# out in [results](../../results.md#table-3-variations).

# %%
findings = aiayn.reproduction("tatoeba").findings
findings[["finding", "verdict", "effect", "low", "high", "p_corrected"]].round(
    {"effect": 2, "low": 2, "high": 2, "p_corrected": 5}
)
