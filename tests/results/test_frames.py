"""Frames have the schema whichever files exist, and every row has the values of its record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.results.golden_records import KINDS, LAYERS, SCORES

from aiayn import config
from aiayn.results.frames import Results, layers_frame, models_frame, over_seeds, scores_frame
from aiayn.results.schemas import SCHEMAS, Field, make_frame

ROOT = Path(__file__).resolve().parents[2]
SCALES = {path.parent.name: path.parent for path in ROOT.glob("reproductions/*/params.yaml")}
SCHEMA = {"name": Field("string", "of it"), "count": Field("int64", "of them")}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("frame", SCHEMAS)
def test_published_results_have_the_schema(scale: str, frame: str) -> None:
    found: pd.DataFrame = getattr(Results(SCALES[scale]), frame)
    assert {name: str(dtype) for name, dtype in found.dtypes.items()} == {
        name: field.dtype for name, field in SCHEMAS[frame].items()
    }
    assert len(found)


@pytest.mark.parametrize("frame", [name for name in SCHEMAS if name != "runs"])
def test_a_frame_without_rows_has_the_schema(tmp_path: Path, frame: str) -> None:
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    found: pd.DataFrame = getattr(Results(tmp_path), frame)
    assert [*found.columns] == [*SCHEMAS[frame]]
    assert found.empty


def test_a_run_that_was_not_trained_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    runs = Results(tmp_path).runs
    assert [*runs["run"]] == [*config.load(tmp_path / "params.yaml").runs]
    assert runs[["tokens", "seconds", "device"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "a", "count": 1, "cuont": 2}, "no such column: cuont"),
        ({"name": "a", "count": "many"}, "many"),
        ({"name": "a"}, "NoneType|NaN|nan"),
    ],
)
def test_a_row_that_does_not_fit_is_rejected(row: dict[str, Any], message: str) -> None:
    assert make_frame(SCHEMA, [{"name": "a", "count": 1}]).shape == (1, 2)
    with pytest.raises((ValueError, TypeError), match=message):
        make_frame(SCHEMA, [row])


def test_scores() -> None:
    frame = scores_frame(config.load(SCALES["genia"] / "params.yaml"), {SCORES.run: SCORES.splits})
    columns = ["run", "task", "kind", "model", "split", "test_set", "pairs"]
    assert frame[columns].drop_duplicates().to_numpy().tolist() == [
        ["parsing.small", "parsing", "parsing", "small", "dev", "trees-dev", 100]
    ]
    assert frame.set_index("metric")["value"].to_dict() == {
        "bracket_f1": 90.0,
        "exact_match": 12.34,
    }
    assert [*frame["high"].dropna()] == [91.25]


def test_layers_and_models() -> None:
    layers = layers_frame(LAYERS).set_index("quantity")
    assert layers.loc["term_flops", "value"] == 10485760
    assert layers.loc["longest_chain_slope", ["size", "value"]].tolist() == ["n", 3.0]
    assert layers.loc["path_length", "value"].tolist() == [31, 63]
    assert layers.loc["path_length", "k"].isna().tolist() == [False, True]
    models = models_frame(KINDS["models"].record).set_index("origin")
    assert models.loc["paper", ["parameters", "training_flops_target"]].tolist() == [63082496, 18]
    assert models.loc["ours", "task"] == "en-de"


def test_seeds_are_one_group_and_a_repeated_run_counts_once() -> None:
    row = {
        "run": "a", "task": "t", "kind": "translation", "model": "m", "split": "dev", "test_set": "c",
        "pairs": 9, "metric": "bleu", "signature": "",
    }  # fmt: skip
    values = [(1, 10.0), (2, 13.0), (1, 99.0)]
    rows = [{**row, "seed": seed, "value": value} for seed, value in values]
    rows.append({**row, "model": "other", "seed": 1, "value": 7.0})
    found = over_seeds(make_frame(SCHEMAS["scores"], rows)).set_index("model")
    assert found.loc["m", ["mean", "n"]].tolist() == [11.5, 2]
    assert found.loc["m", "sd"] == pytest.approx(4.5**0.5)
    assert (found.loc["other", "n"], found.loc["other"].isna()["sd"]) == (1, True)
