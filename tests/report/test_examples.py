from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn import config
from aiayn.errors import DataError
from aiayn.report.examples import read_examples

Project = Callable[..., Path]


@pytest.fixture
def folder(
    project: Project, toy: dict[str, Any], scores_file: Callable[..., dict[str, Any]]
) -> Path:
    return project(
        toy, {run: scores_file(run, "toy-test", 40, 50.0) for run in ("en-de.base", "en-de.big")}
    )


def read(folder: Path) -> list[Any]:
    params = config.load(folder / "params.yaml")
    return list(read_examples(params, folder / "data/text", folder / "outputs"))


def test_lines_stay_together_and_are_spread_over_the_set(folder: Path) -> None:
    german, french = read(folder)
    assert (german.task, german.target_language, german.corpus) == ("en-de", "de", "toy-test")
    assert [example.number for example in german.examples] == [6, 16, 26, 36]
    for example in german.examples:
        assert example.source == f"source en {example.number}"
        assert example.reference == f"target de {example.number}"
        assert example.hypotheses == {
            run: f"hypothesis of {run} {example.number}" for run in ("en-de.base", "en-de.big")
        }
    assert all(not example.hypotheses for example in french.examples)


def test_only_a_newline_parts_lines(folder: Path) -> None:
    path = folder / "outputs/en-de.base/test.hypotheses"
    path.write_bytes("".join(f"a\u2028b\x85c\x0bd {n}\n" for n in range(1, 41)).encode())
    assert read(folder)[0].examples[0].hypotheses["en-de.base"] == "a\u2028b\x85c\x0bd 6"


def test_a_small_set_is_shown_whole(folder: Path) -> None:
    for path in (*folder.glob("data/text/*/test.*"), *folder.glob("outputs/*/test.*")):
        path.write_text("one\n\n", encoding="utf-8")
    assert [example.number for example in read(folder)[0].examples] == [1, 2]


def test_unequal_line_counts_are_one_clear_line(folder: Path) -> None:
    (folder / "outputs/en-de.big/test.hypotheses").write_text("one line\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"test\.source has 40 lines and .*en-de\.big has 1\."
    ) as caught:
        read(folder)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8_are_one_clear_line(folder: Path) -> None:
    (folder / "data/text/en-fr/test.target").write_bytes(b"\xff\n" * 40)
    with pytest.raises(DataError, match=r"en-fr/test\.target: not UTF-8"):
        read(folder)


def test_without_text_there_are_no_examples(folder: Path) -> None:
    (folder / "data/text/en-de/test.source").unlink()
    assert [task.task for task in read(folder)] == ["en-fr"]
