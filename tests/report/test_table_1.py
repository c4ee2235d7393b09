"""Table 1's section over a generated profile."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from aiayn.profiling.layer_types import LAYER_TYPES
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.table_1 import FIELDS, formula, section
from aiayn.report.table_1_figures import wall_time
from aiayn.report.tables import Cell, latex, markdown
from aiayn.report.verdict import Verdict
from aiayn.results.metadata import LayerTimes, ProfilingMetadata
from aiayn.results.profiles import LayersProfile, read_layers

Json = dict[str, Any]


def fit(value: float, error: float = 0.0) -> Json:
    return {"value": value, "standard_error": error}


def chain(slope: int) -> Json:
    operations = {f"n{n}": slope * n + 3 for n in (4, 8)}
    return {"operations": operations, "intercept": fit(3.0), "slope": fit(float(slope))}


def read(data: Json, folder: Path) -> LayersProfile:
    file = folder / "layers.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return read_layers(file)


def cells(section: Section) -> Iterator[Cell]:
    for table in section.tables:
        for row in table.rows:
            yield from row.cells
    yield from (entry.ours for entry in section.entries if entry.ours)


def verdicts(section: Section) -> dict[str, Verdict]:
    return {entry.what: entry.verdict for entry in section.entries}


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the figures, which take most of a section's time."""
    monkeypatch.setattr("aiayn.report.table_1.table_1_figures", lambda *_: ())


@pytest.mark.usefixtures("no_figures")
def test_every_cell_of_the_paper_is_judged(
    layers_json: Json, tmp_path: Path, evidence: Callable[..., Evidence]
) -> None:
    page_section = section(evidence(layers=read(layers_json, tmp_path)))
    assert len(page_section.entries) == 4 * 3
    found = verdicts(page_section)
    by_construction = {
        what for what, verdict in found.items() if verdict is Verdict.BY_CONSTRUCTION
    }
    assert {what.partition(": ")[2] for what in by_construction} == {"complexity per layer"}
    assert len(by_construction) == 4
    assert {found[what] for what in found if what not in by_construction} == {Verdict.REPRODUCED}
    printed = {entry.what: entry.paper for entry in page_section.entries}
    assert printed["Convolutional: complexity per layer"] == "O(k · n · d²)"
    assert not any(entry.of_training for entry in page_section.entries)


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    ("key_path", "wrong", "what"),
    [
        (("counts", "self_attention", "exponents", "n", "term"), fit(1.97), "Self-Attention: complexity per layer"),
        (("counts", "restricted", "exponents", "r", "term"), fit(0.0), "Self-Attention (restricted): complexity per layer"),
        (("chains", "convolutional"), chain(1), "Convolutional: sequential operations"),
        (("chains", "recurrent"), chain(0), "Recurrent: sequential operations"),
        (("paths", "self_attention", "points", "n16", "layers"), 2, "Self-Attention: maximum path length"),
        (("paths", "recurrent", "points", "n8", "layers"), 7, "Recurrent: maximum path length"),
        (("paths", "restricted", "points", "n16", "layers"), 14, "Self-Attention (restricted): maximum path length"),
        (("paths", "dilated", "points", "n16", "layers"), 4, "Convolutional: maximum path length"),
    ],
)  # fmt: skip
def test_only_a_wrong_count_differs(
    layers_json: Json,
    tmp_path: Path,
    key_path: tuple[str, ...],
    wrong: Json,
    what: str,
    evidence: Callable[..., Evidence],
) -> None:
    *folders, last = key_path
    parent = layers_json
    for name in folders:
        parent = parent[name]
    parent[last] = wrong
    found = verdicts(section(evidence(layers=read(layers_json, tmp_path))))
    assert [name for name, verdict in found.items() if verdict is Verdict.DIFFERS] == [what]


