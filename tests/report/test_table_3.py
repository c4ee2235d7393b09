"""Table 3 over hand-made results: rows, moves, records, figures, and where each number stands."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.errors import ScoreError
from aiayn.report.evidence import Evidence, gather
from aiayn.report.section import Section
from aiayn.report.table_3 import Move, section
from aiayn.report.table_3_figures import varied_alone
from aiayn.report.tables import Cell, Row
from aiayn.report.variations import read_variations
from aiayn.report.verdict import Verdict

SMALL = {
    "N": 3, "d_model": 64, "d_ff": 256, "h": 8, "P_drop": 0.03, "eps_ls": 0.1, "steps": 350,
    "positions": "sinusoid", "average": 1, "checkpoint_steps": 20,
}  # fmt: skip
MODELS = {
    "small": SMALL,
    "A_h1": {**SMALL, "h": 1, "d_k": 64, "d_v": 64},
    "A_h16": {**SMALL, "h": 16, "d_k": 4, "d_v": 4},
    "B_dk16": {**SMALL, "d_k": 2},
    "C_N2": {**SMALL, "N": 1},
    "D_drop00": {**SMALL, "P_drop": 0.0},
    "D_smooth00": {**SMALL, "eps_ls": 0.0},
    "A_h2": {**SMALL, "h": 2},
}
# BLEU and p-value of one seed; the paper's BLEU less its base's in the remark
ONE_SEED = {
    "small": (30.0, None),
    "A_h1": (28.0, 0.001),  # -0.9
    "A_h16": (33.0, 0.001),  # 0
    "B_dk16": (31.5, 0.02),  # -0.7
    "C_N2": (29.9, 0.4),  # -2.1
    "D_drop00": (29.0, 0.05),  # -1.2; at the threshold is not beyond it
    "A_h2": (31.0, 0.01),
}

Make = Callable[..., Evidence]


def measured(bleu: float, p_value: float | None, name: str) -> dict[str, Any]:
    test = {} if p_value is None else {"difference": bleu - 30, "p_value": p_value}
    seed = {"run": f"en-de.{name}", "perplexity": 2 + bleu / 100, "bleu": bleu, **test}
    return {
        "perplexity": {"mean": 2 + bleu / 100},
        "bleu": {"mean": bleu},
        "seeds": {"1": seed},
    }


def over_seeds(name: str, *bleu: float) -> dict[str, Any]:
    """As compare writes it: mean and sample deviation."""
    mean = sum(bleu) / len(bleu)
    sd = (sum((value - mean) ** 2 for value in bleu) / (len(bleu) - 1)) ** 0.5
    return {
        "perplexity": {"mean": 3.25, "sd": 0.125},
        "bleu": {"mean": round(mean, 4), "sd": round(sd, 4)},
        "seeds": {
            str(n): {"run": f"en-de.{name}{n}", "perplexity": 3.0, "bleu": value, "p_value": 0.9}
            for n, value in enumerate(bleu, 1)
        },
    }


def cost(parameters: int) -> dict[str, Any]:
    sides = {"source": 1, "target": 1}
    return {
        "vocabulary": 100, "parameters": parameters, "forward_flops": sides,
        "training_flops": sides,
    }  # fmt: skip


@pytest.fixture
def make(tmp_path: Path, toy: dict[str, Any]) -> Make:
    """The evidence of a project whose table 3 is these entries; None: nothing has run."""

    def gathered(entries: dict[str, Any] | None) -> Evidence:
        params = {
            **toy,
            "models": {**toy["models"], **MODELS},
            "runs": {
                f"en-de.{name}": {"task": "en-de", "model": name, "seed": 1} for name in MODELS
            },
            "tested": [],
            "variations": {"task": "en-de", "base": "small"},
            "illustrations": {"run": "en-de.small", "sentence": None},
        }
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
        if entries is not None:
            found = {
                "task": "en-de", "base": "small", "split": "dev", "signature": "hand-made",
                "set": {"corpora": {"toy-dev": {}}, "pairs": 40}, "models": entries,
            }  # fmt: skip
            profile = {
                "sentence_pieces": 30,
                "models": {
                    name: {"en-de": cost(250_000 + 10_000 * n)} for n, name in enumerate(MODELS)
                },
                "paper": {
                    row: cost(63_000_000 if row == "base" else 34_000_000)
                    for row in ("base", "C_N2", "A_h1")
                },
            }
            for name, data in (("comparisons/table_3", found), ("profiles/models", profile)):
                path = tmp_path / f"{name}.json"
                path.parent.mkdir(exist_ok=True)
                path.write_text(json.dumps(data))
        return gather(tmp_path)

    return gathered


@pytest.fixture
def one_seed(make: Make) -> Evidence:
    return make({name: measured(*values, name) for name, values in ONE_SEED.items()})


def rows(made: Section) -> dict[str, Row]:
    """Rows by their first cell; of the paper's, which repeat it, the first."""
    found: dict[str, Row] = {}
    for row in made.tables[0].rows:
        found.setdefault(row.cells[0].text, row)
    return found


