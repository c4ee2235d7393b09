"""The tests that need a GPU, and the speed of a training step of base and of big, on this machine's
GPUs.

Writes gpu_report.md, which can be sent in (.github/ISSUE_TEMPLATE/gpu_report.md). Ends with 1 if a
test fails, or there is no GPU.
"""

from __future__ import annotations

import gc
import itertools
import platform
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch

from aiayn.config import Adam, Model, Training
from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.errors import TrainingError, one_line_errors
from aiayn.model.device import open_device
from aiayn.model.gpus import DRIVER_VERSION, require_gpus, visible_gpus
from aiayn.results.machine_metadata import commit
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

REPORT = Path("gpu_report.md")
TESTS = ("tests/gpu", "tests/model/test_device.py")
WARM_UP_STEPS, STEPS = 5, 20
MAX_STEPS = 500  # to see every shape three times
# how a step's kernels are chosen and started; last what may leave torch's allocator unusable
TORCHS, OWN, REPLAYED = KERNELS = ("of torch alone", "own", "own, in CUDA graphs")
PIECES = 37_000
TRITON = "aiayn.training.trainer.usable_triton"  # None: torch's kernels alone
BASE = Model(
    N=6, d_model=512, d_ff=2048, h=8, d_k=64, d_v=64, P_drop=0.1, eps_ls=0.1, steps=100_000,
    positions="sinusoid", average=5, checkpoint_steps=1500,
)  # fmt: skip
BIG = BASE.replace(d_model=1024, d_ff=4096, h=16, P_drop=0.3)
MODELS = {"base": BASE, "big": BIG}
CASES = (("base", 8), ("base", 1), ("big", 8))  # model, micro-batches of a step


@dataclass
class Outcomes:
    """A plugin of pytest: how each test ended, and in a word or two why."""

    by_test: dict[str, tuple[str, str]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        reason = ""
        if report.skipped:
            reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "")
        elif report.failed:
            reason = report.longreprtext.splitlines()[-1] if report.longreprtext else "?"
        self.by_test[report.nodeid] = (report.outcome, reason.removeprefix("Skipped: "))


def news_like_tokens(pairs: int) -> TokenArrays:
    """Random pieces with lengths like those of newspaper sentences: 28 pieces on average."""
    random = np.random.default_rng(0)
    source = np.clip(random.gamma(2.6, 11, pairs).round(), 2, 256).astype(np.int64)
    target = np.clip((source * random.lognormal(0.03, 0.22, pairs)).round(), 2, 256)
    sides = []
    for lengths in (source, target.astype(np.int64)):
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        ids = random.integers(4, PIECES, offsets[-1], dtype=np.uint16)
        ids[offsets[1:] - 1] = 3
        sides.append(Side(ids, offsets))
    return TokenArrays(sides[0], sides[1], PIECES)


def step_times(name: str, micro_batches: int, kernels: str) -> tuple[float, float, float]:
    """On one GPU, 25,000 tokens a step, bfloat16 products: median ms of a step, target tokens/s,
    and peak memory, GB.

    Args:
        name: one of MODELS.
        kernels: one of KERNELS.
    Raises:
        TrainingError: they cannot be used.
    """
    model = MODELS[name]
    device = open_device("cuda", "bfloat16", d_model=model.d_model)
    training = Training(
        batch_tokens=25_000, micro_batches=micro_batches, max_length=256, warmup_steps=4000,
        learning_rate_scale=1.0, adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9),
        validation_steps=1500, log_steps=100,
    )  # fmt: skip
    job = Job(f"en-de.{name}", "translation", model, training, 1, "", "")
    train, dev = news_like_tokens(100_000), news_like_tokens(100)
    gc.collect()  # the last trainer: it and its graphs refer to each other
    with mock.patch(TRITON, return_value=None) if kernels == TORCHS else nullcontext():
        trainer = Trainer(job, train, dev, device, Processes())
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    if kernels == REPLAYED:
        _replay_whole_steps(trainer)
    else:
        trainer.graphs = None
    seconds, tokens = [], 0
    for number in range(WARM_UP_STEPS + STEPS):
        device.synchronize()
        begun, before = time.perf_counter(), trainer.tokens
        trainer.step()
        device.synchronize()
        if number >= WARM_UP_STEPS:
            seconds.append(time.perf_counter() - begun)
            tokens += trainer.tokens - before
    memory = torch.cuda.max_memory_reserved() / 1e9
    return 1e3 * statistics.median(seconds), tokens / sum(seconds), memory


