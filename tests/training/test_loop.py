"""Killed anywhere, a training resumes exactly; the files it writes; the error when it diverges."""

from __future__ import annotations

import csv
import io
import os
import random
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import torch

from aiayn.errors import CheckpointError, TrainingError
from aiayn.model.checkpoints import load_tensors, load_weights
from aiayn.results import history, paths
from aiayn.training.loop import Terminated, fit
from aiayn.training.run_metadata import training_metadata
from aiayn.training.trainer import Trainer

Make = Callable[..., Trainer]
TrainTogether = Callable[..., list[tuple[int, str]]]


def final_state(scratch: Path) -> dict[str, bytes]:
    """Weights by file; the seconds in the resume state differ, so that is compared by its tensors."""
    files = {path.name: path.read_bytes() for path in paths.saved_checkpoints(scratch)}
    tensors, metadata = load_tensors(paths.resume(scratch))
    state = b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))
    return {**files, "state": state, "history": repr(metadata["extra"]["history"]).encode()}


def test_history(make_trainer: Make, scratch: Path) -> None:
    logged: list[tuple[int, Mapping[str, float]]] = []
    trainer = make_trainer(steps=9)
    outcome = fit(trainer, scratch, lambda step, metrics: logged.append((step, metrics)))
    rows = list(csv.DictReader(io.StringIO(history.content(outcome.curve))))
    assert [row["step"] for row in rows] == ["2", "4", "6", "8", "9"]
    assert [row["step"] for row in rows if row["dev_loss"]] == ["4", "8", "9"]
    assert int(rows[-1]["tokens"]) == trainer.tokens
    assert float(rows[0]["learning_rate"]) == pytest.approx(16**-0.5 * 2 * 20**-1.5, rel=1e-5)
    assert [step for step, _ in logged] == [2, 4, 6, 8, 9]
    assert all(metrics["tokens_per_second"] > 0 for _, metrics in logged)
    perplexity = float(rows[-1]["dev_perplexity"])
    assert perplexity == pytest.approx(torch.tensor(trainer.validate()).exp().item(), rel=1e-4)


def test_training_metadata(make_trainer: Make, scratch: Path) -> None:
    trainer = make_trainer(steps=9)
    found = training_metadata(trainer, fit(trainer, scratch))
    assert found.tokens_per_second > 0
    assert found.instruction_set
    assert found.peak_rss_bytes, "a process that has imported torch"
    assert 1e8 < found.peak_rss_bytes < 1e11
    resumed = make_trainer(steps=9)
    assert training_metadata(resumed, fit(resumed, scratch)).started == found.started


def test_the_last_checkpoints_are_kept(make_trainer: Make, scratch: Path) -> None:
    fit(make_trainer(steps=10, average=3), scratch)
    steps = [load_weights(path)[1].step for path in paths.saved_checkpoints(scratch)]
    assert steps == [6, 9, 10]


def test_training_again_gives_the_same_bits(make_trainer: Make, tmp_path: Path) -> None:
    for name in ("one", "two"):
        fit(make_trainer(), tmp_path / name)
    assert final_state(tmp_path / "one") == final_state(tmp_path / "two")


@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, 2, 3, 5, 7])
def test_terminated_at_any_step_and_resumed(make_trainer: Make, tmp_path: Path, stop: int) -> None:
    """SIGTERM during a step: the step is finished and saved, and the rest is the same to the bit."""
    fit(make_trainer(), tmp_path / "uninterrupted")
    trainer = make_trainer()
    step = trainer.step

    def step_and_terminate() -> None:
        step()
        if trainer.step_number == stop:
            os.kill(os.getpid(), signal.SIGTERM)

    trainer.step = step_and_terminate  # type: ignore[method-assign]
    with pytest.raises(Terminated, match=f"en-de.tiny: stopped at step {stop}; run it again"):
        fit(trainer, tmp_path / "parts")
    outcome = fit(make_trainer(), tmp_path / "parts")
    assert outcome.starts == 2
    assert final_state(tmp_path / "parts") == final_state(tmp_path / "uninterrupted")


