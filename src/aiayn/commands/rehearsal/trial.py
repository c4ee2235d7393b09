"""A training of a rehearsal, by the scale's own launcher: how fast it is, whether another number of
processes gives the same losses, and whether one that is stopped ends with the same bits."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from aiayn import config
from aiayn.commands.rehearsal.small_project import environment
from aiayn.config import Config
from aiayn.results import history, metadata, paths, progress
from aiayn.results.progress import Progress

LARGEST_DIFFERENCE = 0.01  # of a loss, relative: the order of sums differs, and in bfloat16 more
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Trial:
    """What was found: `failures` has a line for each thing that went wrong, `lines` one for each
    that was tried or could not be. `tokens_per_second` is of the whole training, without its
    start; None where it did not end."""

    failures: tuple[str, ...]
    lines: tuple[str, ...]
    tokens_per_second: float | None


def try_training(folder: Path, run: str) -> Trial:
    """Train a run of a project by its launcher; again, stopped and resumed; and in one process.

    Args:
        folder: a project that `make_project` wrote, whose tokens are there; the first training's
            state stays in its scratch folder.
    """
    params = config.load(folder / config.PARAMS)
    failures: list[str] = []
    lines: list[str] = []
    stopped, alone = (folder.with_name(f"{folder.name}-{name}") for name in ("stopped", "alone"))
    for other in (stopped, alone):
        shutil.copytree(folder, other, symlinks=True, ignore=shutil.ignore_patterns(".dvc"))
    _run_alone(alone / config.PARAMS)

    begun = time.monotonic()
    seen, error = _train(folder, run)
    if error:
        return Trial((f"training {run}: {error}",), (), None)
    steps, seconds = params.model_of(run).steps, time.monotonic() - begun
    record = metadata.read_train(folder / paths.training_metadata(run))
    speed = _tokens_per_second(folder, run, seen) or record.tokens_per_second
    lines.append(
        f"{run}: {steps} steps by {record.processes} process(es), "
        f"{record.device}, {record.precision}: {speed:,.0f} target "
        f"tokens/s; {seconds:.0f} s with the start"
    )
    for attempt in (_stop_and_resume(folder, stopped, run, params), _compare(folder, alone, run)):
        for is_failure, line in attempt:
            (failures if is_failure else lines).append(line)
    return Trial(tuple(failures), tuple(lines), speed)


def _run_alone(file: Path) -> None:
    """Take the launcher out of a project's parameters."""
    params = yaml.safe_load(file.read_bytes())
    params["launcher"] = {"command": None}
    file.write_text(yaml.safe_dump(params), encoding="utf-8")


def _stop_and_resume(
    folder: Path, stopped: Path, run: str, params: Config
) -> Iterator[tuple[bool, str]]:
    if params.launcher.nodes is not None:
        yield False, "not tried: stop and resume, which the cluster's scheduler does"
        return
    seen, error = _train(stopped, run, stop_after=1)
    if not seen or seen[-1][1].step == params.model_of(run).steps:
        yield False, f"not tried: stop and resume, as the training had ended ({error})"
        return
    _, error = _train(stopped, run)
    if error:
        yield True, f"resuming {run} after SIGTERM: {error}"
    elif _digests(stopped, run) != _digests(folder, run):
        yield True, f"{run}, stopped by SIGTERM and resumed, ended with other bits"
    else:
        starts = metadata.read_train(stopped / paths.training_metadata(run)).starts
        yield False, f"stopped by SIGTERM and resumed ({starts} starts): the same bits in the end"


def _compare(folder: Path, alone: Path, run: str) -> Iterator[tuple[bool, str]]:
    processes = metadata.read_train(folder / paths.training_metadata(run)).processes
    if processes == 1:
        yield False, "not tried: several processes, as the launcher starts one"
        return
    _, error = _train(alone, run)
    if error:
        yield True, f"training {run} in one process: {error}"
        return
    losses = [history.read(each / paths.history(run)).loss for each in (folder, alone)]
    difference = max(abs(a - b) / b for a, b in zip(*losses, strict=True))
    said = (
        f"losses of {processes} processes and of one differ by at most {difference:.1e} of a loss"
    )
    yield difference > LARGEST_DIFFERENCE, said


def _train(
    folder: Path, run: str, stop_after: int | None = None
) -> tuple[list[tuple[float, Progress]], str]:
    """Run the train stage as DVC does.

    Args:
        stop_after: so many lines of progress it is told to stop.
    Returns:
        Each line of progress with the seconds at which it was seen, and the last line that the
        stage printed if it failed.
    """
    command = [sys.executable, "pipeline/train.py", run]
    seen: list[tuple[float, Progress]] = []
    process = subprocess.Popen(
        command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        for file in folder.glob(str(paths.progress(paths.scratches(run)))):
            current = progress.read(file, Progress)
            if current and (not seen or current.step > seen[-1][1].step):
                seen.append((time.monotonic(), current))
        if stop_after is not None and len(seen) >= stop_after:
            stop_after = None
            with suppress(psutil.NoSuchProcess):  # it has just ended
                launched = psutil.Process(process.pid)
                for started in (launched, *launched.children(recursive=True)):
                    started.terminate()
    _, printed = process.communicate()
    last = (printed.strip().splitlines() or [f"it ended with status {process.returncode}"])[-1]
    return seen, last if process.returncode else ""


def _tokens_per_second(folder: Path, run: str, seen: list[tuple[float, Progress]]) -> float | None:
    """Between the first line of progress and the last but one, which no validation delayed."""
    if len(seen) < 3:
        return None
    (begun, first), (ended, last) = seen[0], seen[-2]
    curve = history.read(folder / paths.history(run))
    tokens = dict(zip(curve.step, curve.tokens, strict=True))
    return (tokens[last.step] - tokens[first.step]) / (ended - begun)


def _digests(folder: Path, run: str) -> list[str]:
    """Of the weights and the curve that a training left."""
    weights = paths.saved_checkpoints(paths.checkpoints(folder / paths.model(run)))
    files = [*weights, folder / paths.history(run)]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
