"""The leading section: the paper's statements, tested over our models, and what others published on
the same sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from aiayn.paper.findings import STATEMENTS, Statement
from aiayn.report.evidence import Evidence
from aiayn.report.findings.published import published
from aiayn.report.parts.interim_looks import interim_looks_note
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import (
    MINUS,
    NOTHING,
    Cell,
    RowValues,
    numbers,
    row,
    table,
    text,
)
from aiayn.results.comparison import Comparison, Finding

LEAD = (
    "The paper's claims about its variations and its decoding, each tested on models trained at "
    "this scale: the effect with a 95 % interval, and whether the claim holds here."
)
NOTE = (
    "An effect is a difference of BLEU or a ratio of perplexities on the development set, between "
    "the rows of table 3 that the claim compares. The noise is the variation over seeds; a row "
    "with one seed is assumed to vary as the base does. Decoding modes are compared within each "
    "tested translation run; a model counts once per task, by the mean of its seeds, and the "
    "noise is the variation between these means (of a single mean: over its seeds). p is "
    "corrected for the number of tests (Holm; “nearly identical” takes two), separately from "
    "table 3. Holds: p < 0.05 in the paper's direction, or within 0.3 BLEU or 3 % of perplexity "
    "where it says “nearly identical”. Does not hold: p < 0.05 in the other direction. Undecided: "
    "within the noise (docs/decisions/significance.md)."
)
NOT_TESTED = Finding(verdict="not run at this scale")
NAMES = {"bleu": "BLEU", "perplexity": "perplexity"}
FORMS = {"bleu": "{:+.2f}", "perplexity": "×{:.2f}"}
TONES = {"holds": "reproduced", "does not hold": "differs"}


def section(evidence: Evidence) -> Section:
    """A row for each statement, tested or not; one for all of them where none was."""
    compared = evidence.variations
    findings = dict.fromkeys(STATEMENTS, NOT_TESTED)
    if compared:
        findings |= {key: found for key, found in compared.findings.items() if key in STATEMENTS}
    is_tested = any(finding.verdict != NOT_TESTED.verdict for finding in findings.values())
    tested = (_row(STATEMENTS[key], finding, compared) for key, finding in findings.items())
    return Section(
        key="findings",
        title="Findings",
        subtitle="the paper's claims, tested on our models",
        lead=LEAD,
        tables=(
            table(
                "The paper's claims",
                text("Claim", "Paper", "Effect") + numbers("p", form=".4f") + text("Result"),
                tested if is_tested else (_row_of_none(),),
                (NOTE, *interim_looks_note(evidence.config)) if is_tested else (),
                key="findings",
            ),
            *published(evidence),
        ),
        records=_records(findings),
    )


def claim_text(statement: Statement) -> str:
    """What the paper says of the measure: BLEU lower."""
    return f"{NAMES[statement.measure]} {statement.claim}"


def effect_text(statement: Statement, number: float) -> str:
    """A difference of BLEU, with its sign, or a ratio of perplexities."""
    return FORMS[statement.measure].format(number).replace("-", MINUS)


def _row(statement: Statement, finding: Finding, compared: Comparison | None) -> RowValues:
    effect, measured, p_value = finding.effect, NOTHING, Cell("")
    if effect and compared:
        run = _run(statement, compared)
        value, low, high = (
            effect_text(statement, number) for number in (effect.value, effect.low, effect.high)
        )
        sources = tuple(f"{effect.source}.{name}" for name in ("value", "low", "high"))
        measured = Cell(value, detail=f"{low} to {high}", sources=sources, run=run)
        p_value = Cell(f"{effect.corrected:.4f}", sources=(f"{effect.source}.corrected",), run=run)
    elif finding.verdict == "undecided" and compared:
        of_decoding = statement.over == "ways"
        why = compared.hindrance_of_ways if of_decoding else compared.hindrance
        measured = replace(NOTHING, detail=why)
    return row(
        Cell(statement.text, detail=statement.section),
        claim_text(statement),
        measured,
        p_value,
        Cell(finding.verdict, tone=TONES.get(finding.verdict, "quiet")),
        tone="ours",
    )


def _row_of_none() -> RowValues:
    why = "this scale trains none of the models that they compare"
    statements = Cell(f"All {len(STATEMENTS)} claims", detail=why)
    return row(statements, "", NOTHING, "", Cell(NOT_TESTED.verdict, tone="quiet"), tone="ours")


def _run(statement: Statement, found: Comparison) -> str:
    """One that the statement is about."""
    return next(iter(found.ways), "") if statement.over == "ways" else found.models[found.base].run


def _records(findings: Mapping[str, Finding]) -> pd.DataFrame:
    """A line of the CSV for each statement."""
    return pd.DataFrame(
        {
            "finding": key,
            "statement": STATEMENTS[key].text,
            "section": STATEMENTS[key].section,
            "measure": STATEMENTS[key].measure,
            "claim": STATEMENTS[key].claim,
            "effect": finding.effect and finding.effect.value,
            "low": finding.effect and finding.effect.low,
            "high": finding.effect and finding.effect.high,
            "p": finding.effect and finding.effect.corrected,
            "verdict": finding.verdict,
        }
        for key, finding in findings.items()
    )
