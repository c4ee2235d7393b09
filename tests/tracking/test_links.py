"""What `make ui` prints before MLflow starts: the tables' links, or why there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn import config
from aiayn.tracking import links
from aiayn.tracking.store import ARTIFACTS, DATABASE
from aiayn.tracking.sync import sync


def test_a_table_with_runs_has_a_link(
    root: Path,
    params: config.Config,
    write_results: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_results("en-de.base")
    sync(params, root)
    links.main()
    scale, *found = capsys.readouterr().out.splitlines()
    assert scale == "aiayn/demo:"
    assert any(line.startswith("  Table 2: http://127.0.0.1:5000/#/experiments/") for line in found)
    assert not any(line.startswith("  Table 4: ") for line in found)


def test_a_store_of_another_folder_has_none(
    root: Path,
    params: config.Config,
    write_results: Callable[..., None],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_results("en-de.base")
    sync(params, root)
    copy = tmp_path_factory.mktemp("copy")
    (root / DATABASE).rename(copy / DATABASE)
    monkeypatch.chdir(copy)
    with pytest.raises(SystemExit) as ended:
        links.main()
    assert ended.value.code == (
        "StoreError: mlflow.db was copied from another folder and would write artifacts to "
        f"{(root / ARTIFACTS / 'aiayn/demo').as_uri()}. Remove mlflow.db; make sync writes it again"
    )


def test_without_a_store_none_is_made(root: Path) -> None:
    (root / DATABASE).unlink()
    with pytest.raises(SystemExit) as ended:
        links.main()
    expected = f"StoreError: {root / DATABASE}: no such file. make repro, or make sync, writes it."
    assert ended.value.code == expected
    assert not (root / DATABASE).exists()