@pytest.mark.slow
def test_kill_9_at_five_random_moments(train_together: TrainTogether, tmp_path: Path) -> None:
    """After a step or during a write, chosen by count, not by time."""
    training: dict[str, Any] = {"columns": {"N": 1, "steps": 72}, "settings": {"micro_batches": 1}}
    assert train_together(tmp_path / "uninterrupted", **training) == [(0, ANY)]
    moments, starts = random.Random(0), 0
    while starts < 5:
        kill, at = "os.kill(os.getpid(), signal.SIGKILL)", moments.randint(1, 12)
        event = {
            "on_step": f"if trainer.step_number % 13 == {at}: {kill}",
            "on_write": f"if number == {1 + at % 4}: {kill}",
        }
        hook = moments.choice(list(event))
        exits = train_together(tmp_path / "parts", **training, **{hook: event[hook]})
        assert exits[0][0] == -signal.SIGKILL
        starts += 1
    assert train_together(tmp_path / "parts", **training) == [(0, ANY)]
    assert load_tensors(paths.resume(tmp_path / "parts"))[1]["extra"]["starts"] > 2
    assert final_state(tmp_path / "parts") == final_state(tmp_path / "uninterrupted")


def test_a_checkpoint_from_beyond_the_resumed_step_replaces_no_other(
    make_trainer: Make, scratch: Path
) -> None:
    """Killed between writing step 6's weights and its state, then stopped after step 5: step 3 is
    still one of the two to average."""
    columns = {"steps": 9, "average": 2, "checkpoint_steps": 3}
    trainer = make_trainer(**columns)
    save_state = trainer.save_state

    def killed_at_step_6(path: Path, extra: dict[str, Any]) -> None:
        if trainer.step_number == 6:
            raise KeyboardInterrupt
        save_state(path, extra)

    trainer.save_state = killed_at_step_6  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        fit(trainer, scratch)
    stopped = make_trainer(**columns)
    step = stopped.step

    def step_and_terminate() -> None:
        step()
        if stopped.step_number == 5:
            os.kill(os.getpid(), signal.SIGTERM)

    stopped.step = step_and_terminate  # type: ignore[method-assign]
    with pytest.raises(Terminated):
        fit(stopped, scratch)
    outcome = fit(make_trainer(**columns), scratch)
    assert outcome.starts == 3
    steps = [load_weights(path)[1].step for path in paths.saved_checkpoints(scratch)]
    assert steps == [6, 9]


def test_a_finished_training_is_not_trained_again(make_trainer: Make, scratch: Path) -> None:
    fit(make_trainer(), scratch)
    before = final_state(scratch)
    trainer = make_trainer()
    trainer.step = None  # type: ignore[assignment, method-assign]
    outcome = fit(trainer, scratch)
    assert outcome.history[-1]["step"] == trainer.step_number == 8
    assert final_state(scratch) == before


def test_a_partly_deleted_scratch_folder(make_trainer: Make, scratch: Path) -> None:
    """Without the resume state, training starts from the beginning; a missing checkpoint is an
    error."""
    fit(make_trainer(average=3), scratch)
    expected = final_state(scratch)
    paths.saved_checkpoints(scratch)[0].unlink()
    with pytest.raises(CheckpointError, match="step-0000003.safetensors: missing, but .* step 8"):
        fit(make_trainer(average=3), scratch)
    paths.resume(scratch).unlink()
    assert fit(make_trainer(average=3), scratch).starts == 1
    assert final_state(scratch) == expected


def test_divergence_is_a_one_line_error(make_trainer: Make, scratch: Path) -> None:
    trainer = make_trainer(steps=50, learning_rate_scale=1e12)
    with pytest.raises(
        TrainingError, match="training diverged. Lower training.learning_rate_scale"
    ):
        fit(trainer, scratch)
    for path in paths.saved_checkpoints(scratch):
        tensors, _ = load_tensors(path)
        assert all(tensor.isfinite().all() for tensor in tensors.values())
