"""The figures that explain the model, over hand-made tables."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiayn import config
from aiayn.errors import DataError
from aiayn.report.attention_figures import attention_figures, focused_head, head_figure
from aiayn.report.evidence import gather
from aiayn.report.model_figures import section

PIECES = ["▁The", "▁c", "at", "</s>"]
WRITTEN = ["<s>", "<script>"]


def write(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def maps(layers: int, heads: int) -> dict[str, Any]:
    def uniform(queries: int, keys: int) -> list[Any]:
        return [[[[1 / keys] * keys] * queries] * heads] * layers

    return {
        "run": "en-de.base", "task": "en-de", "sentence": "The cat", "translation": "<script>",
        "source": PIECES, "target": WRITTEN,
        "maps": {"encoder": uniform(4, 4), "decoder": uniform(2, 2), "cross": uniform(2, 4)},
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """illustrations/ with a table of each kind."""
    folder = tmp_path / "illustrations"
    folder.mkdir()
    square = [(a, b) for a in range(40) for b in range(40)]
    write(
        folder / "positions.csv",
        [{"position": a, "channel": b, "value": (a - b) / 40} for a, b in square],
    )
    write(
        folder / "similarity.csv",
        [{"position": a, "other": b, "similarity": (a + b) / 80} for a, b in square],
    )
    write(
        folder / "subsequent_mask.csv",
        [{"position": a, "other": b, "may_attend": int(b <= a)} for a, b in square],
    )
    steps = [
        {"d_model": d, "warmup_steps": 10, "step": s, "learning_rate": s / d}
        for d in (256, 512)
        for s in (1, 2)
    ]
    write(folder / "learning_rates.csv", steps)
    epsilons = [(eps, n) for eps in (0.0, 0.1) for n in range(3)]
    targets = [{"eps_ls": e, "piece": n, "probability": 0.5} for e, n in epsilons]
    write(folder / "smoothed_targets.csv", targets)
    penalties = [{"eps_ls": e, "confidence": n / 3, "loss": n} for e, n in epsilons]
    write(folder / "smoothing_penalty.csv", penalties)
    (folder / "attention.json").write_text(json.dumps(maps(2, 3)))
    heads = [
        {"attention": k, "layer": 1, "head": 1, "distance": "" if k == "cross" else 2, "entropy": 1}
        for k in ("encoder", "decoder", "cross")
    ]
    write(folder / "heads.csv", heads)
    return folder


def test_nothing_is_shown_of_an_outdated_model(
    folder: Path, toy: dict[str, Any], load: Callable[[dict[str, Any]], config.Config]
) -> None:
    load(toy)
    found = gather(folder.parent)
    for evidence in (
        replace(found, outdated={"en-de.base": ["training"]}),
        replace(found, unfinished={"en-de.base": "killed"}),
        replace(found, unfinished={"illustrate": "killed"}),
    ):
        assert section(evidence).figures == ()


@pytest.mark.slow
def test_each_table_is_a_figure_with_its_rows_as_csv(
    folder: Path, toy: dict[str, Any], load: Callable[[dict[str, Any]], config.Config]
) -> None:
    load(toy)
    figures = {figure.name: figure for figure in section(gather(folder.parent)).figures}
    assert list(figures) == [
        "attention_encoder", "attention_decoder", "attention_cross", "heads", "positions",
        "position_similarity", "subsequent_mask", "learning_rates", "smoothed_targets",
        "smoothing_penalty",
    ]  # fmt: skip
    for figure in figures.values():
        assert ET.fromstring(figure.svg).tag.endswith("svg")
        assert not figure.data.empty
    assert figures["learning_rates"].data["learning_rate"][0] == 1 / 256
    assert "d_model 256, 10 warm-up steps" in figures["learning_rates"].svg


def test_attention_names_its_pieces_heads_and_sentence(folder: Path) -> None:
    encoder, _, cross = attention_figures(folder / "attention.json")
    texts = [node.text for node in ET.fromstring(cross.svg).iter() if node.tag.endswith("text")]
    assert {"layer 2, head 3", "The", "c", "at", "</s>", "<s>", "<script>"} <= set(texts)
    assert "<script" not in cross.svg
    assert "en-de.base reading “The cat”" in cross.caption
    assert len(encoder.data) == 2 * 3 * 4 * 4
    assert len(cross.data) == 2 * 3 * 2 * 4
    assert cross.data.iloc[-1].to_dict() == {
        "layer": 2, "head": 3, "query": 1, "query_piece": "<script>", "key": 3,
        "key_piece": "</s>", "weight": 0.25,
    }  # fmt: skip


def test_many_heads_take_several_rows(folder: Path) -> None:
    (folder / "attention.json").write_text(json.dumps(maps(1, 9)))
    svg = next(iter(attention_figures(folder / "attention.json"))).svg
    assert [svg.count(f">layer 1, head {head}<") for head in (1, 9, 10)] == [1, 1, 0]


def test_the_enlarged_head_is_the_most_focused(folder: Path) -> None:
    attention = maps(2, 3)
    layer = [[list(row) for row in head] for head in attention["maps"]["cross"][1]]
    layer[1] = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    attention["maps"]["cross"] = [attention["maps"]["cross"][0], layer]
    (folder / "attention.json").write_text(json.dumps(attention))
    head = focused_head(folder / "attention.json")
    assert head is not None
    assert (head.run, head.layer, head.number) == ("en-de.base", 2, 2)
    assert (head.queries, head.keys) == (["<s>", "<script>"], ["The", "c", "at", "</s>"])
    assert [list(row) for row in head.weights] == layer[1]
    assert focused_head(folder / "nothing.json") is None


def test_missing_files_are_not_drawn(tmp_path: Path) -> None:
    assert not list(attention_figures(tmp_path / "attention.json"))
    assert not list(head_figure(tmp_path / "heads.csv"))


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"source": [], "target": []}'])
def test_a_broken_file_is_a_one_line_error(folder: Path, content: str) -> None:
    (folder / "attention.json").write_text(content)
    with pytest.raises(DataError, match=r"dvc repro -f illustrate") as caught:
        list(attention_figures(folder / "attention.json"))
    assert "\n" not in str(caught.value)


def test_a_truncated_line_is_a_one_line_error(folder: Path) -> None:
    (folder / "heads.csv").write_text("attention,layer,head,distance,entropy\nencoder,1\n")
    with pytest.raises(DataError, match=r"heads\.csv: line 2 has an empty cell, or is truncated"):
        list(head_figure(folder / "heads.csv"))
