"""The paper's statements, tested over our models: what holds at this scale, what does not."""

from __future__ import annotations

from aiayn.paper.findings import STATEMENTS, Statement
from aiayn.records.comparison import Comparison, Finding
from aiayn.report.evidence import Evidence
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import EMPTY, MINUS, Cell, Row, Table

LEAD = (
    "The paper's statements about its variations, each tested on models trained at this scale: the "
    "effect over seeds with a 95 % interval, and whether the statement holds here."
)
NOTE = (
    "An effect is a difference of BLEU or a ratio of perplexities on the development set, of the "
    "rows of table 3 that the statement compares. The noise is that of the seed; a row of one seed "
    "is taken to vary as the base does. p is corrected for the number of statements (Holm). Holds: "
    "p < 0.05 in the paper's direction, or within 0.3 BLEU or 3 % of perplexity where it says "
    "“nearly identical”. Does not hold: p < 0.05 the other way. Undecided: within the noise "
    "(docs/decisions/significance.md)."
)
NOT_RUN = Finding(verdict="not run at this scale")
FORMS = {"bleu": "{:+.2f}", "perplexity": "×{:.2f}"}
TONES = {"holds": "reproduced", "does not hold": "differs"}


def section(evidence: Evidence) -> Section:
    """A line for each statement, whether it could be tested or not."""
    found = evidence.variations
    held = {key: found.findings.get(key, NOT_RUN) if found else NOT_RUN for key in STATEMENTS}
    table = Table(
        "The paper's findings",
        ("Statement", "Section", "Measure", "Claimed", "Effect", "p", "Here"),
        "lllllrl",
        tuple(_row(STATEMENTS[key], finding, found) for key, finding in held.items()),
        (("", NOTE),),
        key="findings",
    )
    return Section(
        key="findings",
        title="Findings",
        subtitle="what the paper says, tested here",
        lead=LEAD,
        tables=(table,),
        records=[_record(key, STATEMENTS[key], finding) for key, finding in held.items()],
    )


def _row(statement: Statement, finding: Finding, found: Comparison | None) -> Row:
    effect, run = finding.effect, found.models[found.base].run if found else ""
    measured, p_value = Cell(EMPTY, tone="quiet"), Cell("")
    if effect:
        form = FORMS[statement.measure]
        value, low, high = (
            form.format(number).replace("-", MINUS)
            for number in (effect.value, effect.low, effect.high)
        )
        places = tuple(f"{effect.source}.{name}" for name in ("value", "low", "high"))
        measured = Cell(value, detail=f"{low} to {high}", sources=places, run=run)
        p_value = Cell(f"{effect.corrected:.4f}", sources=(f"{effect.source}.corrected",), run=run)
    elif finding.verdict == "undecided" and found:
        measured = Cell(EMPTY, detail=found.hindrance, tone="quiet")
    return Row(
        (
            Cell(statement.text),
            Cell(statement.section),
            Cell({"bleu": "BLEU", "perplexity": "perplexity"}[statement.measure]),
            Cell(statement.claim),
            measured,
            p_value,
            Cell(finding.verdict, tone=TONES.get(finding.verdict, "quiet")),
        ),
        "ours",
    )


def _record(key: str, statement: Statement, finding: Finding) -> dict[str, str]:
    effect = finding.effect
    numbers = {
        "effect": effect and effect.value,
        "low": effect and effect.low,
        "high": effect and effect.high,
        "p": effect and effect.corrected,
    }
    return {
        "finding": key,
        "statement": statement.text,
        "section": statement.section,
        "measure": statement.measure,
        "claim": statement.claim,
        **{name: "" if number is None else f"{number}" for name, number in numbers.items()},
        "verdict": finding.verdict,
    }
