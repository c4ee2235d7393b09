# %% [markdown]
# # 训练：分批、学习率、标签平滑，并当场训练一个模型
#
# *论文第 5 节，以及表 3 中你自己的一行。*
#
# ## 长度相近的批次
#
# 一批数据是一个矩形：短句要补填充，既费时间又学不到东西。所以“句对按大致的序列长度分批”（第 5.1 节）。下面是一万个句对，长度分布与真实文本相仿。一步每侧的 25,000 个词片分成八个微批次，每个是由长度相近的句对组成的矩形；“at random” 用的是大小相近的矩形，每个 100 对：

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
# 每一步取打乱后的流里接下来的几个微批次；第 $k$ 步用哪些数据可以直接算出，不必先走完前面各步；中断的训练因此能精确续训。打印的形状是（句对数，源长度，目标长度）：

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
# ## 学习率
#
# $$lrate = d_{\text{model}}^{-0.5} \cdot
# \min(step^{-0.5},\; step \cdot warmup\_steps^{-1.5})$$
#
# 先在 `warmup_steps` 步内线性上升，然后与步数平方根的倒数成正比地下降。两段在 $step = warmup\_steps$ 处相接，学习率也在此达到最高：对 base 是 $1 / \sqrt{512 \cdot 4000}$。

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
# ## 标签平滑
#
# 目标分布在正确的词片上是 $1 - \epsilon_{ls}$，另有 $\epsilon_{ls}$ 均匀分给全部 $P$ 个词片（第 5.4 节）：
#
# $$L = -\sum_i q_i \log p_i, \qquad q = (1 - \epsilon_{ls})\,\text{onehot} + \epsilon_{ls} / P$$
#
# 给正确词片的概率越大，普通的损失越低。有了平滑，过分确定要付出代价：$p = q$ 时损失最小。

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
# “这会损害困惑度，因为模型学会了不那么确定”：输出 $q$ 的模型给正确词片的概率只有约 0.9，所以即使从不出错，困惑度也约为 1.11；它的平滑损失则不能低于 $q$ 的熵，对下面有 24 个词片的模型是 0.616。训练时计算的是同一个损失，但从不存下全部 logits，梯度有闭式（预测减目标）：

# %%
states, embedding = torch.randn(6, 16), torch.randn(P, 16)
targets = torch.tensor([3, 5, PAD, 7, 2, PAD])
fast, _ = smoothed_cross_entropy(states, embedding, targets, eps_ls=0.1, pad=PAD)
plain = plain_smoothed_cross_entropy(states @ embedding.T, targets, eps_ls=0.1)
torch.testing.assert_close(fast, plain[targets != PAD].sum())

# %% [markdown]
# ## 当场训练
#
# 任务：重复一个由 3 到 12 个符号组成的序列。模型就是表 3 的一行，只是数字不同：一层，宽度 64。此外不用 dropout，预热只有 150 步，也不按长度分批；其余都按论文：$\beta_2 = 0.98$ 的 Adam、公式 (3)、标签平滑，解码器读的是右移一位的目标。

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
# 损失先随模型学会各词片的频率而下降，停在平台上约四十步，然后在一百步之内陡降：此时从目标到源的注意力对准了正确的位置。模型如何复制 200 个新抽的随机序列（其中三个碰巧在训练中出现过）？逐个词片生成，每次取最可能的（束宽为一）：

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
# ## 检查点平均
#
# 论文的模型都是平均得来的：base 取最后 5 个检查点，big 取最后 20 个（第 6.1 节）。平均的不是输出，而是权重。当学习率还高时，最后若干步围着一个更好的点打转，却没有一步走到那里：

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
# ## 表 3 中你自己的一行
#
# 表 3 每次只改 base 的一个方面。这里也一样：一个头代替四个，宽度等于四个之和（A 行），键宽 1 代替 16（B 行），不用平滑（D 行）。再加上换一个随机种子的 base，这是论文里没有的：它说明差异里有多少只是运气。

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
# 论文的两个结论在这里就能看到：平滑损害困惑度；“减小键的维度 $d_k$ 会损害模型质量”。一个头是否更差，单个种子说明不了。下面是真实文本上的结果，每行多个种子，列出与 base 的差异及其区间；区间内部若包含 0（BLEU）或 1（困惑度之比），就不能下结论；恰好止于 0 或 1 的区间（如 A_h1）不含该端点，可以下结论。行名沿用论文，比例也与论文相同：这里 base 的 d_k 是 16，`B_dk16` 的是 4：

# %%
import aiayn

published = aiayn.reproduction("tatoeba").comparisons
columns = ["model", "measure", "n", "effect", "low", "high"]
chosen = published["model"].isin(["A_h1", "B_dk16", "D_smooth00"])
assert (published.loc[chosen, "low"] <= published.loc[chosen, "high"]).all()
published.loc[chosen, columns].reset_index(drop=True).round(3)

# %% [markdown]
# 在真实数据上加你自己的一行，只要两行 YAML 和一条命令：`docs/change.md`。
#
# **代码**：`src/aiayn/training/` 中的 `batching.py`、`schedule.py`、`loss.py`，以及 `trainer.py`，后者补上长时间训练所需的功能：多 GPU、bfloat16、精确续训。
