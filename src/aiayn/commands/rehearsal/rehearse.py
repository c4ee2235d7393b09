"""Would a long run of a scale succeed on this machine? Every stage with small models, then what the
real run needs and what is missing for it. Nothing is downloaded, and the project is not changed."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from tqdm import tqdm

from aiayn.commands.rehearsal import estimates, missing
from aiayn.commands.rehearsal.small_project import chosen_runs, make_project, run_pipeline
from aiayn.config import Config
from aiayn.data.corpora.fetching import pending
from aiayn.errors import TrainingError
from aiayn.model.device import open_device
from aiayn.results.progress import clock

MOST_JOBS = 4  # each has a copy of torch, and on a GPU a context there
GB = 1e9


def rehearse(root: Path, scale: str | None) -> bool:
    """Print the outcome of a rehearsal; whether no stage failed and nothing is missing.

    Args:
        root: the project's folder.
        scale: a file of conf/scale; None: the one that conf/config.yaml names.
    Raises:
        ConfigError: the scale's parameters cannot be composed.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aiayn-rehearsal-") as name:
        folder = Path(name)
        params = make_project(root, folder, scale)
        print(f"{params.scale}: every stage with small models", flush=True)
        jobs = min(MOST_JOBS, os.cpu_count() or 1)
        with tqdm(desc="stages", unit="", disable=None, leave=False) as bar:
            failures, done = run_pipeline(folder, jobs, bar.update)
    runs = f"{len(chosen_runs(params))} of {len(params.runs)} runs"
    _print_section(f"with small models, {runs}", failures or [f"{done} stages ran, none failed"])
    needs, lines = _real_run(params)
    _print_section("the real run needs", needs)
    _print_section("missing on this machine", lines or ["nothing"])
    print(f"\nRehearsed in {clock(time.monotonic() - begun)}.")
    return not failures and not lines


def _real_run(params: Config) -> tuple[list[str], list[str]]:
    """A line for each thing that it needs, and for each that is missing."""
    sources, lines = missing.sources(params, os.environ.get("AIAYN_MIRROR"))
    lines += missing.missing_downloads(sources)
    lines += missing.missing_treebanks(params)
    downloads = sum(max((size or 0) - source.arrived, 0) for source, size in pending(sources))

    runs = estimates.estimate_runs(params)
    measured = runs[0].run
    machine = params.machine
    try:
        device = open_device(
            machine.device, machine.precision, d_model=params.model_of(measured).d_model,
            threads=machine.threads,
        )  # fmt: skip
    except TrainingError as error:
        return [], [*lines, str(error)]
    largest = max(runs, key=lambda run: run.parameters)
    memory = largest.state_bytes + estimates.activation_bytes(params, largest.run)
    speed = estimates.measure_flops_per_second(params, measured, device)
    processes = missing.processes(params, device)
    days = sum(run.flops for run in runs) / speed / processes / 86400

    text_bytes = {task: estimates.text_bytes(params, task) for task in params.tasks}
    text = sum(filter(None, text_bytes.values()))
    unknown = ", ".join(task for task, size in text_bytes.items() if size is None)
    weights = sum(run.disk_bytes for run in runs) + max(run.scratch_bytes for run in runs)
    lines += missing.missing_processors(params, device, days)
    lines += missing.missing_memory(device, largest.run, memory, processes)
    lines += missing.missing_disk({Path(): downloads + text + weights})
    needs = [
        f"downloads: {downloads / GB:,.2f} GB",
        f"text and tokens: {text / GB:,.0f} GB of disk, with DVC's copy"
        + (f" (without {unknown}, of unknown size)" if unknown else ""),
        f"weights: {weights / GB:,.0f} GB of disk, with DVC's copy and the state to resume from",
        f"memory: {memory / GB:,.1f} GB per process for {largest.run}, the largest model",
        f"training: {_duration(days)} in all, with {speed / GB:,.0f} GFLOP/s as measured for "
        f"{measured}, {processes} process(es) on {device.gpu_name or 'this CPU'}",
    ]
    for run in runs:
        duration = _duration(run.flops / speed / processes / 86400)
        steps = params.model_of(run.run).steps
        needs.append(f"  {run.run}: {run.parameters:,} parameters, {steps:,} steps, {duration}")
    return needs, lines


def _duration(days: float) -> str:
    return f"{days:,.1f} days" if days >= 1 else f"{days * 24:,.1f} hours"


def _print_section(title: str, lines: list[str]) -> None:
    print(f"\n{title}:", *(f"  {line}" for line in lines), sep="\n", flush=True)
