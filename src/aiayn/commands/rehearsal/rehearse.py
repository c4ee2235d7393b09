"""A check that a scale can run on this machine: a few steps of its trainings with its own launcher,
every stage of its graph, and the requirements of the real run. Nothing is downloaded, and the
project is not changed."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tqdm import tqdm

from aiayn.commands.rehearsal import estimates, missing
from aiayn.commands.rehearsal.small_project import (
    HELD_OUT_PAIRS,
    chosen_runs,
    lacks_gpus,
    make_project,
    run_pipeline,
)
from aiayn.commands.rehearsal.trial import try_training
from aiayn.config import Config
from aiayn.config.compose import CONF
from aiayn.data.corpora.fetching import pending
from aiayn.errors import ConfigError, TrainingError
from aiayn.model.gpus import visible_gpus
from aiayn.results import paths
from aiayn.results.progress import clock

MOST_JOBS = 4  # each loads torch
GB = 1e9
ON_A_CPU = (
    "NOT TRIED: GPUs, NCCL, bfloat16, models of real size. This scale requires GPUs, but torch "
    "sees none here: narrow models were trained on the CPU instead"
)


def rehearse(root: Path, scale: str | None, launcher: str | None, gpus: str | None) -> bool:
    """Print the outcome of a rehearsal. Returns whether nothing failed and nothing is missing.

    Args:
        root: the project's folder; the rehearsal runs in its scratch folder, which the nodes of a
            cluster can see too.
        scale, launcher, gpus: as for `write_params`.
    Raises:
        ConfigError: the scale's parameters cannot be composed, or `root` is not the project's.
    """
    if not (root / CONF).is_dir():
        raise ConfigError(f"{root / CONF}: there is no such folder. Run from the project's folder.")
    begun = time.monotonic()
    scratch = root / paths.SCRATCH
    scratch.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rehearsal-", dir=scratch) as name:
        folder = Path(name).resolve() / "project"
        folder.mkdir()
        params = make_project(root, folder, scale, launcher, gpus)
        print(f"{params.scale}: a few steps and every stage, with generated text", flush=True)
        tried, failures, speed = _try(folder, params)
    with suppress(OSError):  # not empty
        scratch.rmdir()
    _print_section("tried", [*(f"FAILED: {line}" for line in failures), *tried])
    needs, lacking = _real_run(params, None if lacks_gpus(params) else speed)
    _print_section("the real run needs", needs)
    _print_section("missing on this machine", lacking or ["nothing"])
    took = clock(time.monotonic() - begun)
    print(f"\nRehearsed in {took}: {len(failures)} failed, {len(lacking)} missing.")
    return not failures and not lacking


def _try(folder: Path, params: Config) -> tuple[list[str], list[str], float | None]:
    """Lines about what was tried and what failed, and the first run's target tokens per second."""
    jobs = 1 if params.launcher.command else min(MOST_JOBS, os.cpu_count() or 1)
    chosen, speed = chosen_runs(params), None
    tried = [ON_A_CPU] if lacks_gpus(params) else []
    with tqdm(desc="stages", unit="", disable=None, leave=False) as bar:
        failures, data_stages = run_pipeline(folder, jobs, bar.update, "encode")
        if failures:
            return tried, failures, None
        try:
            speed = try_training(folder, chosen[0], tried)
        except TrainingError as error:
            failures.append(str(error))
        failed, other_stages = run_pipeline(folder, jobs, bar.update)
    if not failed:
        tried.append(
            f"all {data_stages + other_stages} stages of {len(chosen)} of {len(params.runs)} runs: "
            f"{HELD_OUT_PAIRS} sentences of each split decoded and scored, the report rendered"
        )
    return tried, failures + failed, speed


def _real_run(params: Config, speed: float | None) -> tuple[list[str], list[str]]:
    """Lines about what the real run needs, and about what is missing."""
    sources, lines = missing.sources(params, os.environ.get("AIAYN_MIRROR"))
    lines += missing.missing_downloads(sources)
    lines += missing.missing_treebanks(params)
    downloads = sum(max((size or 0) - source.arrived, 0) for source, size in pending(sources))

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
        *_times(params, runs, speed),
    ]
    return needs, lines


def _times(params: Config, runs: list[estimates.RunEstimate], speed: float | None) -> Iterator[str]:
    """Training times, in total and for each run, from their FLOPs and the measured speed, if it is
    known."""
    tried = next(run for run in runs if run.run == chosen_runs(params)[0])
    tokens = params.model_of(tried.run).steps * params.training.batch_tokens
    hours_a_flop = tokens / speed / 3600 / tried.flops if speed else None
    flops = sum(run.flops for run in runs)
    if hours_a_flop is None:
        yield f"training: {flops:.1e} FLOPs; the time is not known"
    else:
        gpus = (params.launcher.gpus or 1) * (params.launcher.nodes or 1)
        cost = f", {flops * hours_a_flop * gpus:,.1f} GPU hours" if visible_gpus() else ""
        yield f"training: {flops * hours_a_flop:,.1f} hours{cost}, one run at a time, at this speed"
    for run in runs:
        hours = f", {run.flops * hours_a_flop:,.1f} hours" if hours_a_flop else ""
        steps = params.model_of(run.run).steps
        yield f"  {run.run}: {run.parameters:,} parameters, {steps:,} steps{hours}"


def _print_section(title: str, lines: list[str]) -> None:
    print(f"\n{title}:", *(f"  {line}" for line in lines), sep="\n", flush=True)
