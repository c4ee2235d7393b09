"""Which stage may start next, on graphs small enough to follow by hand."""

from __future__ import annotations

from aiayn.commands.repro.schedule import Schedule

GRAPH = {
    "encode": (),
    "train@short": ("encode",),
    "score@short": ("train@short",),
    "train@long": ("encode",),
    "score@long": ("train@long",),
    "report": ("score@short", "score@long"),
}
STEPS = {"train@short": 300, "train@long": 1200}


def schedule(jobs: int) -> Schedule:
    return Schedule(GRAPH, jobs, length=lambda name: STEPS.get(name, 0))


def started(schedule: Schedule) -> list[str]:
    """What starts now, and runs."""
    names = []
    while name := schedule.next():
        schedule.start(name)
        names.append(name)
    return names


def test_one_after_the_other() -> None:
    one = schedule(jobs=1)
    order = []
    while names := started(one):
        assert len(names) == 1
        order += names
        one.end(names[0], well=True)
    assert order == [
        "encode", "train@long", "score@long", "train@short", "score@short", "report",
    ]  # fmt: skip
    assert one.waiting == []


def test_what_has_to_do_with_no_training_comes_before_them() -> None:
    graph = {"profile": (), "fetch": (), **GRAPH, "encode": ("fetch",)}
    graph["report"] = (*GRAPH["report"], "profile")
    two = Schedule(graph, 2, length=lambda name: STEPS.get(name, 0))
    assert started(two) == ["fetch", "profile"]
    two.end("fetch", well=True)
    assert started(two) == ["encode"]
    two.end("encode", well=True)
    two.end("profile", well=True)
    assert started(two) == ["train@long", "train@short"]

    one = Schedule(graph, 1, length=lambda name: STEPS.get(name, 0))
    order = []
    while names := started(one):
        order += names
        one.end(names[0], well=True)
    assert order[:4] == ["fetch", "encode", "profile", "train@long"]


def test_as_many_side_by_side_as_there_are_jobs() -> None:
    two = schedule(jobs=2)
    assert started(two) == ["encode"]  # all else waits for it
    two.end("encode", well=True)
    assert started(two) == ["train@long", "train@short"]
    two.end("train@short", well=True)
    assert started(two) == ["score@short"]


def test_a_failure_holds_up_what_needs_it_and_nothing_else() -> None:
    one = schedule(jobs=1)
    while names := started(one):
        one.end(names[0], well=names[0] != "train@long")
    assert one.failed == ["train@long"]
    assert one.waiting == ["score@long", "report"]
    assert "score@short" in one.done
