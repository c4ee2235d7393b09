"""`aiayn rehearse` where it cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiayn.commands.command_line import main


def test_outside_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["rehearse", "demo"])
    expected = "ConfigError: conf: there is no such folder. Run from the project's folder."
    assert ended.value.code == expected
    assert not [*tmp_path.iterdir()]
