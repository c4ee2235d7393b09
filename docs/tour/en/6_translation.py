# %% [markdown]
# # Translation: attention of a trained model, beam search, averaging
#
# *Section 6.1 of the paper, and its figures 3 to 5.*
#
# A small English-German model comes with the package: 3 layers, 3.9 million parameters, trained on
# short everyday sentences of tatoeba.org. Nothing needs to be trained or downloaded.

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
# ## What its heads look at
#
# While the decoder writes, its cross attention looks back at the source. Rows are what is being
# written (each row predicts the *next* piece), columns the source; 3 layers of 6 heads:

# %%
model.attention_figure(sentences[0])

# %% [markdown]
# Some heads align. When the model has written "der" and is about to write "Bahnhof", all heads of
# layer 3 look at "station"; nobody told them which words belong together. Here is the one with the
# largest weight, enlarged (on the site, point at a cell to see its weight). Others look back at the
# source word whose translation has just been written: layer 1, head 6.

# %%
weights = model.attention(sentences[0]).frame("cross")
aligned = weights.query("query_piece == '▁der' and key_piece == '▁station'")
best = aligned.loc[aligned["weight"].idxmax()]
assert (aligned.query("layer == 3")["weight"] > 0.5).all()
model.attention_figure(
    sentences[0], layer=int(best["layer"]), head=int(best["head"])
)

# %% [markdown]
# Attention weights show where information may come from, not why the model decides as it does: the
# values that are mixed have already passed through layers, and so already hold their neighbours.
#
# ## Beam search, step by step
#
# The model gives a distribution over the next piece. To take the likeliest each time (greedy) may
# miss a sentence that begins less well and ends better. A beam keeps the best few beginnings. Scores
# of finished sentences are divided by a length penalty, as every piece costs probability and short
# outputs would win (Wu et al. 2016; the paper has $\alpha = 0.6$ and a beam of 4). Each step ranks
# 2·4 extensions, so that four unfinished ones remain even if four have ended; an end counts only
# among the best four. An output may be 50 pieces longer than its input (section 6.1).
#
# $$s(Y) = \frac{\log P(Y \mid X)}{lp(Y)}, \qquad lp(Y) = \left(\frac{5 + |Y|}{6}\right)^\alpha$$
#
# $|Y|$ counts the end symbol; the column `pieces` of the tables below does not.

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
# Each row is a step: the four beginnings that are kept, with their log-probabilities. Below are the
# finished hypotheses, best first. The package finds the same; it searches many sentences at a time
# and computes each position only once:

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
# What the penalty is for: without it, dropping a phrase is cheaper than translating it.

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
# ## What each is worth
#
# The weights are the mean of the last checkpoints (section 6.1; page 5 shows why it helps), the
# outputs those of the beam. What either gains can be measured: the same run decodes the development
# set by its last checkpoint, by the mean, and by the mean greedily. On Tatoeba, in BLEU:

# %%
findings = aiayn.reproduction("tatoeba").findings.set_index("finding")
gains = findings.loc[["averaging", "search"], ["effect", "low", "high", "verdict"]]
assert (gains["low"] <= gains["effect"]).all()
assert (gains["effect"] <= gains["high"]).all()
gains.round(2)

# %% [markdown]
# About a point each: less than the big model brings (+3.5), more than a fourth layer (+0.2,
# undecided), and neither costs any training.
#
# **In the code**: `src/aiayn/decoding/beam.py`, `src/aiayn/model/checkpoints.py`; from a shell,
# `aiayn translate shipped "Where is the station?" --attention attention.svg`.
