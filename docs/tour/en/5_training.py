# %% [markdown]
# # Training: batches, schedule, smoothing, and a model trained here
#
# *Section 5 of the paper, and a row of table 3 of your own.*
#
# ## Batches of like lengths
#
# A batch is a rectangle: shorter sentences are filled up with padding, which costs time and teaches
# nothing. So "sentence pairs were batched together by approximate sequence length" (section 5.1).
# Ten thousand pairs with realistic lengths. A step's 25,000 tokens a side are eight micro-batches,
# each a rectangle of pairs of similar length; "at random" are rectangles of a similar size, 100
# pairs each:

# %%
import math

import pandas as pd
import torch

from aiayn.components import (
    END,
    PAD,
    START,
    BatchPlan,
    Transformer,
    learning_rate,
    model_of,
    plain_smoothed_cross_entropy,
    smoothed_cross_entropy,
)

generator = torch.Generator().manual_seed(0)
source = (
    (torch.randn(10_000, generator=generator) * 0.5 + 3.2)
    .exp()
    .long()
    .clamp(2, 256)
)
target = (
    (source * (1 + 0.15 * torch.randn(10_000, generator=generator)))
    .long()
    .clamp(2, 256)
)
plan = BatchPlan(
    source.numpy(),
    target.numpy(),
    batch_tokens=25_000,
    micro_batches=8,
    max_length=256,
    seed=1,
)

order = torch.randperm(10_000, generator=generator).split(100)
computed = sum(
    100 * int(source[batch].max() + target[batch].max()) for batch in order
)
padding = {
    "at random": 1 - int(source.sum() + target.sum()) / computed,
    "here": plan.padding_share,
}
assert padding["here"] < 0.15 < 0.4 < padding["at random"]
pd.Series(padding).to_frame("share of padding").rename_axis("batches").round(3)

# %% [markdown]
# Each step takes the next micro-batches of a shuffled stream. Which data step $k$ uses can be
# computed directly, so an interrupted training resumes exactly. Shapes are (pairs, source length,
# target length):

# %%
step = plan.step(17)
tokens = sum(
    int(source[torch.from_numpy(m.indices.astype(int))].sum()) for m in step
)
print(
    f"step 17: {len(step)} micro-batches of shapes {[m.shape for m in step[:3]]} ..."
)
print(f"{tokens:,} source tokens; an epoch is {plan.steps_per_epoch:.1f} steps")

# %% [markdown]
# ## The learning rate
#
# $$lrate = d_{\text{model}}^{-0.5} \cdot
# \min(step^{-0.5},\; step \cdot warmup\_steps^{-1.5})$$
#
# It rises linearly for `warmup_steps`, then falls in proportion to the inverse square root of the
# step. The two meet at $step = warmup\_steps$, where it is highest: for base $1 / \sqrt{512 \cdot
# 4000}$.

# %%
steps = range(50, 20_001, 50)
curves = {
    f"d_model {d}, warm-up {warmup:,}": [learning_rate(s, d, warmup) for s in steps]
    for d, warmup in ((512, 4000), (512, 8000), (256, 4000))
}
peak = learning_rate(4000, 512, 4000)
assert peak == max(curves["d_model 512, warm-up 4,000"])
assert math.isclose(peak, 1 / math.sqrt(512 * 4000))
pd.DataFrame(curves, index=steps).plot(
    xlabel="step", title="Learning rate (equation 3)"
)

# %% [markdown]
# ## Label smoothing
#
# The target distribution is $1 - \epsilon_{ls}$ on the right piece, and $\epsilon_{ls}$ spread over
# all $P$ pieces (section 5.4):
#
# $$L = -\sum_i q_i \log p_i, \qquad q = (1 - \epsilon_{ls})\,\text{onehot} + \epsilon_{ls} / P$$
#
# The more probability a model gives to the right piece, the lower its plain loss. With smoothing
# too much certainty costs: the loss is lowest where $p = q$.

# %%
P, right = 8, torch.tensor([2])


def loss_at(confidence, eps_ls):
    """Of a model that gives the right piece `confidence`, the others the rest."""
    p = torch.full((1, P), (1 - confidence) / (P - 1))
    p[0, right] = confidence
    return plain_smoothed_cross_entropy(p.log(), right, eps_ls=eps_ls).item()


