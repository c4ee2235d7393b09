"""Is a night with this scale, on this machine, going to be lost? `make rehearse` runs this file.

It runs every stage of the scale's graph in small, and tells what the true one takes and what this
machine lacks for it. Nothing is downloaded, and nothing of the project is changed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from aiayn.commands.rehearsal import demands, machine
from aiayn.commands.rehearsal.demands import RunDemand
from aiayn.commands.rehearsal.small import chosen_runs, make_project, run_graph
from aiayn.config import Config
from aiayn.data.corpora.fetching import to_come
from aiayn.errors import TrainingError, one_line_errors
from aiayn.model.device import Device, open_device
from aiayn.results.progress import clock

MOST_JOBS = 4  # each has a copy of torch, and on a GPU a context there


def rehearse(root: Path, scale: str | None) -> bool:
    """Print what a rehearsal found; whether nothing speaks against the true run.

    Raises:
        ConfigError: the scale's parameters cannot be composed.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aiayn-rehearsal-") as name:
        folder = Path(name)
        params = make_project(root, folder, scale)
        print(f"{params.scale}: every stage in small", flush=True)
        jobs = min(MOST_JOBS, os.cpu_count() or 1)
        with tqdm(desc="stages", unit="", disable=None, leave=False) as bar:
            failures, done = run_graph(folder, jobs, bar.update)
    runs = f"with {len(chosen_runs(params))} of {len(params.runs)} runs"
    _section(f"in small, {runs}", failures or [f"{done} stages ran, none failed"])
    told, lacks = _true_run(params)
    _section("the true run takes", told)
    _section("this machine lacks", lacks or ["nothing that was looked for"])
    print(f"\nRehearsed in {clock(time.monotonic() - begun)}.")
    return not failures and not lacks


def _true_run(params: Config) -> tuple[list[str], list[str]]:
    """What it takes, and what is missing, in lines."""
    mirror = os.environ.get("AIAYN_MIRROR")
    sources, lacks = machine.sources(params, mirror)
    lacks += machine.missing_downloads(sources)
    lacks += machine.missing_treebanks(params)
    downloads = sum(max((size or 0) - one.arrived, 0) for one, size in to_come(sources))

    runs = demands.demands(params)
    measured = runs[0].run
    try:
        device = open_device(**dict(params.machine), d_model=params.model_of(measured).d_model)
    except TrainingError as error:
        return [], [*lacks, str(error)]
    largest = max(runs, key=lambda run: run.parameters)
    a_process = largest.state_bytes + demands.activation_bytes(params, largest.run)
    speed = demands.flops_per_second(params, measured, device)
    processes = machine.processes(params, device)
    days = sum(run.flops for run in runs) / speed / processes / 86400

    pairs = {task: demands.pairs_of(params, task) for task in params.tasks}
    text = sum(demands.text_disk_bytes(count) for count in pairs.values() if count is not None)
    models = sum(run.disk_bytes for run in runs) + max(run.scratch_bytes for run in runs)
    lacks += machine.missing_processors(params, device, days)
    lacks += machine.missing_memory(device, largest.run, a_process, processes)
    lacks += machine.missing_disk({Path(): downloads + text + models})
    told = [
        f"downloads: {downloads / 1e9:,.2f} GB are to come",
        f"text and tokens: {text / 1e9:,.0f} GB of disk, DVC's copy included"
        + _unknown([task for task, count in pairs.items() if count is None]),
        f"weights: {models / 1e9:,.0f} GB of disk, DVC's copy and what a training keeps to resume "
        "included",
        f"memory: {a_process / 1e9:,.1f} GB a process for {largest.run}, the largest model",
        f"training: {_duration(days)} in all, at {speed / 1e9:,.0f} GFLOP/s as measured on "
        f"{measured} in its true size, {processes} process(es) on {_name(device)}",
        *_each(params, runs, speed * processes),
    ]
    return told, lacks


def _each(params: Config, runs: list[RunDemand], speed: float) -> Iterator[str]:
    for run in runs:
        days = _duration(run.flops / speed / 86400)
        steps = params.model_of(run.run).steps
        yield f"  {run.run}: {run.parameters:,} parameters, {steps:,} steps, {days}"


def _duration(days: float) -> str:
    return f"{days:,.1f} days" if days >= 1 else f"{days * 24:,.1f} hours"


def _unknown(tasks: list[str]) -> str:
    return f" (nobody declares how much text {', '.join(tasks)} has)" if tasks else ""


def _name(device: Device) -> str:
    return device.gpu_name or "this CPU"


def _section(title: str, lines: list[str]) -> None:
    print(f"\n{title}:", *(f"  {line}" for line in lines), sep="\n", flush=True)


@one_line_errors
def main() -> None:
    """Rehearse the scale that the command line names, or else the one of conf/config.yaml; ends
    with status 1 if anything speaks against the true run."""
    scale = sys.argv[1] if len(sys.argv) > 1 else None
    sys.exit(0 if rehearse(Path(), scale) else 1)


if __name__ == "__main__":
    main()
