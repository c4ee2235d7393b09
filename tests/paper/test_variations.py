"""Table 3's rows as models: the paper's at wmt14_table3, with its ratios to a smaller base elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from dvc.utils.hydra import compose_and_dump

from aiayn import config
from aiayn.config import Config
from aiayn.paper import table_3
from aiayn.report.table_3_records import model_name

CONF = Path(__file__).parents[2] / "conf"
PAPER = table_3.ROWS
BASE = dict(PAPER["base"].columns)
VARIATIONS = [row for row, printed in PAPER.items() if len(printed.group) == 1]
SCALED = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop")
AS_PRINTED = ("eps_ls", "positions")


@cache
def composed(scale: str) -> Config:
    with TemporaryDirectory() as folder:
        file = Path(folder, "params.yaml")
        compose_and_dump(str(file), str(CONF), None, "config", "", [f"scale={scale}"])
        return config.load(file)


def test_the_paper_varies_its_base_in_eighteen_rows() -> None:
    groups = [PAPER[row].group for row in VARIATIONS]
    assert {g: groups.count(g) for g in groups} == {"A": 4, "B": 2, "C": 7, "D": 4, "E": 1}
    assert [row for row in PAPER if row not in VARIATIONS] == ["base", "big"]


@pytest.mark.parametrize("row", PAPER)
def test_at_wmt14_a_row_is_base_plus_exactly_the_printed_cells(row: str) -> None:
    model = composed("wmt14_table3").models[row]
    for column, printed in (BASE | dict(PAPER[row].columns)).items():
        value = getattr(model, column)
        assert value == (printed.text if isinstance(value, str) else printed.value), column


@pytest.mark.parametrize("row", [*VARIATIONS, "big"])
def test_at_multi30k_a_row_keeps_the_papers_ratios_to_base(row: str) -> None:
    params = composed("multi30k")
    ours = params.models[row]
    base = params.models[params.variations.base]
    columns = {**BASE, **PAPER[row].columns}
    for column in SCALED:
        ratio = columns[column].value / BASE[column].value
        assert getattr(ours, column) == pytest.approx(ratio * getattr(base, column)), column
    for column in AS_PRINTED:
        assert str(getattr(ours, column)) == columns[column].text, column
    if row in VARIATIONS:
        assert ours.steps == base.steps


@pytest.mark.parametrize("scale", ["multi30k", "wmt14_table3"])
def test_every_row_is_run_on_en_de_and_never_averaged(scale: str) -> None:
    """Section 6.2: the development set, no checkpoint averaging."""
    params = composed(scale)
    runs = {run.model: name for name, run in params.runs.items() if run.task == "en-de"}
    assert params.variations.task == "en-de"
    assert {model_name(params, row) for row in (*VARIATIONS, "base")} <= runs.keys()
    for row in VARIATIONS:
        assert params.models[row].average == 1
        assert params.splits_of(runs[row]) == ("dev",)
