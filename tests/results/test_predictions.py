"""Labels and probabilities, a line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiayn.errors import DataError
from aiayn.results import predictions
from aiayn.results.predictions import Prediction
from aiayn.results.text import write_lines

LABELS = ("negative", "positive")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    written = (
        Prediction("positive", 0.75),
        Prediction("negative", 1.0),
        Prediction("positive", 0.500001),
    )
    path = tmp_path / "test.hypotheses"
    write_lines(path, predictions.lines(written))
    assert path.read_text() == "positive\t0.750000\nnegative\t1.000000\npositive\t0.500001\n"
    assert predictions.read(path, LABELS) == written


@pytest.mark.parametrize(
    "line", ["positive", "neutral\t0.9", "positive\tnan", "positive\t1.1", "positive\t-0.1", ""]
)
def test_a_line_that_is_not_a_prediction(line: str, tmp_path: Path) -> None:
    path = tmp_path / "outputs/polarity.tiny/test.hypotheses"
    write_lines(path, ["positive\t0.9", line])
    with pytest.raises(DataError, match="line 2 is .*, not a label and its probability") as caught:
        predictions.read(path, LABELS)
    assert "dvc repro -f decode@polarity.tiny" in str(caught.value)
