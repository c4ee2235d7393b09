"""Names that live logging and the mirror share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aiayn import config
from aiayn.tracking.identity import metric_name, run_params


@pytest.fixture(scope="module")
def demo() -> config.Config:
    return config.load(Path(__file__).parents[2] / "params.yaml")


@pytest.mark.parametrize(
    ("column", "name"), [("loss", "train/loss"), ("dev_perplexity", "dev/perplexity")]
)
def test_metrics_are_grouped_by_split(column: str, name: str) -> None:
    assert metric_name(column) == name


def test_params_are_a_row_of_table_3_and_its_training_settings(demo: config.Config) -> None:
    params = run_params(demo, "en-de.base")
    row = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "eps_ls", "steps", "positions")
    model = demo.models["base"]
    assert [params[name] for name in row] == [str(getattr(model, name)) for name in row]
    assert params["seed"] == str(demo.runs["en-de.base"].seed)
    assert (params["source"], params["target"]) == ("en", "de")
    assert {"machine.device", "launcher", "decoding.beam", "training.batch_tokens"} <= set(params)


def test_mlflow_accepts_every_name(demo: config.Config) -> None:
    for name in run_params(demo, "en-fr.big"):
        assert re.fullmatch(r"[\w\-. /]{1,250}", name)
