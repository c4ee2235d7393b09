"""A rehearsal runs a whole graph in small and leaves the project as it was."""

from __future__ import annotations

from typing import Any


def test_a_scale_is_rehearsed(clone: Any) -> None:
    before = sorted(clone.root.rglob("*"))
    printed = clone.succeed("python", "-B", "-m", "aiayn", "rehearse", "copy")
    assert "with small models, 2 of 2 runs:\n  17 stages ran, none failed\n" in printed
    assert "missing on this machine:\n  nothing\n" in printed
    assert "copy.base: 100,608 parameters, 900 steps" in printed
    assert sorted(clone.root.rglob("*")) == before
