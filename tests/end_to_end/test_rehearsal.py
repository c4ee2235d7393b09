"""A rehearsal runs a whole graph in small and leaves the project as it was."""

from __future__ import annotations

from typing import Any


def test_a_scale_is_rehearsed(clone: Any, tiny_scale: str) -> None:
    (clone.root / "conf/scale/tiny.yaml").write_text(tiny_scale)
    before = sorted(clone.root.rglob("*"))
    printed = clone.succeed("python", "-B", "-m", "aiayn.rehearsal.rehearse", "tiny")
    assert "in small, with 2 of 2 runs:\n  16 stages ran, none failed\n" in printed
    assert "this machine lacks:\n  nothing that was looked for\n" in printed
    assert "en-de.base: " in printed
    assert sorted(clone.root.rglob("*")) == before
