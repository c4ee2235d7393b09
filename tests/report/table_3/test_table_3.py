"""Table 3 over hand-made results: rows, outcomes, records, and the source of each number."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
import pytest
from tests.report.table_3.conftest import ONE_SEED, Make, measured

from aiayn.evaluation.metric import Metric
from aiayn.report import verdict
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.table_3 import NEIGHBOURHOOD, section
from aiayn.report.tables import EMPTY, Cell, Row
from aiayn.report.verdict import Verdict
from aiayn.results.comparison import Effect, Measure, Seed, Variation
from aiayn.results.scores import Score, SplitScores, TestSet
from aiayn.results.text import Part

EFFECT = Effect(value=-1.5, low=-2.5, high=-0.5, p_value=0.001, corrected=0.01, count=5)


def over_seeds(name: str, mean: float, sd: float) -> Variation:
    return Variation(
        perplexity=Measure(mean=3.25, sd=0.125),
        bleu=Measure(mean=mean, sd=sd),
        seeds={
            str(n): Seed(run=f"en-de.{name}{ending}", perplexity=3.0, bleu=mean)
            for n, ending in ((1, ""), (2, "-s2"))
        },
    )


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the figures, which take most of a section's time."""
    monkeypatch.setattr("aiayn.report.table_3.figures", lambda *_: ())


def rows(page_section: Section) -> dict[str, Row]:
    """Our rows by model, the paper's by their first cell, or the first of those that repeat it."""
    found: dict[str, Row] = {}
    for row in page_section.tables[0].rows:
        first = row.cells[0]
        name = first.detail.partition(",")[0] if row.tone == "ours" else first.text
        found.setdefault(f"{row.tone}: {name}", row)
    return found


def outcomes(page_section: Section) -> dict[str, str]:
    return {
        name.removeprefix("ours: "): row.cells[-1].text
        for name, row in rows(page_section).items()
        if name.startswith("ours")
    }


@pytest.mark.usefixtures("no_figures")
def test_every_row_of_the_paper_is_followed_by_ours(one_seed: Evidence) -> None:
    page_section = section(one_seed)
    (table,) = page_section.tables
    assert sum(row.tone == "paper" for row in table.rows) == len(one_seed.paper.table_3) == 20
    names = [row.cells[0].detail for row in table.rows if row.tone == "ours"]
    # of models that were run; rows of our own come last
    assert names == ["small", "A_h1", "A_h16", "B_dk16", "C_N2", "D_drop00", "A_h2"]
    assert ("", "Not run: D_smooth00, big.") in table.notes
    by_heading = dict(zip(table.headings, rows(page_section)["ours: A_h1"].cells, strict=True))
    # columns that differ from the base; the others are blank
    expected = {"h": "1", "d_k": "64", "P_drop": "", "steps": "", "PPL": "2.04"}
    assert {heading: by_heading[heading].text for heading in expected} == expected
    assert by_heading["BLEU"] == Cell(
        "28.00", sources=("table_3.json:models.A_h1.bleu.mean",), run="en-de.A_h1"
    )
    printed = dict(zip(table.headings, rows(page_section)["paper: base"].cells, strict=False))
    assert (printed["PPL"].text, printed["BLEU"].text) == ("4.92", "25.8")
    assert (printed["N"].text, printed["params ×10⁶"].text) == ("6", "65")
    learned = rows(page_section)["paper: (E)"].cells
    assert [(cell.text, cell.span) for cell in learned[1:4]] == [
        ("learned positions instead of sinusoids", 9), ("4.92", 1), ("25.7", 1),
    ]  # fmt: skip
    assert [rows[0].block for rows in table.blocks] == ["base", *"ABCDE", "big", "own"]


@pytest.mark.usefixtures("no_figures")
def test_interim_looks_are_mentioned(one_seed: Evidence) -> None:
    for looks, count in (((), 0), ((3, 5), 1)):
        variations = one_seed.config.variations.replace(interim_looks=looks)
        config = one_seed.config.replace(variations=variations)
        notes = section(replace(one_seed, config=config)).tables[0].notes
        assert sum("interim looks with 3, 5 seeds" in note for _, note in notes) == count


@pytest.mark.usefixtures("no_figures")
def test_numbers_of_seeds_are_mentioned(make: Make) -> None:
    one = {name: measured(name, 25.0) for name in ("small", "A_h1")}
    several = {name: over_seeds(name, 25.0, 0.5) for name in ("small", "C_N2")}
    for variations, note in (
        (one, []),
        (several, ["Number of seeds: 2 of small, C_N2."]),
        (one | several, ["Number of seeds: 2 of small, C_N2; 1 of A_h1."]),
    ):
        notes = [note for _, note in section(make(variations)).tables[0].notes]
        assert [found for found in notes if found.startswith("Number of seeds")] == note


