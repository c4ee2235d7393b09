"""Rows of a sweep: rows of params.yaml with one column varied, for every seed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aiayn import config
from aiayn.commands.repro.sweep import add_rows
from aiayn.errors import ConfigError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def params(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "reproductions/demo/params.yaml", tmp_path)
    return tmp_path / "params.yaml"


def test_a_row_for_every_value_and_seed(params: Path) -> None:
    before = config.load(params)
    assert add_rows(params, "models.base.P_drop=0.0, 0.2") == [
        f"{task}.base_P_drop_{value}{seed}"
        for value in ("0_0", "0_2")
        for task, seed in (("en-de", ""), ("en-fr", ""), ("en-de", "-s2"), ("en-de", "-s3"))
    ]
    after = config.load(params)
    assert after.models["base_P_drop_0_2"] == before.models["base"].replace(P_drop=0.2)
    assert after.run("en-de.base_P_drop_0_2-s3").seed == 3
    assert (after.models["base"], after.tested) == (before.models["base"], before.tested)
    assert {run: after.runs[run] for run in before.runs} == dict(before.runs)


def test_a_params_yaml_without_parameters(params: Path) -> None:
    params.write_text("{}")
    with pytest.raises(ConfigError, match="is missing"):
        add_rows(params, "base.P_drop=0.1")


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ("P_drop=0.1", "is not a sweep. Write MODEL.COLUMN=VALUE,VALUE"),
        ("E_leaned.P_drop=0.1", "there is no model 'E_leaned'. Did you mean E_learned?"),
        ("base.dropout=0.1", "models.base_dropout_0_1.dropout"),
        ("base.P_drop=much", "models.base_P_drop_much.P_drop"),
        ("base.positions=learned/x", "invalid name"),
    ],
)
def test_an_invalid_sweep_changes_nothing(params: Path, sweep: str, message: str) -> None:
    before = params.read_bytes()
    with pytest.raises(ConfigError) as caught:
        add_rows(params, sweep)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert params.read_bytes() == before
