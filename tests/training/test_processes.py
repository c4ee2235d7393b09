"""Processes that train together: the same model whatever their number; killed, asked to stop or
broken, one of them or all."""

from __future__ import annotations

import csv
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.model.checkpoints import load_tensors
from aiayn.results import paths

Together = Callable[..., list[tuple[int, str]]]


def everything(scratch: Path) -> dict[str, bytes]:
    """Weights by file, the tensors to resume from, history; seconds are no part of it."""
    files = {path.name: path.read_bytes() for path in paths.saved_checkpoints(scratch)}
    tensors, metadata = load_tensors(paths.resume(scratch))
    state = b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))
    return {**files, "state": state, "history": repr(metadata["extra"]["history"]).encode()}


def codes(ended: list[tuple[int, str]]) -> list[int]:
    return [code for code, _ in ended]


@pytest.fixture(scope="module")
def whole(train_together: Together, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What two processes leave behind that nobody disturbed: 8 steps, log_steps 2,
    checkpoint_steps 3."""
    scratch = tmp_path_factory.mktemp("whole") / "scratch"
    assert codes(train_together(scratch, 2)) == [0, 0]
    return everything(scratch)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(train_together: Together, tmp_path: Path) -> None:
    """Twenty steps of 8 micro-batches: the same losses to 1e-4, whoever computed which; three
    processes have three, three and two of them."""
    # a rate at which rounding is not blown up: the order of summation is all that may differ
    settings = {
        "learning_rate_scale": 0.2, "warmup_steps": 20, "validation_steps": 10, "micro_batches": 8,
    }  # fmt: skip
    curves = []
    for number in (1, 2, 3):
        scratch = tmp_path / str(number)
        ended = train_together(scratch, number, columns={"steps": 20, "N": 1}, settings=settings)
        assert codes(ended) == [0] * number
        rows = csv.DictReader((scratch / "history.csv").read_text().splitlines())
        curves.append(
            [(float(r["loss"]), float(r["dev_loss"] or 0), int(r["tokens"])) for r in rows]
        )
    assert len(curves[0]) == 10
    for alone, *others in zip(*curves, strict=True):
        for shared in others:
            assert shared == pytest.approx(alone, rel=1e-4)
    assert curves[0][-1][0] < 0.9 * curves[0][0][0]


def test_too_many_processes(train_together: Together, tmp_path: Path) -> None:
    """A process without a micro-batch would only wait: an error that says what to change."""
    for code, said in train_together(tmp_path / "scratch", 2, settings={"micro_batches": 1}):
        assert code == 1
        assert "training.micro_batches is 1, too few for 2 processes" in said


@pytest.mark.parametrize("step", [pytest.param(4, marks=pytest.mark.slow), 7])
def test_two_processes_killed_between_checkpoints(
    train_together: Together, tmp_path: Path, whole: dict[str, bytes], step: int
) -> None:
    """Both shares of the loss since the last line of history come back: weights and history are
    those of an undisturbed training, to the bit."""
    kill = f"if trainer.step_number == {step}: os.kill(os.getpid(), signal.SIGKILL)"
    killed = codes(train_together(tmp_path / "scratch", 2, on_step=kill))
    assert killed == [-signal.SIGKILL] * 2
    assert codes(train_together(tmp_path / "scratch", 2)) == [0, 0]
    assert everything(tmp_path / "scratch") == whole


@pytest.mark.slow
def test_two_processes_killed_at_six_random_moments(
    train_together: Together, tmp_path: Path
) -> None:
    """Both after a step, or the first while it writes; by the count, so that no clock decides."""
    what: dict[str, Any] = {"columns": {"N": 1, "steps": 40}, "settings": {"micro_batches": 2}}
    assert codes(train_together(tmp_path / "whole", 2, **what)) == [0, 0]
    kill, moments = "os.kill(os.getpid(), signal.SIGKILL)", random.Random(1)
    for number in range(6):
        if number % 2:
            event = {"on_write": f"if number == {moments.randint(1, 4)}: {kill}"}
        else:
            event = {"on_step": f"if trainer.step_number % 9 == {moments.randint(0, 8)}: {kill}"}
        ended = codes(train_together(tmp_path / "parts", 2, **what, **event))
        assert ended[0] == -signal.SIGKILL
        assert ended[1] == (1 if number % 2 else -signal.SIGKILL)
    assert codes(train_together(tmp_path / "parts", 2, **what)) == [0, 0]
    assert everything(tmp_path / "parts") == everything(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_sigterm_to_one_of_two_processes_stops_both_at_one_step(
    train_together: Together, tmp_path: Path, whole: dict[str, bytes], rank: int
) -> None:
    """After step 4 it is told along with the gradients of step 5."""
    ask = f"if (trainer.step_number, rank) == (4, {rank}): os.kill(os.getpid(), signal.SIGTERM)"
    first, second = train_together(tmp_path / "scratch", 2, on_step=ask)
    assert first == (1, "en-de.tiny: stopped at step 5; run it again to resume\n")
    assert second == (1, "")
    assert codes(train_together(tmp_path / "scratch", 2)) == [0, 0]
    assert everything(tmp_path / "scratch") == whole


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_in_one_process_ends_the_other(
    train_together: Together, tmp_path: Path, rank: int
) -> None:
    fail = f"if (trainer.step_number, rank) == (4, {rank}): raise SystemExit('the disk is full')"
    ended = train_together(tmp_path / "scratch", 2, on_step=fail)
    assert ended[rank] == (1, "the disk is full\n")
    code, said = ended[1 - rank]
    assert code == 1
    assert f"process {1 - rank} of 2 lost another one; the cause is in" in said


@pytest.mark.slow
def test_processes_that_see_different_scratch_folders(
    train_together: Together, tmp_path: Path
) -> None:
    """As on machines without a shared file system: each would go on from its own step."""
    assert codes(train_together(tmp_path / "0")) == [0]
    for code, said in train_together(tmp_path / "{rank}", 2):
        assert code == 1
        assert "process 1 would start from step 0 of " in said
        assert ", the first from step 8 of " in said