@pytest.mark.usefixtures("no_figures")
def test_a_row_with_a_neighbourhood_has_a_note(one_seed: Evidence) -> None:
    config = one_seed.config
    restricted = config.models["A_h2"].replace(neighbourhood=4)
    models = {**config.models, "A_h2": restricted}
    page_section = section(replace(one_seed, config=config.replace(models=models)))
    assert rows(page_section)["ours: A_h2"].cells[0].detail == "A_h2, r = 4"
    assert NEIGHBOURHOOD in [note for _, note in page_section.tables[0].notes]
    plain = section(one_seed)
    assert rows(plain)["ours: A_h2"].cells[0].detail == "A_h2"
    assert NEIGHBOURHOOD not in [note for _, note in plain.tables[0].notes]


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    ("positions", "said"), [("none", "no positions"), ("learned", "learned positions")]
)
def test_a_row_with_other_positions_says_so(
    one_seed: Evidence, positions: Literal["none", "learned"], said: str
) -> None:
    config = one_seed.config
    models = {**config.models, "A_h2": config.models["A_h2"].replace(positions=positions)}
    page_section = section(replace(one_seed, config=config.replace(models=models)))
    sizes = rows(page_section)["ours: A_h2"].cells[1]
    assert (sizes.text, sizes.span) == (said, 9)


@pytest.mark.usefixtures("no_figures")
def test_a_row_has_the_outcome_of_the_comparison(one_seed: Evidence) -> None:
    assert outcomes(section(one_seed)) == {
        "small": EMPTY,
        "A_h1": "as in the paper",
        "A_h16": "higher",  # the paper's is no direction
        "B_dk16": "against the paper",
        "C_N2": "undecided",
        "D_drop00": "undecided",
        "A_h2": "higher",
    }


@pytest.mark.usefixtures("no_figures")
def test_a_row_shows_its_effect_with_an_interval(one_seed: Evidence) -> None:
    perplexity, bleu = rows(section(one_seed))["ours: B_dk16"].cells[-2:]
    assert (bleu.detail, bleu.tone) == ("+1.50, −1.00 to +4.00", "")
    effect_key = "table_3.json:models.B_dk16.bleu.effect"
    assert bleu.sources == (f"{effect_key}.value", f"{effect_key}.low", f"{effect_key}.high")
    assert (perplexity.text, perplexity.detail) == ("undecided", "×0.98, ×0.89 to ×1.08")
    assert perplexity.tone == "quiet"