confidences = torch.linspace(0.3, 0.999, 700).tolist()
losses = pd.DataFrame(
    {
        f"ε = {eps}": [loss_at(c, eps) for c in confidences]
        for eps in (0.0, 0.1, 0.2)
    },
    index=confidences,
)
assert abs(losses["ε = 0.1"].idxmin() - (0.9 + 0.1 / P)) < 0.002
assert losses["ε = 0.0"].idxmin() == confidences[-1]
losses.plot(
    xlabel="probability of the right piece",
    ylabel="loss, nats",
    title="Label smoothing",
)

# %% [markdown]
# "This hurts perplexity, as the model learns to be more unsure": a model that outputs $q$ gives the
# right piece a probability of only about 0.9, so its perplexity is about 1.11 even if it is never
# wrong. Its smoothed loss cannot go below the entropy of $q$, 0.616 for the 24 pieces of the model
# below. Training computes the same loss without ever storing all the logits, with a gradient in
# closed form (prediction minus target):

# %%
states, embedding = torch.randn(6, 16), torch.randn(P, 16)
targets = torch.tensor([3, 5, PAD, 7, 2, PAD])
fast, _ = smoothed_cross_entropy(states, embedding, targets, eps_ls=0.1, pad=PAD)
plain = plain_smoothed_cross_entropy(states @ embedding.T, targets, eps_ls=0.1)
torch.testing.assert_close(fast, plain[targets != PAD].sum())

# %% [markdown]
# ## Training, live
#
# The task: repeat a sequence of 3 to 12 symbols. The model is a row of table 3 with other numbers,
# one layer of width 64. Dropout is off, the warm-up takes only 150 steps, and batches are not
# sorted by length; everything else is the paper's recipe: Adam with $\beta_2 = 0.98$, equation 3,
# label smoothing, batches in which the decoder reads the target shifted by one.

# %%
PIECES, LONGEST = 24, 12  # padding, start, end and unknown are pieces 0 to 3


def sequences(number, generator):
    """(number, LONGEST + 1) random sequences, END after each, then PAD."""
    pieces = torch.randint(4, PIECES, (number, LONGEST + 1), generator=generator)
    lengths = torch.randint(3, LONGEST + 1, (number, 1), generator=generator)
    positions = torch.arange(LONGEST + 1)
    pieces[positions.expand_as(pieces) > lengths] = PAD
    return pieces.masked_fill(positions == lengths, END)


def shifted(target):
    return torch.cat((torch.full((len(target), 1), START), target[:, :-1]), dim=1)


def losses_of(model, pairs, eps_ls):
    """Smoothed loss, and plain negative log-likelihood, in nats a piece."""
    states = model.states(pairs, shifted(pairs)).flatten(0, 1)
    loss, nll = smoothed_cross_entropy(
        states, model.embedding, pairs.flatten(), eps_ls=eps_ls, pad=PAD
    )
    real = (pairs != PAD).sum()
    return loss / real, nll / real


