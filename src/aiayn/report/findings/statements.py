"""The leading section: the paper's statements, tested over our models, and what others published on
the same sentences."""

from __future__ import annotations

from aiayn.paper.findings import STATEMENTS, Statement
from aiayn.report.evidence import Evidence
from aiayn.report.findings.published import published
from aiayn.report.parts.looks import looks_note
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import EMPTY, MINUS, Cell, Row, Table
from aiayn.results.comparison import Comparison, Finding

LEAD = (
    "The paper's statements about its variations and its decoding, each tested on models trained "
    "at this scale: the effect with a 95 % interval, and whether the statement holds here."
)
NOTE = (
    "An effect is a difference of BLEU or a ratio of perplexities on the development set, of the "
    "rows of table 3 that the statement compares. The noise is that of the seed; a row of one seed "
    "is taken to vary as the base does. Ways of decoding are compared within each tested run that "
    "translates; a model counts once for each task, by the mean of its seeds, and the noise is "
    "that between these (of one alone: that of its seeds). p is corrected for the number of tests "
    "(Holm; “nearly identical” takes two), a family of its own beside table 3's. Holds: p < 0.05 "
    "in the paper's direction, or within 0.3 BLEU or 3 % of perplexity where it says “nearly "
    "identical”. Does not hold: p < 0.05 the other way. Undecided: within the noise "
    "(docs/decisions/significance.md)."
)
NOT_RUN = Finding(verdict="not run at this scale")
NAMES = {"bleu": "BLEU", "perplexity": "perplexity"}
FORMS = {"bleu": "{:+.2f}", "perplexity": "×{:.2f}"}
TONES = {"holds": "reproduced", "does not hold": "differs"}


def section(evidence: Evidence) -> Section:
    """A line for each statement, tested or not; one for all of them where none was."""
    found = evidence.variations
    held = {key: found.findings.get(key, NOT_RUN) if found else NOT_RUN for key in STATEMENTS}
    is_run = any(finding.verdict != NOT_RUN.verdict for finding in held.values())
    rows = tuple(_row(STATEMENTS[key], finding, found) for key, finding in held.items())
    table = Table(
        "The paper's findings",
        ("Statement", "Claimed", "Effect", "p", "Here"),
        "lllrl",
        rows if is_run else (_none_is_run(),),
        (("", NOTE), *(("", note) for note in looks_note(evidence.config))) if is_run else (),
        key="findings",
    )
    return Section(
        key="findings",
        title="Findings",
        subtitle="what the paper says, tested here",
        lead=LEAD,
        tables=(table, *published(evidence)),
        records=[_record(key, STATEMENTS[key], finding) for key, finding in held.items()],
    )


def claim_text(statement: Statement) -> str:
    """What the paper says of the measure: BLEU lower."""
    return f"{NAMES[statement.measure]} {statement.claim}"


def effect_text(statement: Statement, number: float) -> str:
    """A difference of BLEU, with its sign, or a ratio of perplexities."""
    return FORMS[statement.measure].format(number).replace("-", MINUS)


def _row(statement: Statement, finding: Finding, found: Comparison | None) -> Row:
    effect = finding.effect
    run = _run(statement, found) if found else ""
    measured, p_value = Cell(EMPTY, tone="quiet"), Cell("")
    if effect:
        value, low, high = (
            effect_text(statement, number) for number in (effect.value, effect.low, effect.high)
        )
        places = tuple(f"{effect.source}.{name}" for name in ("value", "low", "high"))
        measured = Cell(value, detail=f"{low} to {high}", sources=places, run=run)
        p_value = Cell(f"{effect.corrected:.4f}", sources=(f"{effect.source}.corrected",), run=run)
    elif finding.verdict == "undecided" and found:
        why = found.hindrance_of_ways if statement.over == "ways" else found.hindrance
        measured = Cell(EMPTY, detail=why, tone="quiet")
    return Row(
        (
            Cell(statement.text, detail=statement.section),
            Cell(claim_text(statement)),
            measured,
            p_value,
            Cell(finding.verdict, tone=TONES.get(finding.verdict, "quiet")),
        ),
        "ours",
    )


def _none_is_run() -> Row:
    why = "this scale trains none of the models that they compare"
    verdict = Cell(NOT_RUN.verdict, tone="quiet")
    all_of_them = Cell(f"All {len(STATEMENTS)} statements", detail=why)
    return Row((all_of_them, Cell(""), Cell(EMPTY, tone="quiet"), Cell(""), verdict), "ours")


def _run(statement: Statement, found: Comparison) -> str:
    """One that the statement is about."""
    return next(iter(found.ways), "") if statement.over == "ways" else found.models[found.base].run


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