@pytest.mark.usefixtures("no_figures")
def test_a_further_metric_is_a_column(
    make: Make, one_seed: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its label, or under its name where the metric's code is gone."""
    models = {
        name: measured(name, *values).replace(
            further={"ter": Measure(mean=62.5, sd=1.25, effect=EFFECT if name != "small" else None)}
        )
        for name, values in ONE_SEED.items()
    }
    made = section(make(models))
    (table,) = made.tables
    (without,) = section(one_seed).tables
    assert [name for name in table.headings if name not in without.headings] == [
        "ter",
        "ter vs base",
    ]
    ters = [row.cells[table.headings.index("ter")] for row in table.rows if row.tone == "ours"]
    assert {(cell.text, cell.detail) for cell in ters} == {("62.50", "± 1.25")}
    effects = {
        cell.detail or cell.text
        for row in table.rows
        if row.tone == "ours"
        for cell in (row.cells[table.headings.index("ter vs base")],)
    }
    assert effects == {EMPTY, "−1.50, −2.50 to −0.50"}
    paired = made.records.query("model == 'A_h1'").set_index("measure")["sentences_p"]
    assert (paired["bleu"], paired["ter"]) == ("0.25", "")  # a test of BLEU alone
    metric: Metric[object] = Metric(name="ter", label="TER", score=lambda _: None, compared=True)
    monkeypatch.setattr("aiayn.report.table_3.TRANSLATION_METRICS", (metric,))
    (table,) = section(make(models)).tables
    assert "TER" in table.headings
    assert any(note.startswith("TER: not in the paper") for _, note in table.notes)


@pytest.mark.usefixtures("no_figures")
def test_an_undecided_cell_has_its_reason(make: Make) -> None:
    """One seed of the base: no spread, no effect, no direction."""
    row = measured("C_N2", 2.0)
    one_seed_row = row.replace(bleu=Measure(mean=2.0, claim="lower", why_not_tested="one seed"))
    page_section = section(make({"small": measured("small", 30.0), "C_N2": one_seed_row}))
    cell = rows(page_section)["ours: C_N2"].cells[-1]
    assert (cell.text, cell.detail, cell.sources) == ("undecided", "one seed", ())


@pytest.mark.usefixtures("no_figures")
def test_several_seeds_are_a_mean_with_its_spread(make: Make) -> None:
    seeds = {"small": over_seeds("small", 30.0, 0.5), "A_h1": over_seeds("A_h1", 28.5, 0.7071)}
    page_section = section(make(seeds))
    cell = rows(page_section)["ours: A_h1"].cells[11]
    assert (cell.text, cell.detail) == ("28.50", "± 0.71")
    assert cell.sources == (
        "table_3.json:models.A_h1.bleu.mean",
        "table_3.json:models.A_h1.bleu.sd",
    )
    records = pd.DataFrame(page_section.records)
    ours = records[records["origin"] == "ours"].set_index(["model", "measure"])
    assert ours.loc[("A_h1", "bleu"), ["runs", "sd"]].tolist() == [
        "en-de.A_h1 en-de.A_h1-s2", 0.7071,
    ]  # fmt: skip


@pytest.mark.usefixtures("no_figures")
def test_every_number_of_ours_is_at_its_source(one_seed: Evidence) -> None:
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
    # perplexity, BLEU and parameters of ours, two effects of three numbers of all but the base
    assert count == 3 * len(ONE_SEED) + 6 * (len(ONE_SEED) - 1)


@pytest.mark.usefixtures("no_figures")
def test_records_are_the_rows_of_the_table(one_seed: Evidence) -> None:
    records = pd.DataFrame(section(one_seed).records)
    assert (records["origin"] == "paper").sum() == 2 * 20
    ours = records[records["origin"] == "ours"].set_index(["model", "measure"])
    assert [*ours.index.unique("model")] == [*ONE_SEED]
    assert ours.loc["A_h2", "group"].tolist() == ["own", "own"]
    expected = {
        "row": "A_h1", "group": "A", "mean": 28.0, "effect": -2.0, "low": -4.5, "high": 0.5,
        "p_corrected": 0.02, "claim": "lower", "outcome": "lower", "sentences_p": "0.25",
    }  # fmt: skip
    assert ours.loc[("A_h1", "bleu"), [*expected]].to_dict() == expected
    assert ours.loc["small", "effect"].isna().all()


def test_nothing_has_run(make: Make) -> None:
    page_section = section(make(None))
    assert {row.tone for row in page_section.tables[0].rows} == {"paper"}
    assert page_section.tables[0].notes[0][1].startswith("Not run: small, A_h1, ")
    assert set(pd.DataFrame(page_section.records)["origin"]) == {"paper"}
    assert page_section.figures == ()
    assert {entry.verdict for entry in page_section.entries} == {Verdict.NOT_RUN}


@pytest.mark.usefixtures("no_figures")
def test_no_verdict_on_another_text(one_seed: Evidence) -> None:
    entries = section(one_seed).entries
    assert len(entries) == 2 * 20  # BLEU and perplexity
    assert {(entry.verdict, entry.ours) for entry in entries} == {(Verdict.NOT_RUN, None)}


@pytest.mark.usefixtures("no_figures")
def test_bleu_is_judged_by_the_mean_of_the_seeds(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like perplexity, here as if their recipes were the paper's."""
    evidence = make({"small": over_seeds("small", 30.0, 0.5)})
    dev_set = TestSet(corpora={"toy-train": Part(pairs=40)}, pairs=40, sha256={})
    bleu = {"en-de.small": 25.8, "en-de.small-s2": 22.0}
    scores = {
        run: {
            "dev": SplitScores.of(
                test_set=dev_set, scores={"compound_split_bleu": Score(value=value, signature="")}
            )
        }
        for run, value in bleu.items()
    }

    monkeypatch.setattr(verdict, "set_departures", lambda *_: ())
    monkeypatch.setattr(verdict, "departures", lambda *_: ())
    entries = section(replace(evidence, scores={**evidence.scores, **scores})).entries
    (base,) = (entry for entry in entries if entry.what == "base: BLEU")
    assert (base.verdict, base.ours) == (Verdict.DIFFERS, Cell("23.90", run="en-de.small"))