def moves(made: Section) -> dict[str, str]:
    return {
        name.removeprefix("ours (").removesuffix(")"): row.cells[-1].text
        for name, row in rows(made).items()
        if name.startswith("ours")
    }


def test_every_row_of_the_paper_stands_with_ours_beneath(one_seed: Evidence) -> None:
    made = section(one_seed)
    (table,) = made.tables
    assert sum(row.tone == "paper" for row in table.rows) == len(one_seed.paper.table_3) == 20
    assert {sum(cell.span for cell in row.cells) for row in table.rows} == {len(table.headings)}
    assert len(table.alignment) == len(table.headings)
    names = [row.cells[0].text for row in table.rows]
    assert names[:4] == ["base", "ours (small)", "(A)", "ours (A_h1)"]
    # rows of our own come last
    assert names[-2:] == ["ours (big)", "ours (A_h2)"]
    by_heading = dict(zip(table.headings, rows(made)["ours (A_h1)"].cells, strict=True))
    expected = {"h": "1", "d_k": "64", "P_drop": "0.03", "steps": "350", "PPL": "2.28"}
    assert {heading: by_heading[heading].text for heading in expected} == expected
    assert by_heading["BLEU"] == Cell(
        "28.00", sources=("table_3.json:models.A_h1.bleu.mean",), run="en-de.A_h1"
    )
    printed = dict(zip(table.headings, rows(made)["base"].cells, strict=True))
    assert (printed["PPL"].text, printed["BLEU"].text) == ("4.92", "25.8")
    assert (printed["params ×10⁶"].text, printed["×10⁶ at the paper's size"].text) == (
        "65",
        "63.00",
    )


def test_moves_of_one_seed(one_seed: Evidence) -> None:
    assert moves(section(one_seed)) == {
        "small": Move.NONE.value,
        "A_h1": Move.SAME.value,
        "A_h16": Move.PAPER_EQUAL.value,
        "B_dk16": Move.OPPOSITE.value,
        "C_N2": Move.NOISE.value,
        "D_drop00": Move.NOISE.value,
        "D_smooth00": "",
        "big": "",
        "A_h2": Move.NONE.value,
    }


def test_equal_scores_do_not_move_whatever_the_test_says(make: Make) -> None:
    entries = {"small": measured(0.0, None, "small"), "C_N2": measured(0.0, 0.001, "C_N2")}
    assert moves(section(make(entries)))["C_N2"] == Move.NOISE.value


def test_moves_of_several_seeds_are_beyond_two_standard_errors(make: Make) -> None:
    """Both have a standard error of sqrt(0.5 / 2) = 0.5, the difference one of sqrt(0.5)."""
    seeds = {
        "small": over_seeds("small", 29.5, 30.5),
        "A_h1": over_seeds("A_h1", 28.0, 29.0),  # 1.5 lower: beyond 2 * 0.707
        "B_dk16": over_seeds("B_dk16", 30.8, 31.8),  # 1.3 higher: not beyond
        "C_N2": over_seeds("C_N2", 31.0, 32.0),  # 1.5 higher, the paper's 2.1 lower
    }
    made = section(make(seeds))
    said = moves(made)
    assert [said[name] for name in ("A_h1", "B_dk16", "C_N2")] == [
        Move.SAME.value, Move.NOISE.value, Move.OPPOSITE.value,
    ]  # fmt: skip
    cell = rows(made)["ours (A_h1)"].cells[12]
    assert (cell.text, cell.detail) == ("28.50", "± 0.71")
    assert cell.sources == (
        "table_3.json:models.A_h1.bleu.mean",
        "table_3.json:models.A_h1.bleu.sd",
    )
    ours = {line["model"]: line for line in made.records if line["origin"] == "ours"}
    assert ours["A_h1"]["runs"] == "en-de.A_h11 en-de.A_h12"
    assert ours["A_h1"]["bleu_sd"] == "0.7071"
    assert ours["A_h1"]["bleu_difference"] == "−1.50"


def test_every_number_of_ours_stands_where_it_says(one_seed: Evidence) -> None:
    files = {path.name: json.loads(path.read_text()) for path in one_seed.root.glob("*/*.json")}
    count = 0
    for row in section(one_seed).tables[0].rows:
        for cell in row.cells:
            if not cell.sources:
                continue
            numbers = re.findall(r"\d+\.\d+", f"{cell.text} {cell.detail}")
            for number, source in zip(numbers, cell.sources, strict=True):
                name, _, keys = source.partition(":")
                value: Any = files[name]
                for key in keys.split("."):
                    value = value[key]
                assert float(number) == pytest.approx(
                    value / 1e6 if keys.endswith("parameters") else value, abs=0.005
                )
                count += 1
    # perplexity, BLEU and parameters of ours; parameters of the paper's rows that were counted
    assert count == 3 * len(ONE_SEED) + 3


