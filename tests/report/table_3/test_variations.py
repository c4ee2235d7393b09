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

from aiayn.records import comparison, places
from aiayn.records.comparison import (
    Comparison,
    Direction,
    Effect,
    Measure,
    Outcome,
    Seed,
    Sentences,
    Variation,
)
from aiayn.records.scores import TestSet
from aiayn.records.text import Part
from aiayn.report.evidence import Evidence, gather
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import EMPTY, Cell, Row
from aiayn.report.parts.verdict import Verdict
from aiayn.report.table_3.variation_figures import varied_alone
from aiayn.report.table_3.variations import NEIGHBOURHOOD, section

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
# BLEU of one seed; what the paper says of its direction, and what ours comes to
ONE_SEED: dict[str, tuple[float, Direction | None, Outcome]] = {
    "small": (30.0, None, "undecided"),
    "A_h1": (28.0, "lower", "lower"),
    "A_h16": (33.0, None, "higher"),
    "B_dk16": (31.5, "lower", "higher"),
    "C_N2": (29.9, "lower", "undecided"),
    "D_drop00": (29.0, "lower", "undecided"),
    "A_h2": (31.0, None, "higher"),
}

Make = Callable[..., Evidence]


def measured(
    name: str, bleu: float, claim: Direction | None = None, outcome: Outcome = "undecided"
) -> Variation:
    """A row of one seed: 2.5 BLEU either side of its difference, perplexities 10 % of the ratio."""
    ratio = 1 + (30 - bleu) / 100
    effects: dict[str, Effect | None] = {"bleu": None, "perplexity": None}
    if name != "small":
        effects = {
            "bleu": Effect(
                value=bleu - 30, low=bleu - 32.5, high=bleu - 27.5, p_value=0.001, corrected=0.02
            ),
            "perplexity": Effect(
                value=ratio, low=0.9 * ratio, high=1.1 * ratio, p_value=0.001, corrected=0.02
            ),
        }
    seed = Seed(
        run=f"en-de.{name}",
        perplexity=2 * ratio,
        bleu=bleu,
        sentences=Sentences(difference=bleu - 30, p_value=0.25) if name != "small" else None,
    )
    return Variation(
        perplexity=Measure(mean=2 * ratio, effect=effects["perplexity"]),
        bleu=Measure(mean=bleu, effect=effects["bleu"], claim=claim, outcome=outcome),
        seeds={"1": seed},
    )


def over_seeds(name: str, mean: float, sd: float) -> Variation:
    return Variation(
        perplexity=Measure(mean=3.25, sd=0.125),
        bleu=Measure(mean=mean, sd=sd),
        seeds={
            str(n): Seed(run=f"en-de.{name}{ending}", perplexity=3.0, bleu=mean)
            for n, ending in ((1, ""), (2, "-s2"))
        },
    )


def cost(parameters: int) -> dict[str, Any]:
    sides = {"source": 1, "target": 1}
    return {
        "vocabulary": 37_000, "parameters": parameters, "forward_flops": sides,
        "training_flops": sides, "pair_flops": {"forward": 1, "training": 3},
    }  # fmt: skip


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take most of a section's time."""
    monkeypatch.setattr("aiayn.report.table_3.variations.figures", lambda *_: ())


@pytest.fixture
def make(tmp_path: Path, toy: dict[str, Any]) -> Make:
    """The evidence of a project whose table 3 is these entries; None: nothing has run."""

    def gathered(entries: dict[str, Variation] | None) -> Evidence:
        params = {
            **toy,
            "models": {**toy["models"], **MODELS},
            "runs": {
                f"en-de.{name}{ending}": {"task": "en-de", "model": name, "seed": seed}
                for name in MODELS
                for seed, ending in ((1, ""), (2, "-s2"))
            },
            "tested": [],
            "variations": {"task": "en-de", "base": "small"},
            "illustrations": {"run": "en-de.small", "sentence": None},
        }
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
        if entries is not None:
            found = Comparison(
                task="en-de", base="small", split="dev", signature="hand-made", models=entries,
                ways={}, findings={}, test_set=TestSet(corpora={"toy-train": Part(pairs=40)}, pairs=40, sha256={}),
            )  # fmt: skip
            comparison.write(tmp_path / places.TABLE_3, found)
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
            path = tmp_path / places.MODELS_PROFILE
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(profile))
        return gather(tmp_path)

    return gathered


@pytest.fixture
def one_seed(make: Make) -> Evidence:
    return make({name: measured(name, *values) for name, values in ONE_SEED.items()})


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


@pytest.mark.usefixtures("undrawn")
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
    expected = {"h": "1", "d_k": "64", "P_drop": "0.03", "steps": "350", "PPL": "2.04"}
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


@pytest.mark.usefixtures("undrawn")
def test_a_row_within_a_neighbourhood_says_so(one_seed: Evidence) -> None:
    config = one_seed.config
    near = replace(config.models["A_h2"], neighbourhood=4)
    models = {**config.models, "A_h2": near}
    made = section(replace(one_seed, config=replace(config, models=models)))
    assert rows(made)["ours (A_h2)"].cells[0].detail == "r = 4"
    assert NEIGHBOURHOOD in [note for _, note in made.tables[0].notes]
    plain = section(one_seed)
    assert rows(plain)["ours (A_h2)"].cells[0].detail == ""
    assert NEIGHBOURHOOD not in [note for _, note in plain.tables[0].notes]


