"""Killed anywhere, resumed exactly; what a training leaves behind; what it says when it diverges."""

from __future__ import annotations

import csv
import io
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch

from aiayn.errors import TrainingError
from aiayn.model.checkpoints import checkpoints, load_tensors
from aiayn.training.loop import RESUME, Terminated, fit
from aiayn.training.trainer import Trainer

Make = Callable[..., Trainer]


def everything(scratch: Path) -> dict[str, bytes]:
    """Weights by file; the seconds in the resume state differ, so that is compared by its tensors."""
    files = {path.name: path.read_bytes() for path in checkpoints(scratch)}
    tensors, metadata = load_tensors(scratch / RESUME)
    state = b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))
    return {**files, "state": state, "history": repr(metadata["extra"]["history"]).encode()}


def test_it_learns_to_copy(make_trainer: Make, scratch: Path) -> None:
    trainer = make_trainer(
        steps=300, log_steps=100, validation_steps=300, checkpoint_steps=300, batch_tokens=512,
        warmup_steps=100, d_model=32, d_ff=64, P_drop=0.0,
    )  # fmt: skip
    before = trainer.validate()
    outcome = fit(trainer, scratch)
    # ln 27 is 3.3: an untrained model knows nothing of 26 words and an end
    assert before > 3
    assert outcome.history[-1]["dev_loss"] < 1


def test_history(make_trainer: Make, scratch: Path) -> None:
    seen: list[tuple[int, Mapping[str, float]]] = []
    trainer = make_trainer(steps=9)
    outcome = fit(trainer, scratch, lambda step, metrics: seen.append((step, metrics)))
    rows = list(csv.DictReader(io.StringIO(outcome.history_csv())))
    assert [row["step"] for row in rows] == ["2", "4", "6", "8", "9"]
    assert [row["step"] for row in rows if row["dev_loss"]] == ["4", "8", "9"]
    assert int(rows[-1]["tokens"]) == trainer.tokens
    assert float(rows[0]["learning_rate"]) == pytest.approx(16**-0.5 * 2 * 20**-1.5, rel=1e-5)
    assert [step for step, _ in seen] == [2, 4, 6, 8, 9]
    assert all(metrics["tokens_per_second"] > 0 for _, metrics in seen)
    perplexity = float(rows[-1]["dev_perplexity"])
    assert perplexity == pytest.approx(torch.tensor(trainer.validate()).exp().item(), rel=1e-4)


def test_the_last_checkpoints_are_kept(make_trainer: Make, scratch: Path) -> None:
    fit(make_trainer(steps=10, average=3), scratch)
    steps = [load_tensors(path)[1]["step"] for path in checkpoints(scratch)]
    assert steps == [6, 9, 10]


def test_same_bits_again(make_trainer: Make, tmp_path: Path) -> None:
    for name in ("one", "two"):
        fit(make_trainer(), tmp_path / name)
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


@pytest.mark.parametrize("stop", [1, 2, 3, 5, 7])
def test_terminated_at_any_step_and_resumed(make_trainer: Make, tmp_path: Path, stop: int) -> None:
    """SIGTERM during a step: that step is finished and saved, and the rest is the same to the bit."""
    fit(make_trainer(), tmp_path / "whole")
    trainer = make_trainer()
    step = trainer.step

    def step_and_be_told() -> None:
        step()
        if trainer.step_number == stop:
            os.kill(os.getpid(), signal.SIGTERM)

    trainer.step = step_and_be_told  # type: ignore[method-assign]
    with pytest.raises(Terminated, match=f"en-de.tiny: stopped at step {stop}; run it again"):
        fit(trainer, tmp_path / "parts")
    outcome = fit(make_trainer(), tmp_path / "parts")
    assert outcome.starts == 2
    assert everything(tmp_path / "parts") == everything(tmp_path / "whole")


