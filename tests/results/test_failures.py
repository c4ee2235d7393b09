"""The file of what is unfinished, written and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiayn.errors import DataError
from aiayn.results import failures

REASON = "download@parsing: DataError: no folder"


def test_the_file_exists_while_something_is_unfinished(tmp_path: Path) -> None:
    file = tmp_path / "logs/failures.json"
    failures.write(file, {"parsing.parser": REASON})
    assert failures.read(file) == {"parsing.parser": REASON}
    failures.write(file, {})
    assert not file.exists()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert failures.read(None) == {}
    with pytest.raises(DataError, match="there is no such file"):
        failures.read(tmp_path / "failures.json")
    (tmp_path / "failures.json").write_text("[]")
    with pytest.raises(DataError, match=r"failures\.json"):
        failures.read(tmp_path / "failures.json")