@pytest.mark.usefixtures("undrawn")
def test_a_row_says_what_the_comparison_says(one_seed: Evidence) -> None:
    assert moves(section(one_seed)) == {
        "small": EMPTY,
        "A_h1": "as in the paper",
        "A_h16": "higher",  # the paper's is no direction
        "B_dk16": "against the paper",
        "C_N2": "undecided",
        "D_drop00": "undecided",
        "D_smooth00": "",
        "big": "",
        "A_h2": "higher",
    }


@pytest.mark.usefixtures("undrawn")
def test_a_row_shows_its_effect_with_an_interval(one_seed: Evidence) -> None:
    perplexity, bleu = rows(section(one_seed))["ours (B_dk16)"].cells[-2:]
    assert (bleu.detail, bleu.tone) == ("+1.50, −1.00 to +4.00", "")
    place = "table_3.json:models.B_dk16.bleu.effect"
    assert bleu.sources == (f"{place}.value", f"{place}.low", f"{place}.high")
    assert (perplexity.text, perplexity.detail) == ("undecided", "×0.98, ×0.89 to ×1.08")
    assert perplexity.tone == "quiet"


@pytest.mark.usefixtures("undrawn")
def test_where_nothing_can_be_said_the_cell_says_why(make: Make) -> None:
    """One seed of the base: no spread, no effect, no direction."""
    row = measured("C_N2", 2.0)
    alone = replace(row, bleu=Measure(mean=2.0, claim="lower"))
    made = section(make({"small": measured("small", 30.0), "C_N2": alone}))
    cell = rows(made)["ours (C_N2)"].cells[-1]
    assert (cell.text, cell.detail, cell.sources) == ("undecided", "one seed of the base", ())


@pytest.mark.usefixtures("undrawn")
def test_several_seeds_are_a_mean_with_its_spread(make: Make) -> None:
    seeds = {"small": over_seeds("small", 30.0, 0.5), "A_h1": over_seeds("A_h1", 28.5, 0.7071)}
    made = section(make(seeds))
    cell = rows(made)["ours (A_h1)"].cells[12]
    assert (cell.text, cell.detail) == ("28.50", "± 0.71")
    assert cell.sources == (
        "table_3.json:models.A_h1.bleu.mean",
        "table_3.json:models.A_h1.bleu.sd",
    )
    ours = {line["model"]: line for line in made.records if line["origin"] == "ours"}
    assert ours["A_h1"]["runs"] == "en-de.A_h1 en-de.A_h1-s2"
    assert ours["A_h1"]["bleu_sd"] == "0.7071"


@pytest.mark.usefixtures("undrawn")
def test_every_number_of_ours_stands_where_it_says(one_seed: Evidence) -> None:
    files = {path.name: json.loads(path.read_text()) for path in one_seed.root.glob("*/*.json")}
    count = 0
    for row in section(one_seed).tables[0].rows:
        for cell in row.cells:
            if not cell.sources:
                continue
            numbers = re.findall(r"[−-]?\d+\.\d+", f"{cell.text} {cell.detail}")
            for number, source in zip(numbers, cell.sources, strict=True):
                name, _, keys = source.partition(":")
                value: Any = files[name]
                for key in keys.split("."):
                    value = value[key]
                assert float(number.replace("−", "-")) == pytest.approx(
                    value / 1e6 if keys.endswith("parameters") else value, abs=0.00501
                )
                count += 1
    # perplexity, BLEU and parameters of ours, two effects of three numbers of all but the base;
    # parameters of the paper's rows that were counted
    assert count == 3 * len(ONE_SEED) + 6 * (len(ONE_SEED) - 1) + 3


@pytest.mark.usefixtures("undrawn")
def test_records_are_the_tables_lines(one_seed: Evidence) -> None:
    records = section(one_seed).records
    assert len({tuple(line) for line in records}) == 1
    assert sum(line["origin"] == "paper" for line in records) == 20
    ours = {line["model"]: line for line in records if line["origin"] == "ours"}
    assert list(ours) == ["small", "A_h1", "A_h16", "B_dk16", "C_N2", "D_drop00", "A_h2"]
    assert ours["A_h2"]["group"] == "own"
    expected = {
        "row": "A_h1", "bleu": "28.0", "bleu_difference": "-2.0", "bleu_low": "-4.5",
        "bleu_high": "0.5", "bleu_p": "0.02", "bleu_moves": "as in the paper",
        "perplexity_moves": "undecided", "sentences_p": "0.25",
    }  # fmt: skip
    assert {key: ours["A_h1"][key] for key in expected} == expected
    assert (ours["small"]["bleu_difference"], ours["small"]["bleu_moves"]) == ("", "")


def test_nothing_has_run(make: Make) -> None:
    made = section(make(None))
    assert {row.tone for row in made.tables[0].rows} == {"paper", ""}
    assert rows(made)["ours (C_N2)"].cells[11] == Cell("not run", span=2)
    assert {line["origin"] for line in made.records} == {"paper"}
    assert made.figures == ()
    assert {entry.verdict for entry in made.entries} == {Verdict.NOT_RUN}


@pytest.mark.usefixtures("undrawn")
def test_no_verdict_on_another_text(one_seed: Evidence) -> None:
    entries = section(one_seed).entries
    assert len(entries) == 2 * 20  # BLEU and perplexity
    assert {(entry.verdict, entry.ours) for entry in entries} == {(Verdict.NOT_RUN, None)}


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
