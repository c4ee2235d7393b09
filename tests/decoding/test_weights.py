"""Sections 6.1 and 6.2: which weights and which search decode which split."""

from __future__ import annotations

from pathlib import Path

from aiayn import config
from aiayn.config import Task
from aiayn.decoding.weights import parts
from aiayn.results import paths

ROOT = Path(__file__).parents[2]


def decoded(task: Task, *splits: str) -> dict[str, tuple[bool, int]]:
    """By file name: whether the averaged weights are used, and the beam."""
    return {
        part.hypotheses(Path()).name: (part.is_averaged, part.search.beam)
        for part in parts(task, splits)
    }


def test_dev_by_the_last_checkpoint_and_tests_by_the_average() -> None:
    tasks = config.load(ROOT / "params.yaml").tasks
    beam = tasks["en-de"].decoding.beam
    assert beam > 1
    assert decoded(tasks["en-de"], "dev") == {"dev.hypotheses": (False, beam)}
    assert decoded(tasks["en-de"], "dev", "test", "test_2017") == {
        "dev.hypotheses": (False, beam),
        "test.hypotheses": (True, beam),
        "test_2017.hypotheses": (True, beam),
        "dev.averaged.hypotheses": (True, beam),
        "dev.greedy.hypotheses": (True, 1),
    }
    assert list(decoded(tasks["parsing"], "dev", "test")) == ["dev.hypotheses", "test.hypotheses"]


def test_every_decoding_mode_has_its_own_file() -> None:
    files = {
        paths.dev_hypotheses(Path("outputs/en-de.base"), mode) for mode in paths.DECODING_MODES
    }
    assert len(files) == len(paths.DECODING_MODES)
    assert paths.hypotheses(Path("outputs/en-de.base"), paths.DEV) in files