@pytest.mark.usefixtures("no_figures")
def test_a_path_is_judged_by_the_layer_not_by_how_it_grows(
    layers_json: Json, tmp_path: Path, evidence: Callable[..., Evidence]
) -> None:
    """An exponent within 0.2 was once enough; now one layer too many at one size differs."""
    layers_json["paths"]["recurrent"]["exponents"]["n"] = fit(1.0)
    layers_json["paths"]["recurrent"]["points"]["n16"]["layers"] = 17
    page_section = section(evidence(layers=read(layers_json, tmp_path)))
    assert verdicts(page_section)["Recurrent: maximum path length"] is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("kind", "n", "size", "layers"),
    [
        ("self_attention", 1000, 0, 1),
        ("recurrent", 5, 0, 5),
        ("convolutional", 5, 3, 4),  # one position per layer, over four
        ("convolutional", 6, 5, 3),  # two per layer, over five
        ("dilated", 9, 3, 2),  # 8 is 22 to base 3
        ("dilated", 10, 3, 3),  # 9 is 100
        ("dilated", 244, 3, 6),  # 243 = 3^5, where a rounded logarithm may fall short
        ("restricted", 7, 4, 3),
        ("restricted", 8, 4, 4),
    ],
)
def test_layers_are_counted_from_the_definition(kind: str, n: int, size: int, layers: int) -> None:
    path = LAYER_TYPES[kind].path
    assert path is not None
    assert path.layers(n, size) == layers


@pytest.mark.usefixtures("no_figures")
def test_every_number_is_at_its_source(
    layers_json: Json, tmp_path: Path, evidence: Callable[..., Evidence]
) -> None:
    page_section = section(evidence(layers=read(layers_json, tmp_path)))
    checked = 0
    for cell in cells(page_section):
        if not cell.sources:
            continue
        texts = re.findall(r"−?\d[\d,]*(?:\.\d+)?", f"{cell.text} {cell.detail}")
        assert len(texts) == len(cell.sources), cell
        for text, source in zip(texts, cell.sources, strict=True):
            file, _, keys = source.partition(":")
            value: Any = json.loads((tmp_path / file).read_text())
            for key in keys.split("."):
                value = value[key]
            number = float(text.replace("−", "-").replace(",", ""))
            assert number == pytest.approx(value, abs=0.005)
            checked += 1
    # exponents and errors of four layer types; one operation, or two numbers of a line
    assert checked > 20


def test_without_a_profile_there_are_only_formulas(evidence: Callable[..., Evidence]) -> None:
    page_section = section(evidence())
    assert set(verdicts(page_section).values()) == {Verdict.NOT_RUN}
    assert not [cell for cell in cells(page_section) if cell.sources]
    assert len(page_section.tables) == 1
    assert not page_section.figures
    assert len(page_section.records) == 12


@pytest.mark.usefixtures("no_figures")
def test_tables_render(
    layers_json: Json, tmp_path: Path, evidence: Callable[..., Evidence]
) -> None:
    page_section = section(evidence(layers=read(layers_json, tmp_path)))
    assert "n^2.00 · d^1.00" in markdown(page_section.tables)
    assert r"\begin{tabular}" in latex(page_section.tables)
    assert tuple(pd.DataFrame(page_section.records)) == FIELDS


def test_figures_are_reproducible_and_contain_no_times(
    layers_json: Json, tmp_path: Path, evidence: Callable[..., Evidence]
) -> None:
    profile = read(layers_json, tmp_path)
    first, second = (
        section(evidence(layers=profile)).figures,
        section(evidence(layers=profile)).figures,
    )
    assert [figure.svg for figure in first] == [figure.svg for figure in second]
    names = ["flops_n", "flops_d", "path_length", "reachability"]
    assert [figure.name for figure in first] == [f"table_1_{name}" for name in names]
    for figure in first:
        assert ET.fromstring(figure.svg).tag.endswith("svg")
        assert not figure.data.empty


def test_times_have_a_separate_figure() -> None:
    times = {
        f"n{n}": LayerTimes(
            n=n,
            forward_seconds=n / 2e4,
            forward_bytes=n,
            training_seconds=n / 1e4,
            training_bytes=n,
        )
        for n in (32, 64)
    }
    profiling = ProfilingMetadata(
        d=256, device="cpu: 2 x Some CPU", threads=1, seconds=1.0, host="h", python="3", versions={},
        commit="unknown", layers={"lstm": times},
    )  # fmt: skip
    figure = wall_time(profiling)
    assert "Some CPU" in figure.caption
    assert list(figure.data["training_seconds"]) == [0.0032, 0.0064]


def test_formulas_are_read_as_text() -> None:
    assert formula(r"O(n^2 \cdot d)") == "O(n² · d)"
    assert formula(r"O(\log_k(n))") == "O(log_k(n))"
