"""A training of a rehearsal, by the scale's own launcher: how fast it is, whether it ends with the
same bits when it is stopped and resumed, and whether one process alone has the same losses."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import yaml

from aiayn import config
from aiayn.commands.rehearsal.small_project import environment
from aiayn.errors import TrainingError
from aiayn.results import history, metadata, paths, progress
from aiayn.results.progress import Progress

LARGEST_DIFFERENCE = 0.01  # of a loss, relative: the order of sums differs, and in bfloat16 more
POLL_SECONDS = 0.01


def try_training(folder: Path, run: str, lines: list[str]) -> float:
    """Train a run of a project by its launcher; again, stopped and resumed; and in one process.

    Args:
        folder: a project that `make_project` wrote, whose tokens are there; the first training's
            state stays in its scratch folder.
        lines: receives a line for each thing that was tried, or could not be.
    Returns:
        The real target tokens per second of the first, without its start.
    Raises:
        TrainingError: one fails, or ends with something else.
    """
    params = config.load(folder / config.PARAMS)
    stopped, alone = (folder.with_name(f"{folder.name}-{name}") for name in ("stopped", "alone"))
    for other in (stopped, alone):
        shutil.copytree(folder, other, symlinks=True, ignore=shutil.ignore_patterns(".dvc"))
    times = _train(folder, run)
    record = metadata.read_train(folder / paths.training_metadata(run))
    curve = history.read(folder / paths.history(run))
    tokens = dict(zip(curve.step, curve.tokens, strict=True))
    speed: float = record.tokens_per_second
    if len(times) > 2:  # the first line waited for the start, the last for a validation
        first, *_, last, _ = times
        speed = (tokens[last] - tokens[first]) / (times[last] - times[first])
    lines.append(
        f"{run}: {curve.step[-1]} steps, {record.processes} process(es), {record.device}, "
        f"{record.precision}, {speed:,.0f} target tokens/s"
    )
    if params.launcher.nodes is None:
        lines.append(_stop_and_resume(folder, stopped, run))
    else:
        lines.append("not tried: stop and resume, which the cluster's scheduler does")
    if record.processes > 1:
        lines.append(_compare(folder, alone, run))
    else:
        lines.append("not tried: several processes, as the launcher starts one")
    return speed


def _stop_and_resume(folder: Path, stopped: Path, run: str) -> str:
    _train(stopped, run, stop=True)
    if (stopped / paths.history(run)).exists():
        return "not tried: stop and resume, as the training ended before it could be stopped"
    _train(stopped, run)
    if _digests(stopped, run) != _digests(folder, run):
        raise TrainingError(f"{run}: stopped by SIGTERM and resumed, it ended with other bits.")
    starts = metadata.read_train(stopped / paths.training_metadata(run)).starts
    return f"stopped by SIGTERM and resumed ({starts} starts): the same bits in the end"


def _compare(folder: Path, alone: Path, run: str) -> str:
    """Losses by all processes and by one."""
    file = alone / config.PARAMS
    params = yaml.safe_load(file.read_bytes())
    file.write_text(yaml.safe_dump({**params, "launcher": {"command": None}}), encoding="utf-8")
    _train(alone, run)
    losses = [history.read(each / paths.history(run)).loss for each in (folder, alone)]
    difference = max(abs(a - b) / b for a, b in zip(*losses, strict=True))
    found = f"all processes against one: losses differ by at most {100 * difference:.1g} %"
    if difference > LARGEST_DIFFERENCE:
        raise TrainingError(f"{run}: {found}.")
    return found


def _train(folder: Path, run: str, *, stop: bool = False) -> dict[int, float]:
    """Run the train stage as DVC does.

    Args:
        stop: by SIGTERM, at its first line of progress.
    Returns:
        When each line of progress was seen, in seconds, by step.
    Raises:
        TrainingError: it failed, without having been stopped.
    """
    times: dict[int, float] = {}
    process = subprocess.Popen(
        [sys.executable, "pipeline/train.py", run], cwd=folder, env=environment(folder),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace",
    )  # fmt: skip
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        for file in folder.glob(str(paths.progress(paths.scratches(run)))):
            if current := progress.read(file, Progress):
                times.setdefault(current.step, time.monotonic())
        if stop and times:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                launched = psutil.Process(process.pid)
                for started in (launched, *launched.children(recursive=True)):
                    started.terminate()
            break
    _, printed = process.communicate()
    if process.returncode and not stop:
        last = (printed.strip().splitlines() or [f"it ended with status {process.returncode}."])[-1]
        raise TrainingError(f"{run}: {last}")
    return times


def _digests(folder: Path, run: str) -> list[str]:
    """Of the weights and the curve that a training left."""
    weights = paths.saved_checkpoints(paths.checkpoints(folder / paths.model(run)))
    files = [*weights, folder / paths.history(run)]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