WORKER = """
import importlib.util, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
import torch
from dataclasses import replace
top, here = load("top", {tests!r} + "/conftest.py"), load("here", {tests!r} + "/training/conftest.py")
from aiayn.compute.device import Device
from aiayn.training.job import Job
from aiayn.training.loop import fit
from aiayn.compute.processes import Processes, join_processes
from aiayn.training.trainer import Trainer
torch.set_num_threads(1)
with join_processes("cpu") as processes:
    job = Job("en-de.tiny", replace(top.TINY, steps={steps}), replace(here.SETTINGS, {settings}), 1, "tokens")
    device = Device(torch.device("cpu"), "float32")
    trainer = Trainer(job, here.random_arrays(200), here.random_arrays(20, 1), device, processes)
    print("ready", flush=True)
    outcome = fit(trainer, Path({scratch!r}))
    if processes.is_first:
        Path({scratch!r}, "history.csv").write_text(outcome.history_csv())
"""


def worker(scratch: Path, steps: int, settings: str = "") -> list[str]:
    tests = str(Path(__file__).resolve().parent.parent)
    code = WORKER.format(tests=tests, scratch=str(scratch), steps=steps, settings=settings)
    return [sys.executable, "-c", code]


def test_kill_9_at_ten_random_moments(tmp_path: Path) -> None:
    steps = 800
    begun = time.perf_counter()
    subprocess.run(worker(tmp_path / "whole", steps), check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    moments = random.Random(0)
    killed = 0
    for _ in range(10):
        process = subprocess.Popen(worker(tmp_path / "parts", steps), stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.uniform(0, seconds / 12))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        process.stdout.close()
    subprocess.run(worker(tmp_path / "parts", steps), check=True, capture_output=True)
    assert killed == 10
    assert load_tensors(tmp_path / "parts" / RESUME)[1]["extra"]["starts"] > 5
    assert everything(tmp_path / "parts") == everything(tmp_path / "whole")


@pytest.mark.parametrize("count", [2, 4])
def test_the_number_of_processes_does_not_matter(tmp_path: Path, count: int) -> None:
    """Fifty steps of 4 micro-batches: the same losses to 1e-4, whoever computed which."""
    # a rate at which rounding is not blown up: the order of summation is all that may differ
    settings = "learning_rate_scale=0.2, warmup_steps=50"
    subprocess.run(worker(tmp_path / "one", 50, settings), check=True, capture_output=True)
    script = tmp_path / "worker.py"
    script.write_text(worker(tmp_path / "many", 50, settings)[2])
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={count}",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*torchrun, str(script)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    curves = []
    for name in ("one", "many"):
        rows = csv.DictReader((tmp_path / name / "history.csv").read_text().splitlines())
        curves.append(
            [(float(r["loss"]), float(r["dev_loss"] or 0), int(r["tokens"])) for r in rows]
        )
    assert len(curves[0]) == 25
    for alone, together in zip(*curves, strict=True):
        assert together == pytest.approx(alone, rel=1e-4)
    assert curves[0][-1][0] < 0.9 * curves[0][0][0]


def test_too_many_processes(tmp_path: Path) -> None:
    """A process without a micro-batch would only wait: an error that says what to change."""
    script = tmp_path / "worker.py"
    script.write_text(worker(tmp_path / "s", 2, "micro_batches=1")[2])
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run([*torchrun, str(script)], capture_output=True, text=True)
    assert done.returncode != 0
    assert "training.micro_batches is 1, too few for 2 processes" in done.stderr


def test_divergence_is_one_clear_line(make_trainer: Make, scratch: Path) -> None:
    trainer = make_trainer(steps=50, learning_rate_scale=1e12)
    with pytest.raises(
        TrainingError, match="training diverged. Lower training.learning_rate_scale"
    ):
        fit(trainer, scratch)
    for path in checkpoints(scratch):
        tensors, _ = load_tensors(path)
        assert all(tensor.isfinite().all() for tensor in tensors.values())
