"""What is printed while a graph runs: live lines in a terminal, elsewhere a line every half minute."""

from __future__ import annotations

import io
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from aiayn.commands.repro import stage_group
from aiayn.commands.repro.display import Display, progress_line
from aiayn.commands.repro.parallel import waiting_line
from aiayn.commands.repro.schedule import Schedule
from aiayn.commands.repro.stage_group import Event, StageGroup
from aiayn.results import paths, progress
from aiayn.results.progress import Fetching, Progress, clock

ELAPSED = re.compile(r": \d+:\d\d")
HALFWAY = Progress(640, 1200, 2.3456, 8912.4, 41.6)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TRAINING = "train@en-de.base"


@pytest.fixture
def schedule() -> Schedule:
    graph = {"encode": frozenset[str](), TRAINING: frozenset({"encode"})}
    return Schedule(graph, {*graph}, {*graph}, 1)


def group_that_prints(monkeypatch: pytest.MonkeyPatch, text: str, status: int = 0) -> StageGroup:
    """A group whose DVC prints this and ends."""

    def start(stages: Sequence[str], output: int) -> subprocess.Popen[bytes]:
        command = ["sh", "-c", f"printf '%s' \"$0\"; exit {status}", text]
        return subprocess.Popen(command, stdout=output)

    monkeypatch.setattr(stage_group, "start_stages", start)
    return StageGroup([TRAINING])


def events(group: StageGroup) -> list[Event]:
    """All events until the group ends."""
    found: list[Event] = []
    while not group.has_ended:
        found += group.events()
    group.close()
    return found


def group_in_stage(monkeypatch: pytest.MonkeyPatch, stage: str) -> StageGroup:
    group = group_that_prints(monkeypatch, "")
    events(group)
    group.stage = stage
    return group


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StageGroup:
    """A training that has written its progress."""
    monkeypatch.chdir(tmp_path)
    group = group_in_stage(monkeypatch, TRAINING)
    progress.write(paths.progress(paths.scratch("en-de.base", 16 * "a")), HALFWAY)
    return group


def test_what_dvc_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "Running stage 'train@a':\n> python ./pipeline/train.py a\na: 9 parameters\n"
        "Updating lock file 'dvc.lock'\n\nStage 'average@a' didn't change, skipping\n"
        "Stage 'decode@a' is cached - skipping run, checking out outputs\n"
        "Running stage 'score@a':\n> python ./pipeline/score.py a\nScoreError: no text.\n"
        "ERROR: failed to reproduce 'score@a': failed to run: python ./pipeline/score.py a, exited with 1\n"
    )
    ran = Event("train@a", "ran", "0:00")
    assert events(group_that_prints(monkeypatch, text, status=255)) == [
        Event("train@a", "printed", "a: 9 parameters"), ran,
        Event("average@a", "unchanged"), Event("decode@a", "cached"),
        Event("score@a", "printed", "ScoreError: no text."),
        Event("score@a", "failed", "ScoreError: no text."),
    ]  # fmt: skip
    success = "Running stage 'train@a':\n> python a\n\nTo track the changes with git, run:\n\n\tgit add dvc.lock\n"
    assert events(group_that_prints(monkeypatch, success)) == [ran]


def test_an_error_of_dvc_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    group = group_that_prints(monkeypatch, "ERROR: 'models' is busy\n", status=255)
    assert events(group) == [Event(TRAINING, "failed", "'models' is busy")]


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.4, "0:07"), (59.6, "1:00"), (750, "12:30"), (94500, "26:15:00")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_training_shows_its_progress(group: StageGroup) -> None:
    assert progress_line(group) == (
        "train@en-de.base: step 640 of 1,200, loss 2.346, 8,912 tokens/s, 0:42 left"
    )


def test_a_job_logs_its_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.write(tmp_path / "silent.json", HALFWAY)
    monkeypatch.setenv(progress.LOG, "1")
    progress.write(tmp_path / "progress.json", HALFWAY)
    assert capsys.readouterr().out == f"{HALFWAY}\n"


def test_before_its_first_progress_a_training_shows_the_elapsed_time(group: StageGroup) -> None:
    path = paths.progress(paths.scratch("en-de.base", 16 * "a"))
    path.write_text("{}")  # of another version
    assert ELAPSED.fullmatch(progress_line(group).removeprefix(TRAINING))
    path.unlink()
    assert ELAPSED.fullmatch(progress_line(group).removeprefix(TRAINING))


def test_a_download_shows_the_progress_of_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    group = group_in_stage(monkeypatch, "download@en-fr")
    assert ELAPSED.fullmatch(progress_line(group).removeprefix(group.stage))
    fetching = Fetching(2, 7, 1_500_000_000, 6_000_000_000, 9e6)
    progress.write(paths.fetching(paths.DOWNLOADS, "en-fr"), fetching)
    progress.write(paths.fetching(paths.DOWNLOADS, "en-de"), Fetching(0, 1, 0, 1, 0.0))
    assert progress_line(group) == (
        "download@en-fr: 2 of 7 files, 1,500.0 of 6,000.0 MB, 9.0 MB/s, 8:20 left"
    )


def test_a_run_with_a_longer_name_is_not_confused_with_it(group: StageGroup) -> None:
    other = paths.progress(paths.scratch("en-de.base-s2", 16 * "b"))
    progress.write(other, Progress(1, 2, 9.0, 1.0, 1.0))
    assert "step 640 of 1,200" in progress_line(group)


def test_a_terminal_shows_a_line_for_each_stage_and_a_total(
    schedule: Schedule, group: StageGroup
) -> None:
    stream = Terminal()
    display = Display(schedule, stream)
    schedule.done.add("encode")
    display.show([group])
    lines = stream.getvalue()
    assert "train@en-de.base: step 640 of 1,200" in lines
    assert "1 of 2 stages done" in lines
    display.close()
    last = stream.getvalue().splitlines()[-1]
    assert ELAPSED.fullmatch(last.replace("1 of 2 stages done, ", ": "))


def test_without_a_terminal_a_line_is_printed_every_half_minute(
    schedule: Schedule, group: StageGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    stream = io.StringIO()
    display = Display(schedule, stream)
    for _ in range(100):
        now += 1
        display.show([group])
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("0 of 2 stages done, 0:30; train@en-de.base: step 640 of 1,200")


def test_while_waiting_for_another_process_its_progress_is_shown(
    group: StageGroup, schedule: Schedule
) -> None:
    now = time.time()
    stages = ["download@en-de", TRAINING]
    assert waiting_line(4711, stages, now + 60) == "waiting for process 4711"
    progress_text = f"waiting for process 4711; {TRAINING}: {HALFWAY}"
    assert waiting_line(4711, stages, now - 60) == progress_text
    terminal = Terminal()
    display = Display(schedule, terminal)
    display.show([], [f"decode@en-de.base: {progress_text}"])
    assert f"decode@en-de.base: {progress_text}" in terminal.getvalue()
    display.close()
