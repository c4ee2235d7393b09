"""The trial training of a rehearsal, with the scale's own launcher: its speed, whether stopping and
resuming gives identical weights, and whether a single process gives the same losses."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
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

LARGEST_DIFFERENCE = 0.01  # relative, of a loss: the order of summation differs
POLL_SECONDS = 0.01
ON_A_GPU = ("Training without ", "CUDA graphs: ")  # how a training says what it uses


def try_training(folder: Path, run: str, lines: list[str]) -> float:
    """Train a run with its launcher; again, stopped and resumed; and in one process.

    Args:
        folder: a project that `make_project` wrote, with its tokens; the first training's state
            stays in its scratch folder.
        lines: receives a line for each thing that was tried or could not be.
    Returns:
        Target tokens per second of the first training, without padding and start-up.
    Raises:
        TrainingError: a training fails, or its results differ.
    """
    params = config.load(folder / config.PARAMS)
    stopped, alone = (folder.with_name(f"{folder.name}-{name}") for name in ("stopped", "alone"))
    for other in (stopped, alone):
        shutil.copytree(folder, other, symlinks=True, ignore=shutil.ignore_patterns(".dvc"))
    times, printed = _train(folder, run)
    record = metadata.read_train(folder / paths.training_metadata(run))
    curve = history.read(folder / paths.history(run))
    tokens = {line.step: line.tokens for line in curve.lines}
    speed: float = record.tokens_per_second
    if len(times) > 2:  # the first line includes start-up, the last one a validation
        first, *_, last, _ = times
        speed = (tokens[last] - tokens[first]) / (times[last] - times[first])
    lines.append(
        f"{run}: {curve.lines[-1].step} steps, {record.processes} process(es), {record.device}, "
        f"{record.precision}, {speed:,.0f} target tokens/s"
    )
    lines += [line for line in printed.splitlines() if line.startswith(ON_A_GPU)]
    if params.launcher.nodes is None:
        lines.append(_stop_and_resume(folder, stopped, run))
    else:
        lines.append("not tried: stop and resume, because the cluster's scheduler does it")
    if record.processes > 1:
        lines.append(_compare(folder, alone, run))
    else:
        lines.append("not tried: several processes, because the launcher starts one")
    return speed


def _stop_and_resume(folder: Path, stopped: Path, run: str) -> str:
    _train(stopped, run, stop=True)
    if (stopped / paths.history(run)).exists():
        return "not tried: stop and resume, because the training ended before it could be stopped"
    _train(stopped, run)
    if _digests(stopped, run) != _digests(folder, run):
        raise TrainingError(
            f"{run}: stopped by SIGTERM and resumed, it ended with different weights or losses."
        )
    starts = metadata.read_train(stopped / paths.training_metadata(run)).starts
    return f"stopped by SIGTERM and resumed ({starts} starts): identical weights and losses"


def _compare(folder: Path, alone: Path, run: str) -> str:
    """Compare the losses of all processes and of one."""
    file = alone / config.PARAMS
    params = yaml.safe_load(file.read_bytes())
    file.write_text(yaml.safe_dump({**params, "launcher": {"command": None}}), encoding="utf-8")
    _train(alone, run)
    curves = [history.read(each / paths.history(run)).lines for each in (folder, alone)]
    difference = max(abs(a.loss - b.loss) / b.loss for a, b in zip(*curves, strict=True))
    found = f"all processes against one: losses differ by at most {100 * difference:.1g} %"
    if difference > LARGEST_DIFFERENCE:
        raise TrainingError(f"{run}: {found}.")
    return found


def _train(folder: Path, run: str, *, stop: bool = False) -> tuple[dict[int, float], str]:
    """Run the train stage as DVC does.

    Args:
        stop: send SIGTERM at its first line of progress.
    Returns:
        The time in seconds at which each progress update was seen, by step; what it printed to
        standard error.
    Raises:
        TrainingError: it failed without having been stopped.
    """
    times: dict[int, float] = {}
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (a pipe would fill up while nobody reads it)
    process = subprocess.Popen(
        [sys.executable, "pipeline/train.py", run], cwd=folder, env=environment(folder),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
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
    process.wait()
    with errors:
        errors.seek(0)
        printed = errors.read().decode("utf-8", "replace")
    if process.returncode and not stop:
        last = (printed.strip().splitlines() or [f"exited with status {process.returncode}."])[-1]
        raise TrainingError(f"{run}: {last}")
    return times, printed


def _digests(folder: Path, run: str) -> list[str]:
    """Digests of a training's checkpoints and history."""
    weights = paths.saved_checkpoints(paths.checkpoints(folder / paths.model(run)))
    files = [*weights, folder / paths.history(run)]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
