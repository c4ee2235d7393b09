"""Would a long run of a scale succeed on this machine? A few steps of its real trainings by its own
launcher and every stage of its graph, then what the real run needs and what is missing for it.
Nothing is downloaded, and the project is not changed."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from tqdm import tqdm

from aiayn.commands.rehearsal import estimates, missing
from aiayn.commands.rehearsal.small_project import (
    chosen_runs,
    lacks_gpus,
    make_project,
    run_pipeline,
)
from aiayn.commands.rehearsal.trial import Trial, try_training
from aiayn.config import Config
from aiayn.data.corpora.fetching import to_come
from aiayn.results import paths
from aiayn.results.progress import clock

MOST_JOBS = 4  # each has a copy of torch
GB = 1e9


def rehearse(root: Path, scale: str | None, launcher: str | None, gpus: str | None) -> bool:
    """Print the outcome of a rehearsal; whether nothing failed and nothing is missing.

    Args:
        root: the project's folder; the rehearsal's is in its scratch, where the nodes of a cluster
            see it too.
        scale, launcher, gpus: as for `write_params`.
    Raises:
        ConfigError: the scale's parameters cannot be composed.
    """
    begun = time.monotonic()
    scratch = root / paths.SCRATCH
    is_new = not scratch.exists()
    scratch.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="rehearsal-", dir=scratch) as name:
            folder = Path(name).resolve() / "project"
            folder.mkdir()
            params = make_project(root, folder, scale, launcher, gpus)
            print(f"{params.scale}: a few steps and every stage, with generated text", flush=True)
            tried, failures = _run(folder, params)
    finally:
        if is_new:
            scratch.rmdir()
    if lacks_gpus(params):
        print(
            "torch sees no GPU, for which this scale asks. NOT TRIED: the models in their real "
            "size, GPUs, NCCL, bfloat16. Narrow models were trained on the CPU instead."
        )
    _print_section("tried", [*failures, *tried.lines])
    needs, lines = _real_run(params, tried)
    _print_section("the real run needs", needs)
    _print_section("missing on this machine", lines or ["nothing"])
    print(f"\nRehearsed in {clock(time.monotonic() - begun)}.")
    return not failures and not lines


def _run(folder: Path, params: Config) -> tuple[Trial, list[str]]:
    """The trial of the first run and, with the rest of the graph, a line for each failure."""
    jobs = 1 if params.launcher.command else min(MOST_JOBS, os.cpu_count() or 1)
    chosen = chosen_runs(params)
    with tqdm(desc="stages", unit="", disable=None, leave=False) as bar:
        failures, _ = run_pipeline(folder, jobs, bar.update, "encode")
        if failures:
            return Trial((), (), None), failures
        trial = try_training(folder, chosen[0])
        failures, done = run_pipeline(folder, jobs, bar.update)
    rest = (
        f"{done} stages of {len(chosen)} of {len(params.runs)} runs, with the report: none failed"
    )
    lines = trial.lines if failures else (*trial.lines, rest)
    return Trial(trial.failures, lines, trial.tokens_per_second), [*trial.failures, *failures]


def _real_run(params: Config, trial: Trial) -> tuple[list[str], list[str]]:
    """A line for each thing that it needs, and for each that is missing."""
    sources, lines = missing.sources(params, os.environ.get("AIAYN_MIRROR"))
    lines += missing.missing_downloads(sources)
    lines += missing.missing_treebanks(params)
    downloads = sum(max((size or 0) - source.arrived, 0) for source, size in to_come(sources))

    runs = estimates.estimate_runs(params)
    largest = max(runs, key=lambda run: run.parameters)
    memory = largest.state_bytes + estimates.activation_bytes(params, largest.run)
    text_bytes = {task: estimates.text_bytes(params, task) for task in params.tasks}
    text = sum(filter(None, text_bytes.values()))
    unknown = ", ".join(task for task, size in text_bytes.items() if size is None)
    weights = sum(run.disk_bytes for run in runs) + max(run.scratch_bytes for run in runs)
    lines += missing.missing_processors(params)
    if not lacks_gpus(params) and params.launcher.nodes is None:
        lines += missing.missing_memory(largest.run, memory, params.launcher.gpus or 1)
    lines += missing.missing_disk({Path(): downloads + text + weights})
    needs = [
        f"downloads: {downloads / GB:,.2f} GB",
        f"text and tokens: {text / GB:,.0f} GB of disk, with DVC's copy"
        + (f" (without {unknown}, of unknown size)" if unknown else ""),
        f"weights: {weights / GB:,.0f} GB of disk, with DVC's copy and the state to resume from",
        f"memory: {memory / GB:,.1f} GB per process for {largest.run}, the largest model",
        *_times(params, runs, None if lacks_gpus(params) else trial.tokens_per_second),
    ]
    return needs, lines


def _times(
    params: Config, runs: list[estimates.RunEstimate], tokens_per_second: float | None
) -> list[str]:
    """Of all trainings and of each: at the speed of the one that was tried, by their FLOPs."""
    if tokens_per_second is None:
        total = [f"training: {sum(run.flops for run in runs):.1e} FLOPs; its time is not known"]
        hours = dict.fromkeys((run.run for run in runs), "")
    else:
        tried = next(run for run in runs if run.run == chosen_runs(params)[0])
        tokens = params.model_of(tried.run).steps * params.training.batch_tokens
        flops_per_hour = 3600 * tried.flops * tokens_per_second / tokens
        hours = {run.run: f", {run.flops / flops_per_hour:,.1f} hours" for run in runs}
        in_all = sum(run.flops for run in runs) / flops_per_hour
        gpus = (params.launcher.gpus or 1) * (params.launcher.nodes or 1)
        cost = f", {in_all * gpus:,.1f} GPU hours" if params.machine.device == "cuda" else ""
        total = [
            f"training: {in_all:,.1f} hours{cost}, if all have the FLOP/s of {tried.run} "
            "and one trains at a time"
        ]
    return total + [
        f"  {run.run}: {run.parameters:,} parameters, "
        f"{params.model_of(run.run).steps:,} steps{hours[run.run]}"
        for run in runs
    ]


def _print_section(title: str, lines: list[str]) -> None:
    print(f"\n{title}:", *(f"  {line}" for line in lines), sep="\n", flush=True)
