"""The training loop: start or resume, step, validate, save, stop on SIGTERM."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from tqdm import tqdm

from aiayn.errors import CheckpointError, TrainingError
from aiayn.model.checkpoints import kept_steps
from aiayn.results import paths, progress
from aiayn.results.history import History, Line
from aiayn.results.progress import Progress
from aiayn.results.scratch import delete
from aiayn.training.trainer import Trainer

STEPS_BETWEEN_RELEASES = 50  # of memory: rarely enough to cost nothing

Observer = Callable[[int, Mapping[str, float]], None]


class Terminated(SystemExit):
    """SIGTERM was received and the state saved; the next start resumes. Ends the program."""


@dataclass
class Outcome:
    """The result of a training, besides its checkpoints; `started` is the time of its first start,
    in UTC."""

    run: str
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    validation_seconds: float = 0.0
    starts: int = 1

    @property
    def curve(self) -> History:
        """One line every `log_steps`, and at every validation."""
        return History(tuple(Line(**line) for line in self.history))


def fit(trainer: Trainer, scratch: Path, observe: Observer = lambda step, metrics: None) -> Outcome:
    """Train to the last step.

    Args:
        trainer: at step 0.
        scratch: folder of this training (its name has the fingerprint). If it has the state of an
            interrupted start, training resumes from it, to the same bits; if that had reached the
            last step, nothing is done. On return it has the last `average` checkpoints.
        observe: called with (step, metrics) for every line of history, by the first process only.
    Raises:
        TrainingError: the loss is not finite, or the processes do not start from the same state.
        CheckpointError: part of `scratch` is missing, or was not written by a training.
        Terminated: a process received SIGTERM; the state was saved.
    """
    settings, last = trainer.job.training, trainer.job.model.steps
    outcome = _resume(trainer, scratch)
    trainer.processes.agree(f"step {trainer.step_number} of {trainer.fingerprint[:16]}")
    first = trainer.processes.is_first
    clock, begun = _Clock(outcome, trainer.step_number), trainer.tokens
    with (
        _stopping_on_sigterm(trainer),
        tqdm(
            total=last, initial=trainer.step_number, desc=trainer.job.run, unit="step",
            disable=None if first else True, dynamic_ncols=True,
        ) as bar,
    ):  # fmt: skip
        while trainer.step_number < last:
            trainer.step()
            bar.update()
            step = trainer.step_number
            if step % STEPS_BETWEEN_RELEASES == 0:
                trainer.device.release_memory()
            final, stop = step == last, trainer.should_stop
            validated = step % settings.validation_steps == 0 or final
            if step % settings.log_steps == 0 or validated:
                line = _history_line(trainer)
                if validated:
                    with clock.validating():
                        line |= _validation(trainer)
                outcome.history.append(line)
                speed = clock.speed(trainer.tokens - begun)
                bar.set_postfix_str(
                    f"loss {line['loss']:.3f}, rate {line['learning_rate']:.2e}, "
                    f"{speed:,.0f} tokens/s"
                )
                if first:
                    observe(step, {**line, "tokens_per_second": speed})
                    left = clock.seconds_left(step, last)
                    current = Progress(step, last, line["loss"], speed, left)
                    progress.write(paths.progress(scratch), current)
            kept = final or step % trainer.job.model.checkpoint_steps == 0
            if kept or stop:
                clock.stamp(outcome)
                _save(trainer, scratch, outcome, keep=kept)
            if stop and not final:
                message = f"{trainer.job.run}: stopped at step {step}; run it again to resume"
                raise Terminated(message if first else 1)
    if first and trainer.graphs:
        print(trainer.graphs, file=sys.stderr)
    return outcome


class _Clock:
    """Seconds of this start, with and without validation, on top of those of earlier starts."""

    def __init__(self, outcome: Outcome, step: int) -> None:
        self.begun = time.perf_counter()
        self.step = step
        self.validation = 0.0
        self.earlier = (outcome.seconds, outcome.validation_seconds)

    @contextmanager
    def validating(self) -> Iterator[None]:
        before = time.perf_counter()
        yield
        self.validation += time.perf_counter() - before

    def speed(self, tokens: int) -> float:
        """Real target tokens per second, without validation."""
        return tokens / (time.perf_counter() - self.begun - self.validation)

    def seconds_left(self, step: int, last: int) -> float:
        """Until `last`, at the average speed of this start."""
        return (time.perf_counter() - self.begun) / (step - self.step) * (last - step)

    def stamp(self, outcome: Outcome) -> None:
        outcome.seconds = self.earlier[0] + time.perf_counter() - self.begun
        outcome.validation_seconds = self.earlier[1] + self.validation


def _history_line(trainer: Trainer) -> dict[str, Any]:
    interval = trainer.close_interval()
    if not math.isfinite(interval.loss):
        raise _diverged(trainer, f"the loss is {interval.loss}")
    return {
        "step": trainer.step_number,
        "epoch": round(trainer.epoch, 4),
        "tokens": trainer.tokens,
        "learning_rate": float(f"{trainer.learning_rate:.6g}"),
        "loss": round(interval.mean_loss, 6),
    }


def _validation(trainer: Trainer) -> dict[str, float]:
    dev_loss = trainer.validate()
    # beyond this a float64 overflows
    return {
        "dev_loss": round(dev_loss, 6),
        "dev_perplexity": round(math.exp(min(dev_loss, 700)), 6),
    }


def _diverged(trainer: Trainer, what: str) -> TrainingError:
    return TrainingError(
        f"{trainer.job.run}: {what} at step {trainer.step_number}: training diverged. Lower "
        "training.learning_rate_scale or raise training.warmup_steps in params.yaml."
    )


def _resume(trainer: Trainer, scratch: Path) -> Outcome:
    run, state = trainer.job.run, paths.resume(scratch)
    if not state.exists():
        if trainer.processes.is_first and scratch.exists():
            delete(scratch)  # the rest of one that was deleted, or killed before it saved
        return Outcome(run)
    outcome = Outcome(run, **trainer.restore_state(state))
    outcome.starts += 1
    _check_complete(trainer, scratch)
    return outcome


def _check_complete(trainer: Trainer, scratch: Path) -> None:
    for step in _kept_steps(trainer):
        path = paths.checkpoint(scratch, step)
        if not path.exists():
            raise CheckpointError(
                f"{path}: missing, but training had reached step {trainer.step_number}. Part of "
                "the folder was deleted: delete the rest of it to train from the start."
            )


def _kept_steps(trainer: Trainer) -> list[int]:
    model = trainer.job.model
    return kept_steps(
        trainer.step_number, last=model.steps, every=model.checkpoint_steps, keep=model.average
    )


def _save(trainer: Trainer, scratch: Path, outcome: Outcome, *, keep: bool) -> None:
    """Save the state to resume from and, if `keep`, weights to average; delete older ones."""
    if not trainer.is_finite():
        raise _diverged(trainer, "weights are no longer finite")
    if trainer.processes.is_first:
        if keep:
            trainer.save_weights(paths.checkpoint(scratch, trainer.step_number))
        trainer.save_state(
            paths.resume(scratch),
            {
                "history": outcome.history,
                "seconds": outcome.seconds,
                "validation_seconds": outcome.validation_seconds,
                "starts": outcome.starts,
                "started": outcome.started,
            },
        )
        kept = {paths.checkpoint(scratch, step) for step in _kept_steps(trainer)}
        for old in {*paths.saved_checkpoints(scratch)} - kept:
            old.unlink()
    trainer.processes.wait_for_all()


@contextmanager
def _stopping_on_sigterm(trainer: Trainer) -> Iterator[None]:
    """On SIGTERM, request a stop after the current step."""

    def note(number: int, frame: FrameType | None) -> None:
        trainer.stop_requested = True

    previous = signal.signal(signal.SIGTERM, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
