"""Each kind of file in a small project written by hand: reading it gives the record typed in
golden_records, and writing the record gives its bytes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.results.golden_records import ALL, GOLDEN, SCORES

from aiayn.results import paths, profiles, scores
from aiayn.validation import StrictModel


@pytest.mark.parametrize("name", ALL)
def test_reading_the_golden_file_gives_the_record(name: str) -> None:
    kind = ALL[name]
    found = kind.read(GOLDEN / kind.path)
    if isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, kind.record)
    elif isinstance(found, StrictModel):  # except for sources, which no file contains
        assert found.model_dump() == kind.record.model_dump()
        assert type(found) is type(kind.record)
    else:
        assert found == kind.record


@pytest.mark.parametrize("name", ALL)
def test_writing_the_record_gives_the_golden_bytes(name: str, tmp_path: Path) -> None:
    kind = ALL[name]
    kind.write(tmp_path / kind.path, kind.record)
    assert (tmp_path / kind.path).read_bytes() == (GOLDEN / kind.path).read_bytes()


def test_metrics_are_the_numbers_by_which_runs_are_compared(tmp_path: Path) -> None:
    path = paths.metrics("parsing.small")
    scores.write_metrics(tmp_path / path, SCORES, "bracket_f1", 61.867809)
    assert (tmp_path / path).read_bytes() == (GOLDEN / path).read_bytes()


def test_every_golden_file_has_a_test() -> None:
    files = {p.relative_to(GOLDEN) for p in GOLDEN.rglob("*") if p.is_file()}
    tested_elsewhere = {paths.metrics("parsing.small"), paths.TABLE_3}
    assert files == {kind.path for kind in ALL.values()} | tested_elsewhere


def test_values_of_the_golden_files() -> None:
    layers = profiles.read_layers(GOLDEN / paths.LAYERS_PROFILE)
    assert (
        layers.counts["recurrent"].exponents["n"].term.source
        == "layers.json:counts.recurrent.exponents.n.term"
    )
    models = profiles.read_models(GOLDEN / paths.MODELS_PROFILE)
    assert models.paper["base"].source == "models.json:paper.base"
    run_scores = scores.read(GOLDEN / paths.scores("parsing.small"))
    bracket_f1 = run_scores.splits["dev"].scores["bracket_f1"]
    assert bracket_f1.source == "parsing.small.json:dev.bracket_f1"
