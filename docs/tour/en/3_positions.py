# %% [markdown]
# # Positions: how the model knows the order
#
# *Section 3.5 of the paper.*
#
# Attention is a weighted mean, and a mean does not depend on the order of its terms. Unless position
# is put in somewhere, "dog bites man" and "man bites dog" are the same bag of words.

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
# Without positions, the outputs are only permuted as the inputs are: "dog" gets the same vector,
# whether it bites or is bitten.

# %%
torch.testing.assert_close(layer(sentence).flip(1), layer(turned))

with_positions = sinusoids(3, D)
agent = layer(sentence + with_positions)[0, 0]  # the dog that bites
patient = layer(turned + with_positions)[0, 2]  # the dog that is bitten
print(f"with positions, the two dogs differ by {(agent - patient).norm():.2f}")
assert (agent - patient).norm() > 1

# %% [markdown]
# (A masked decoder is the exception: position $t$ sees $t$ positions, so a little order is there
# without any encoding.)
#
# ## The sinusoids
#
# $$PE_{(pos, 2i)} = \sin\!\left(pos / 10000^{2i/d_{\text{model}}}\right), \qquad
# PE_{(pos, 2i+1)} = \cos\!\left(pos / 10000^{2i/d_{\text{model}}}\right)$$
#
# Each pair of channels is the hand of a clock; the first turns once in $2\pi$ positions, the last
# once in nearly $10000 \cdot 2\pi$ where $d_{\text{model}}$ is 512 (here, with 32 channels, in
# $5623 \cdot 2\pi$). Like digits of a number, fast ones tell neighbours apart, slow ones tell where
# in the text one is.

# %%
table = sinusoids(60, D)
channels = pd.DataFrame(
    table[:, [0, 1, 8, 16]].numpy(), columns=["0", "1", "8", "16"]
)
channels.plot(
    xlabel="position", title="Four of 32 channels of the positional encoding"
)

# %% [markdown]
# "For any fixed offset $k$, $PE_{pos+k}$ can be represented as a linear function of $PE_{pos}$",
# and the function is the same at every position: each clock's hand is turned by a fixed angle.

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
# So a head can attend to "five positions before me" by one matrix, wherever it stands. And the dot
# product of two encodings depends on their distance alone: it is a sum of cosines of $k \omega_i$,
# with $\omega_i = 10000^{-2i/d_{\text{model}}}$.

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
# The encoding is *added* to the embedding, which the model multiplies by
# $\sqrt{d_{\text{model}}}$ first (section 3.4). Without that, a new model's embeddings would be 16
# times smaller than the positions:

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
# How much does a trained model need them? BLEU and perplexity of small models with sinusoids, with
# sinusoids to base 100 instead of 10,000, and without positions (three seeds on Tatoeba,
# [with tests](../../results.md#what-no-table-shows)):

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
# Without positions 4.6 BLEU are lost; between the two bases three seeds show no difference.
#
# Sinusoids have no last position, while a learned table ends (table 3, row E). The paper found
# "nearly identical results" with both, and kept sinusoids because they *may* work beyond the
# lengths of training. Do they? `make repro SCALE=copy` (a minute) trains on sequences of 3 to 10
# symbols and tests on 11 to 16 as well: compare `test` and `longer` in its report.
#
# **In the code**: `src/aiayn/model/positions.py`. The authors' program puts all sines before all
# cosines, and its exponents have another denominator ($d/2 - 1$ instead of $d/2$;
# `docs/deviations.md`); this is the text's formula.
