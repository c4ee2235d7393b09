"""Which stages run, and which group of them may start next, on graphs small enough to follow by
hand."""

from __future__ import annotations

import pytest

from aiayn.commands.repro.schedule import Schedule, outdated, required
from aiayn.errors import GraphError

GRAPH: dict[str, frozenset[str]] = {
    name: frozenset(needed)
    for name, needed in {
        "profile": [],
        "fetch@text": [],
        "encode@text": ["fetch@text"],
        "train@short": ["encode@text"],
        "score@short": ["train@short"],
        "train@long": ["encode@text"],
        "score@long": ["train@long"],
        "report": ["score@short", "score@long", "profile"],
    }.items()
}
STEPS = {"train@short": 300, "train@long": 1200}
TEXT = ["fetch@text", "encode@text"]
SHORT, LONG = ["train@short", "score@short"], ["train@long", "score@long"]


def make_schedule(jobs: int, *changed: str) -> Schedule:
    to_run = outdated(GRAPH, changed or GRAPH)
    return Schedule(GRAPH, {*GRAPH}, to_run, jobs, STEPS)


def started(schedule: Schedule) -> list[list[str]]:
    groups = []
    while group := schedule.start_next():
        groups.append(group)
    return groups


def end(schedule: Schedule, group: list[str]) -> None:
    schedule.done |= {*group}
    schedule.running -= 1


def test_one_job_starts_what_most_stages_wait_for_and_the_longest_training_first() -> None:
    schedule = make_schedule(1)
    order = []
    while groups := started(schedule):
        assert len(groups) == 1
        order += groups
        end(schedule, groups[0])
    assert order == [TEXT, ["profile"], LONG, SHORT, ["report"]]
    assert schedule.blocked == []


def test_as_many_groups_run_in_parallel_as_there_are_jobs() -> None:
    schedule = make_schedule(2)
    assert started(schedule) == [TEXT, ["profile"]]
    end(schedule, ["profile"])
    assert started(schedule) == []  # everything else waits for the text
    end(schedule, TEXT)
    assert started(schedule) == [LONG, SHORT]
    end(schedule, SHORT)
    assert started(schedule) == []
    end(schedule, LONG)
    assert started(schedule) == [["report"]]


def test_only_changed_stages_and_their_dependents_run() -> None:
    schedule = make_schedule(1, "score@short")
    assert schedule.done == {*GRAPH} - {"score@short", "report"}
    assert started(schedule) == [["score@short"]]
    end(schedule, ["score@short"])
    assert started(schedule) == [["report"]]


def test_a_failure_blocks_only_its_dependents() -> None:
    schedule = make_schedule(1)
    while groups := started(schedule):
        if groups == [LONG]:
            schedule.failed["train@long"] = "OSError: no space"
            schedule.running -= 1
        else:
            end(schedule, groups[0])
    assert schedule.blocked == ["report", "score@long"]
    assert schedule.unfinished() == {"long": "train@long: OSError: no space"}
    assert "score@short" in schedule.done


def test_a_task_that_fails_leaves_its_runs_unfinished() -> None:
    schedule = make_schedule(1)
    schedule.failed |= {"fetch@text": "DataError: no folder", "profile": "MemoryError"}
    reason = "fetch@text: DataError: no folder"
    assert schedule.unfinished() == {
        "text": reason, "profile": "profile: MemoryError", "short": reason, "long": reason,
    }  # fmt: skip


def test_a_target_needs_what_it_reads() -> None:
    assert required(GRAPH, ["train@short"]) == {"fetch@text", "encode@text", "train@short"}
    assert required(GRAPH, ["train"]) == {*TEXT, "train@short", "train@long"}
    assert required(GRAPH, []) == {*GRAPH}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("trian@short", "Did you mean train@short?"),
        ("trian", "Did you mean train?"),
        ("x", "Known: profile, fetch, encode, train, score, report."),
    ],
)
def test_a_target_that_does_not_exist(target: str, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        required(GRAPH, [target])
    assert str(caught.value) == f"dvc.yaml: there is no stage '{target}'. {message}"
