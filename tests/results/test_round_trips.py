"""What is written is read back."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiayn.errors import DataError, ScoreError
from aiayn.files import write_atomically
from aiayn.results import history, paths, scores, text

finite = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(min_value=0, max_value=10**15)
lines = st.builds(
    history.Line, step=counts, epoch=finite, tokens=counts, learning_rate=finite, loss=finite,
    dev_loss=st.none() | finite, dev_perplexity=st.none() | finite,
)  # fmt: skip
percents = st.floats(min_value=0, max_value=100)
names = st.text(min_size=1, max_size=8).filter(
    lambda name: name not in ("set", *scores.SplitScores.model_fields)
)
measured = st.builds(
    scores.Score, value=percents, signature=st.text(max_size=8), low=st.none() | percents,
    high=st.none() | percents,
)  # fmt: skip
sets = st.builds(
    scores.TestSet,
    corpora=st.dictionaries(names, st.builds(text.Part, pairs=counts), min_size=1, max_size=2),
    pairs=counts,
    sha256=st.dictionaries(names, st.text(max_size=4), max_size=2),
)
splits = st.builds(
    scores.SplitScores.of, test_set=sets, scores=st.dictionaries(names, measured, max_size=3),
    counts=st.dictionaries(names, counts, max_size=2),
    lengths=st.dictionaries(names, st.builds(scores.LengthClass, sentences=counts, f1=percents), max_size=2),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@given(st.lists(lines, max_size=4))
def test_history(folder: Path, history_lines: list[history.Line]) -> None:
    path = folder / paths.history("en-de.any")
    history.write(path, history.History(tuple(history_lines)))
    assert history.read(path).lines == tuple(history_lines)


@given(
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1)
)
def test_lines(folder: Path, sentences: list[str]) -> None:
    path = paths.lines(folder / paths.text("any"), paths.DEV, "source")
    text.write_lines(path, sentences)
    assert text.read_lines(path) == tuple(sentences)


@given(st.dictionaries(names, splits, max_size=2))
def test_scores(folder: Path, scores_by_split: dict[str, scores.SplitScores]) -> None:
    """Up to the rounding to two decimals, which is idempotent."""
    path = folder / paths.scores("any.run")
    written = scores.RunScores(run="any.run", task="any", model="run", splits=scores_by_split)
    scores.write(path, written)
    once = path.read_bytes()
    read = scores.read(path)
    assert read.splits.keys() == scores_by_split.keys()
    for split, split_scores in scores_by_split.items():
        assert read.splits[split].test_set == split_scores.test_set
        assert read.splits[split].counts == split_scores.counts
        lengths = {length: group.rounded() for length, group in split_scores.lengths.items()}
        assert read.splits[split].lengths == lengths
        for name, score in split_scores.scores.items():
            read_score = read.splits[split].scores[name]
            assert read_score.model_dump() == score.rounded().model_dump()
            assert math.isclose(read_score.value, score.value, abs_tol=0.005001)
    scores.write(path, read)
    assert path.read_bytes() == once


def test_the_last_perplexity(tmp_path: Path) -> None:
    unvalidated = history.Line(step=10, epoch=0.5, tokens=100, learning_rate=0.1, loss=3.0)
    for rows in ((), (unvalidated,)):
        with pytest.raises(
            DataError, match=r"run.csv: the last line has no dev_perplexity\. .*train@run\."
        ):
            history.last_perplexity(history.History(rows), tmp_path / "run.csv")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("10,0.5,100,0.1", "line 2 has 4 cells, not 7"),
        (
            "10,0.5,100,0.1,much,,",
            "line 2: loss must be a valid number, unable to parse string as a number, not 'much'",
        ),
        ("10,0.5,100,0.1,nan,,", "line 2: loss must be a finite number, not 'nan'"),
        (
            "10,0.5,,0.1,3.0,,",
            "line 2: tokens must be a valid integer, unable to parse string as an integer, not ''",
        ),
        (
            "10.5,0.5,100,0.1,3.0,,",
            "line 2: step must be a valid integer, unable to parse string as an integer, not '10.5'",
        ),
        ('10,0.5,100,0.1,"3.0,,', "not CSV"),
    ],
)
def test_a_damaged_history(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history/en-de.base.csv"
    write_atomically(path, ",".join(history.COLUMNS) + f"\n{line}\n")
    with pytest.raises(DataError, match=message) as caught:
        history.read(path)
    assert str(caught.value).endswith("Make it again: dvc repro -f train@en-de.base.")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "the file is empty"), (b"one\ntw\xff\n", "line 2 is not UTF-8")],
)
def test_damaged_text(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "en-de" / "dev.source"
    write_atomically(path, content)
    with pytest.raises(
        DataError, match=rf"dev.source: {message}\. .*dvc repro -f download@en-de\."
    ):
        text.read_lines(path)


def test_a_number_that_is_text(tmp_path: Path) -> None:
    golden = Path(__file__).parent / "golden" / paths.scores("parsing.small")
    path = tmp_path / "parsing.small.json"
    write_atomically(path, golden.read_text(encoding="utf-8").replace("12.34", '"12.34"'))
    with pytest.raises(
        ScoreError,
        match=r"parsing.small.json: splits.dev.exact_match.value must be a valid number, not '12.34'",
    ):
        scores.read(path)