def train(row, seed, warmup=150):
    """A trained model, its learning curve, and its last checkpoints' weights."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Transformer(row, PIECES, max_length=LONGEST + 1)
    adam = torch.optim.Adam(
        model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    curve, checkpoints = {}, []
    for step in range(1, row.steps + 1):
        loss, _ = losses_of(model, sequences(32, generator), row.eps_ls)
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]["lr"] = learning_rate(step, row.d_model, warmup)
        adam.step()
        curve[step] = loss.item()
        if step % row.checkpoint_steps == 0:
            checkpoints.append(
                {name: w.clone() for name, w in model.state_dict().items()}
            )
    return model.eval(), curve, checkpoints[-row.average :]


base = model_of("base").replace(
    N=1, d_model=64, d_ff=128, h=4, d_k=16, d_v=16, P_drop=0.0, steps=300,
    checkpoint_steps=10, average=5,
)  # fmt: skip
model, curve, checkpoints = train(base, seed=1)
pd.Series(curve).plot(
    xlabel="step", ylabel="smoothed loss, nats", title="Learning to copy"
)

# %% [markdown]
# The loss first drops as the model learns how often each piece occurs, stays flat for some forty
# steps, then falls steeply within a hundred: that is when attention from target to source locks on
# to the right place. How well does the model copy 200 new random sequences (three of which also
# occurred in training)? It writes piece by piece, and takes the likeliest each time (a beam of
# one):

# %%
unseen = sequences(200, torch.Generator().manual_seed(99))


@torch.no_grad()
def copies(model, source):
    """The share of the sequences that the model repeats exactly, to the end."""
    written = torch.full((len(source), 1), START)
    for _ in range(source.shape[1]):
        likeliest = model(source, written)[:, -1].argmax(dim=1)
        written = torch.cat((written, likeliest[:, None]), dim=1)
    right = (written[:, 1:] == source) | (source == PAD)
    return right.all(dim=1).float().mean().item()


share = copies(model, unseen)
print(f"{share:.0%} of 200 unseen sequences are copied exactly")
assert share > 0.7

# %% [markdown]
# ## Averaging checkpoints
#
# The paper's models are means: of the last 5 checkpoints for base, the last 20 for big (section
# 6.1). The mean is of their weights, not of their outputs. While the learning rate is still high, the last steps
# circle around a better point than any of them reaches:


# %%
def loss_of(weights):
    model.load_state_dict(weights)
    with torch.no_grad():
        return losses_of(model, unseen, base.eps_ls)[0].item()


last = [loss_of(weights) for weights in checkpoints]
mean = loss_of(
    {
        name: torch.stack([w[name] for w in checkpoints]).mean(0)
        for name in checkpoints[0]
    }
)
assert mean < sum(last) / len(last)
averaging = {f"checkpoint {i}": loss for i, loss in enumerate(last, 1)} | {
    "their mean": mean
}
pd.Series(averaging).to_frame("smoothed loss").rename_axis("weights").round(3)

# %% [markdown]
# ## A row of table 3 of your own
#
# Table 3 changes one thing about base at a time. So does this: one head instead of four, as wide as
# the four together (rows A), keys of width 1 instead of 16 (rows B), no smoothing (rows D). And
# once more base itself with another seed, which the paper does not have: it tells how much of a
# difference is luck.

# %%
rows = {
    "base, seed 2": (base, 2),
    "(A) h = 1": (base.replace(h=1, d_k=64, d_v=64), 1),
    "(B) d_k = 1": (base.replace(d_k=1), 1),
    "(D) ε = 0": (base.replace(eps_ls=0.0), 1),
}
model.load_state_dict(checkpoints[-1])  # unaveraged, as all of table 3
trained = {"base": (base, model)}
trained |= {name: (row, train(row, seed)[0]) for name, (row, seed) in rows.items()}
found = {}
for name, (row, its_model) in trained.items():
    with torch.no_grad():
        _, nll = losses_of(its_model, unseen, row.eps_ls)
    found[name] = {
        "h": row.h,
        "d_k": row.d_k,
        "ε_ls": row.eps_ls,
        "perplexity": math.exp(nll),
        "copied, %": 100 * copies(its_model, unseen),
    }

table = pd.DataFrame(found).T
assert table.loc["(D) ε = 0", "perplexity"] < table.loc["base", "perplexity"]
assert table.loc["(B) d_k = 1", "perplexity"] > table.loc["base", "perplexity"]
table.round(2)

# %% [markdown]
# Two of the paper's findings show even here: smoothing hurts perplexity, and "reducing the
# attention key size $d_k$ hurts model quality". Whether one head is worse, a single seed cannot
# say. On real text, with several seeds a row, the difference to base beside its interval. An
# interval that holds 0 (of BLEU) or 1 (of the ratio of perplexities) inside decides nothing; one
# that ends exactly there, as A_h1's do, does not include that end. Rows have the paper's names and
# ratios: the base has d_k 16 here, `B_dk16` 4:

# %%
import aiayn

published = aiayn.reproduction("tatoeba").comparisons
columns = ["model", "measure", "n", "effect", "low", "high"]
chosen = published["model"].isin(["A_h1", "B_dk16", "D_smooth00"])
assert (published.loc[chosen, "low"] <= published.loc[chosen, "high"]).all()
published.loc[chosen, columns].reset_index(drop=True).round(3)

# %% [markdown]
# Your own row of the real table takes two lines of YAML and one command: `docs/change.md`.
#
# **In the code**: `src/aiayn/training/`: `batching.py`, `schedule.py`, `loss.py`, and `trainer.py`,
# which adds what a long run needs: several GPUs, bfloat16, exact resumption.