def _replay_whole_steps(trainer: Trainer) -> None:
    """Train until the micro-batches of some steps in a row have all been replayed."""
    whole = 0
    for _ in range(MAX_STEPS):
        before = trainer.graphs.replayed if trainer.graphs else 0
        trainer.step()
        after = trainer.graphs.replayed if trainer.graphs else 0
        whole = whole + 1 if after - before == trainer.job.training.micro_batches else 0
        if whole == WARM_UP_STEPS:
            return
    raise TrainingError(str(trainer.graphs or "Triton's kernels cannot be used"))


def machine_lines() -> Iterator[str]:
    system = f"{platform.system()} {platform.machine()}"
    yield f"- commit {commit()}, Python {platform.python_version()}, {system}"
    driver = DRIVER_VERSION.read_text().strip() if DRIVER_VERSION.exists() else "unknown"
    yield f"- torch {torch.__version__}, CUDA {torch.version.cuda}, driver {driver}"
    if torch.distributed.is_nccl_available():
        yield f"- NCCL {torch.cuda.nccl.version()}"  # type: ignore[no-untyped-call]
    for number in range(visible_gpus()):
        found = torch.cuda.get_device_properties(number)
        yield (
            f"- GPU {number}: {found.name}, {found.total_memory / 1e9:.0f} GB, compute capability "
            f"{found.major}.{found.minor}"
        )


def report(
    machine: Sequence[str],
    outcomes: Mapping[str, tuple[str, str]],
    speeds: Mapping[tuple[str, int, str], tuple[float, float, float] | str],
) -> str:
    """The page. `speeds` are `step_times` by model, micro-batches of a step and kernels, or why
    there are none.
    """
    counts = {
        outcome: sum(found == outcome for found, _ in outcomes.values())
        for outcome in ("passed", "failed", "skipped")
    }
    lines = ["# GPU report", "", *machine, "", "## Tests", ""]
    lines += [", ".join(f"{number} {outcome}" for outcome, number in counts.items()), ""]
    lines += [
        f"- {outcome}: `{test}`{f': {_on_one_line(reason)}' if reason else ''}"
        for test, (outcome, reason) in outcomes.items()
        if outcome != "passed"
    ]
    lines += ["", "## A training step", "", "25,000 tokens a side, bfloat16 products, one GPU.", ""]
    lines += ["| model | micro-batches | kernels | ms a step | target tokens/s | GB |"]
    lines += ["| :-- | --: | :-- | --: | --: | --: |"]
    for (name, number, kernels), speed in speeds.items():
        case = f"| {name} | {number} | {kernels} "
        if isinstance(speed, str):
            lines.append(f"{case}| {_on_one_line(speed)} | | |")
        else:
            ms, tokens, memory = speed
            lines.append(f"{case}| {ms:.1f} | {tokens:,.0f} | {memory:.1f} |")
    return "\n".join(lines) + "\n"


def _on_one_line(reason: str) -> str:
    # nothing of this machine's folders
    return re.sub(r"(/[\w.-]+){2,}/", "", " ".join(reason.split()))[:200]


@one_line_errors
def main() -> None:
    require_gpus(1)
    outcomes = Outcomes()
    code = pytest.main(["-n", "0", *TESTS], plugins=[outcomes])
    speeds: dict[tuple[str, int, str], tuple[float, float, float] | str] = {}
    for kernels, (name, number) in itertools.product(KERNELS, CASES):
        try:
            speeds[name, number, kernels] = step_times(name, number, kernels)
        except torch.OutOfMemoryError:
            speeds[name, number, kernels] = "out of memory"
        except (TrainingError, RuntimeError) as error:
            speeds[name, number, kernels] = str(error)
    REPORT.write_text(report([*machine_lines()], outcomes.by_test, speeds), encoding="utf-8")
    print(f"The report is at {REPORT}. To send it in, open an issue with it.")
    sys.exit(int(code))


if __name__ == "__main__":
    main()
