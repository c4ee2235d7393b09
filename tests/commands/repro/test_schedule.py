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


def schedule(jobs: int, *changed: str) -> Schedule:
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


def test_one_after_the_other_what_most_wait_for_first_and_the_longest_training_before_others() -> (
    None
):
    one = schedule(1)
    order = []
    while groups := started(one):
        assert len(groups) == 1
        order += groups
        end(one, groups[0])
    assert order == [TEXT, ["profile"], LONG, SHORT, ["report"]]
    assert one.blocked == []


def test_as_many_in_parallel_as_there_are_jobs() -> None:
    two = schedule(2)
    assert started(two) == [TEXT, ["profile"]]
    end(two, ["profile"])
    assert started(two) == []  # everything else waits for the text
    end(two, TEXT)
    assert started(two) == [LONG, SHORT]
    end(two, SHORT)
    assert started(two) == []
    end(two, LONG)
    assert started(two) == [["report"]]


def test_only_what_is_changed_and_what_depends_on_it_runs() -> None:
    one = schedule(1, "score@short")
    assert one.done == {*GRAPH} - {"score@short", "report"}
    assert started(one) == [["score@short"]]
    end(one, ["score@short"])
    assert started(one) == [["report"]]


def test_a_failure_blocks_what_depends_on_it_and_nothing_else() -> None:
    one = schedule(1)
    while groups := started(one):
        if groups == [LONG]:
            one.failed["train@long"] = "OSError: no space"
            one.running -= 1
        else:
            end(one, groups[0])
    assert one.blocked == ["report", "score@long"]
    assert one.unfinished() == {"long": "train@long: OSError: no space"}
    assert "score@short" in one.done


def test_a_task_that_fails_leaves_its_runs_unfinished() -> None:
    one = schedule(1)
    one.failed |= {"fetch@text": "DataError: no folder", "profile": "MemoryError"}
    reason = "fetch@text: DataError: no folder"
    assert one.unfinished() == {
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
