"""What is said of a graph that runs: a terminal's lines, and a line every half minute elsewhere."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiayn.commands.repro.child import Child
from aiayn.commands.repro.display import Display, state
from aiayn.commands.repro.schedule import Schedule
from aiayn.results import places, progress
from aiayn.results.progress import Fetching, Progress, clock

SINCE = re.compile(r": \d+:\d\d")
SOME_WAY = Progress(640, 1200, 2.3456, 8912.4, 41.6)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def schedule() -> Schedule:
    return Schedule({"encode": (), "train@en-de.base": ("encode",)}, 1)


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    """A training that has said how far it is."""
    monkeypatch.chdir(tmp_path)
    child = Child("train@en-de.base", "true", {})
    progress.write(places.progress(places.scratch("en-de.base", 16 * "a")), SOME_WAY)
    yield child
    child.close()


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.4, "0:07"), (59.6, "1:00"), (750, "12:30"), (94500, "26:15:00")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_training_says_how_far_it_is(child: Child) -> None:
    assert state(child) == (
        "train@en-de.base: step 640 of 1,200, loss 2.346, 8,912 tokens/s, 0:42 left"
    )


def test_a_job_says_so_in_its_log_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.write(tmp_path / "silent.json", SOME_WAY)
    monkeypatch.setenv(progress.LOG, "1")
    progress.write(tmp_path / "progress.json", SOME_WAY)
    assert capsys.readouterr().out == f"{SOME_WAY}\n"


def test_before_its_first_line_a_training_says_since_when(child: Child) -> None:
    path = places.progress(places.scratch("en-de.base", 16 * "a"))
    path.write_text("{}")  # of another version
    assert SINCE.fullmatch(state(child).removeprefix("train@en-de.base"))
    path.unlink()
    assert SINCE.fullmatch(state(child).removeprefix("train@en-de.base"))


def test_a_download_says_how_far_all_its_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    child = Child("download@en-fr", "true", {})
    request.addfinalizer(child.close)
    assert SINCE.fullmatch(state(child).removeprefix("download@en-fr"))
    told = Fetching(2, 7, 1_500_000_000, 6_000_000_000, 9e6)
    progress.write(places.fetching(places.DOWNLOADS, "en-fr"), told)
    progress.write(places.fetching(places.DOWNLOADS, "en-de"), Fetching(0, 1, 0, 1, 0.0))
    assert state(child) == (
        "download@en-fr: 2 of 7 files, 1,500.0 of 6,000.0 MB, 9.0 MB/s, 8:20 left"
    )


def test_a_run_whose_name_goes_on_is_another(child: Child) -> None:
    other = places.progress(places.scratch("en-de.base-s2", 16 * "b"))
    progress.write(other, Progress(1, 2, 9.0, 1.0, 1.0))
    assert "step 640 of 1,200" in state(child)


def test_a_terminal_has_a_line_for_each_and_one_for_all(schedule: Schedule, child: Child) -> None:
    stream = Terminal()
    shown = Display(schedule, stream)
    schedule.start("encode")
    schedule.end("encode", well=True)
    shown.show([child])
    lines = stream.getvalue()
    assert "train@en-de.base: step 640 of 1,200" in lines
    assert "1 of 2 stages done" in lines
    shown.close()
    last = stream.getvalue().splitlines()[-1]
    assert SINCE.fullmatch(last.replace("1 of 2 stages done, ", ": "))


def test_elsewhere_a_line_every_half_minute(
    schedule: Schedule, child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    stream = io.StringIO()
    shown = Display(schedule, stream)
    for _ in range(100):
        now += 1
        shown.show([child])
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("0 of 2 stages done, 0:30; train@en-de.base: step 640 of 1,200")