def test_records_are_the_tables_lines(one_seed: Evidence) -> None:
    records = section(one_seed).records
    assert len({tuple(line) for line in records}) == 1
    assert sum(line["origin"] == "paper" for line in records) == 20
    ours = {line["model"]: line for line in records if line["origin"] == "ours"}
    assert list(ours) == ["small", "A_h1", "A_h16", "B_dk16", "C_N2", "D_drop00", "A_h2"]
    assert ours["A_h2"]["group"] == "own"
    expected = {"row": "A_h1", "bleu": "28.0", "p_value": "0.001", "moves": Move.SAME.value}
    assert {key: ours["A_h1"][key] for key in expected} == expected
    assert (ours["small"]["bleu_difference"], ours["small"]["p_value"]) == ("", "")


def test_nothing_has_run(make: Make) -> None:
    made = section(make(None))
    assert {row.tone for row in made.tables[0].rows} == {"paper", ""}
    assert rows(made)["ours (C_N2)"].cells[11] == Cell("not run", span=2)
    assert {line["origin"] for line in made.records} == {"paper"}
    assert made.figures == ()
    assert {finding.verdict for finding in made.findings} == {Verdict.NOT_RUN}


def test_no_verdict_on_another_text(one_seed: Evidence) -> None:
    findings = section(one_seed).findings
    assert len(findings) == 2 * 20  # BLEU and perplexity
    assert {(finding.verdict, finding.ours) for finding in findings} == {(Verdict.NOT_RUN, None)}


def test_figures_place_each_row_by_what_it_varies(one_seed: Evidence) -> None:
    figures = {figure.name: figure for figure in section(one_seed).figures}
    assert list(figures) == ["table_3_bleu", "table_3_perplexity"]
    for figure in figures.values():
        assert ET.fromstring(figure.svg).tag == "{http://www.w3.org/2000/svg}svg"
        assert len({tuple(line) for line in figure.records}) == 1
    records = figures["table_3_bleu"].records
    ours = {
        (line["varied"], line["row"]): (line["x"], line["bleu"], line["mark"])
        for line in records
        if line["origin"] == "ours"
    }
    assert ours == {
        ("parameters", "small"): ("0.25", "30", "base"),
        ("parameters", "C_N2"): ("0.29", "29.9", ""),
        ("h", "small"): ("8", "30", "base"),
        ("h", "A_h1"): ("1", "28", ""),
        ("h", "A_h16"): ("16", "33", ""),
        ("h", "A_h2"): ("2", "31", "own"),
        ("d_k", "small"): ("8", "30", "base"),
        ("d_k", "B_dk16"): ("2", "31.5", ""),
        ("P_drop", "small"): ("0.03", "30", "base"),
        ("P_drop", "D_drop00"): ("0", "29", ""),
        ("eps_ls", "small"): ("0.1", "30", "base"),
    }
    paper = [line for line in records if line["origin"] == "paper"]
    of_heads = {line["row"]: (line["x"], line["bleu"]) for line in paper if line["varied"] == "h"}
    assert of_heads == {
        "base": ("8", "25.8"), "A_h1": ("1", "24.9"), "A_h4": ("4", "25.5"),
        "A_h16": ("16", "25.8"), "A_h32": ("32", "25.4"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "panel"),
    [
        ({"h", "d_k", "d_v"}, "h"),
        ({"h", "d_k", "d_v", "N"}, "parameters"),
        ({"d_k"}, "d_k"),
        ({"d_k", "d_v"}, "parameters"),
        ({"eps_ls"}, "eps_ls"),
        ({"positions"}, "parameters"),
        (set(), "parameters"),
    ],
)
def test_what_a_row_varies(changed: set[str], panel: str) -> None:
    assert varied_alone(changed) == panel


def test_a_base_that_the_comparison_does_not_know(one_seed: Evidence) -> None:
    stale = replace(one_seed.config, variations=replace(one_seed.config.variations, base="big"))
    with pytest.raises(ScoreError, match="other parameters than params.yaml. Make it again"):
        section(replace(one_seed, config=stale))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"task": "en-de"}', "KeyError: 'base'"),
        ('{"models": {"small": {"bleu": 3}}, "task": 1, "base": 2, "signature": 3, "set": 4}', ""),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "table_3.json"
    path.write_text(content)
    with pytest.raises(ScoreError) as error:
        read_variations(path)
    assert str(error.value).startswith(f"{path}: not a comparison ({said}")
    assert str(error.value).endswith("Make it again: dvc repro -f compare.")


def test_a_base_without_an_entry_is_damage(make: Make) -> None:
    with pytest.raises(ScoreError, match="not a comparison"):
        make({"A_h1": measured(28.0, 0.001, "A_h1")})
