"""Processes that train together: the same model whatever their number; killed, asked to stop or
failing, one of them or all."""

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

TrainTogether = Callable[..., list[tuple[int, str]]]


def final_state(scratch: Path) -> dict[str, bytes]:
    """Weights by file, the tensors to resume from, and history, without the seconds."""
    files = {path.name: path.read_bytes() for path in paths.saved_checkpoints(scratch)}
    tensors, metadata = load_tensors(paths.resume(scratch))
    state = b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))
    return {**files, "state": state, "history": repr(metadata["extra"]["history"]).encode()}


def codes(exits: list[tuple[int, str]]) -> list[int]:
    return [code for code, _ in exits]


@pytest.fixture(scope="module")
def uninterrupted(
    train_together: TrainTogether, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """The final state of an uninterrupted training in two processes: 8 steps, log_steps 2,
    checkpoint_steps 3."""
    scratch = tmp_path_factory.mktemp("uninterrupted") / "scratch"
    assert codes(train_together(scratch, 2)) == [0, 0]
    return final_state(scratch)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(
    train_together: TrainTogether, tmp_path: Path
) -> None:
    """Twenty steps of 8 micro-batches: the same losses to 1e-4, however they are shared
    out; three processes have three, three and two of them."""
    # a rate that does not amplify rounding: only the order of summation may differ
    settings = {
        "learning_rate_scale": 0.2, "warmup_steps": 20, "validation_steps": 10, "micro_batches": 8,
    }  # fmt: skip
    curves = []
    for number in (1, 2, 3):
        scratch = tmp_path / str(number)
        exits = train_together(scratch, number, columns={"steps": 20, "N": 1}, settings=settings)
        assert codes(exits) == [0] * number
        rows = csv.DictReader((scratch / "history.csv").read_text().splitlines())
        curves.append(
            [(float(r["loss"]), float(r["dev_loss"] or 0), int(r["tokens"])) for r in rows]
        )
    assert len(curves[0]) == 10
    for alone, *others in zip(*curves, strict=True):
        for shared in others:
            assert shared == pytest.approx(alone, rel=1e-4)
    assert curves[0][-1][0] < 0.9 * curves[0][0][0]


@pytest.mark.parametrize("step", [pytest.param(4, marks=pytest.mark.slow), 7])
def test_two_processes_killed_between_checkpoints(
    train_together: TrainTogether, tmp_path: Path, uninterrupted: dict[str, bytes], step: int
) -> None:
    """Both shares of the loss since the last line of history are restored: weights and history are
    those of an uninterrupted training, to the bit."""
    kill = f"if trainer.step_number == {step}: os.kill(os.getpid(), signal.SIGKILL)"
    killed = codes(train_together(tmp_path / "scratch", 2, on_step=kill))
    assert killed == [-signal.SIGKILL] * 2
    assert codes(train_together(tmp_path / "scratch", 2)) == [0, 0]
    assert final_state(tmp_path / "scratch") == uninterrupted


@pytest.mark.slow
def test_two_processes_killed_at_six_random_moments(
    train_together: TrainTogether, tmp_path: Path
) -> None:
    """Both after a step, or the first while it writes; chosen by count, not by time."""
    training: dict[str, Any] = {"columns": {"N": 1, "steps": 40}, "settings": {"micro_batches": 2}}
    assert codes(train_together(tmp_path / "uninterrupted", 2, **training)) == [0, 0]
    kill, moments = "os.kill(os.getpid(), signal.SIGKILL)", random.Random(1)
    for number in range(6):
        if number % 2:
            event = {"on_write": f"if number == {moments.randint(1, 4)}: {kill}"}
        else:
            event = {"on_step": f"if trainer.step_number % 9 == {moments.randint(0, 8)}: {kill}"}
        exits = codes(train_together(tmp_path / "parts", 2, **training, **event))
        assert exits[0] == -signal.SIGKILL
        assert exits[1] == (1 if number % 2 else -signal.SIGKILL)
    assert codes(train_together(tmp_path / "parts", 2, **training)) == [0, 0]
    assert final_state(tmp_path / "parts") == final_state(tmp_path / "uninterrupted")


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_sigterm_to_one_of_two_processes_stops_both_at_one_step(
    train_together: TrainTogether, tmp_path: Path, uninterrupted: dict[str, bytes], rank: int
) -> None:
    """The signal of step 4 is passed on with the gradients of step 5."""
    terminate = (
        f"if (trainer.step_number, rank) == (4, {rank}): os.kill(os.getpid(), signal.SIGTERM)"
    )
    first, second = train_together(tmp_path / "scratch", 2, on_step=terminate)
    assert first == (1, "en-de.tiny: stopped at step 5; run it again to resume\n")
    assert second == (1, "")
    assert codes(train_together(tmp_path / "scratch", 2)) == [0, 0]
    assert final_state(tmp_path / "scratch") == uninterrupted


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_in_one_process_ends_the_other(
    train_together: TrainTogether, tmp_path: Path, rank: int
) -> None:
    fail = f"if (trainer.step_number, rank) == (4, {rank}): raise SystemExit('the disk is full')"
    exits = train_together(tmp_path / "scratch", 2, on_step=fail)
    assert exits[rank] == (1, "the disk is full\n")
    code, stderr = exits[1 - rank]
    assert code == 1
    assert f"process {1 - rank} of 2 lost another one; the cause is in" in stderr


@pytest.mark.slow
def test_processes_that_see_different_scratch_folders(
    train_together: TrainTogether, tmp_path: Path
) -> None:
    """As on machines without a shared file system: each would resume from its own step."""
    assert codes(train_together(tmp_path / "0")) == [0]
    for code, stderr in train_together(tmp_path / "{rank}", 2):
        assert code == 1
        assert "process 1 would start from step 0 of " in stderr
        assert ", the first from step 8 of " in stderr
