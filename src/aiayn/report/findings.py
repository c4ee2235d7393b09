"""The leading section: the paper's statements, tested over our models, and what others published on
the same sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from aiayn.config import Config
from aiayn.evaluation.contrasts import MAX_COUNT
from aiayn.evaluation.findings import Undecided, undecided
from aiayn.paper.findings import Statement, statements
from aiayn.paper.others import PUBLISHED, Published
from aiayn.report import claims_figure
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.tables import (
    EMPTY,
    MINUS,
    NOTHING,
    Cell,
    RowValues,
    Table,
    numbers,
    p_value,
    row,
    signed,
    table,
    text,
)
from aiayn.results.comparison import Comparison, Effect, Finding
from aiayn.results.frames import over_seeds, scores_frame

LEAD = (
    "The paper's claims about its variations and its decoding, each tested on models trained at "
    "this scale: the effect with an interval, and whether the claim holds at this scale."
)
NOTE = (
    "An effect is a difference of BLEU or a ratio of perplexities between the rows of table 3 that "
    "the claim compares. They are compared seed by seed (Student's paired t), because runs of one "
    "seed share batches and initial weights; n is the number of these seeds. Decoding modes are "
    "compared within each tested translation run; a model counts once per task, by the mean of its "
    "seeds, and n is the number of models (of seeds, if there is one model). p is corrected for "
    "the number of tests (Holm), separately from table 3. The intervals are simultaneous and agree "
    "with p: 95 %, or 90 % where the claim is “nearly identical”, as two one-sided tests have it. "
    "Where a claim is decided, an interval that ends at 0 or at the margin does not include that "
    "end. "
    "Holds: p < 0.05 in the paper's direction, or within the margin where it says “nearly "
    "identical”. Does not hold: p < 0.05 against it. Undecided: within the noise of the seed "
    "(docs/decisions/significance.md)."
)
NEEDED = (
    "“About n seeds would decide it”: with n in all, the test would be significant with a "
    "probability of 80 %, if the effect and its standard deviation are those observed. Both are "
    "estimates from few seeds, so this is a rough guide. Decoding modes are compared over models."
)
EXPLORATORY = (
    "Exploratory: these tests were not declared before the models were trained, and were chosen "
    "when some of the results were known."
)
DECLARED = (
    "Declared before the first of these models was trained, in the commit {} "
    "(docs/preregistration.md)."
)
OWN_LOOKS = "Some claims were declared with looks of their own (docs/preregistration.md)."
NOT_TESTED = Finding(verdict="not run at this scale")
NAMES = {"bleu": "BLEU", "perplexity": "perplexity"}
FORMS = {"bleu": "{:+.2f}", "perplexity": "×{:.2f}"}
TONES = {"holds at this scale": "reproduced", "does not hold at this scale": "differs"}


def section(evidence: Evidence) -> Section:
    """A row for each statement, tested or not; a single row if none was tested."""
    compared, config = evidence.variations, evidence.config
    claims = statements(config.variations.measures)
    findings = dict.fromkeys(claims, NOT_TESTED)
    open_tests: Mapping[str, Undecided] = {}
    if compared:
        findings |= {key: found for key, found in compared.findings.items() if key in claims}
        open_tests = undecided(config.variations, config.runs, compared)
    needed = {key: _needed(claims[key], found) for key, found in open_tests.items()}
    is_tested = any(finding.verdict != NOT_TESTED.verdict for finding in findings.values())
    tested = (
        _row(claims[key], finding, compared, needed.get(key, ""))
        for key, finding in findings.items()
    )
    return Section(
        key="findings",
        title="Findings",
        subtitle="the paper's claims, tested on our models",
        lead=LEAD,
        tables=(
            table(
                "The paper's claims",
                text("Claim")
                + text("Paper", minor=True)
                + text("Effect")
                + numbers("p", "n")
                + text("Result"),
                tested if is_tested else (_row_of_none(evidence, len(claims)),),
                tuple(_notes(config, needed)) if is_tested else (),
                key="claims",
            ),
            *published(evidence),
        ),
        records=_records(claims, findings, open_tests),
        figures=tuple(claims_figure.figures(evidence)),
    )


def claim_text(statement: Statement) -> str:
    """What the paper says of the measure: BLEU lower."""
    return f"{NAMES[statement.measure]} {statement.claim}"


def effect_text(measure: str, number: float) -> str:
    """A ratio of perplexities, or a difference of another measure, with its sign."""
    return FORMS.get(measure, FORMS["bleu"]).format(number).replace("-", MINUS)


def effect_cell(effect: Effect, measure: str, run: str, outcome: str = "", tone: str = "") -> Cell:
    """An effect with its interval; or the outcome, with both."""
    value, low, high = (
        effect_text(measure, number) for number in (effect.value, effect.low, effect.high)
    )
    return Cell(
        outcome or value,
        detail=f"{value}, {low} to {high}" if outcome else f"{low} to {high}",
        sources=tuple(f"{effect.source}.{name}" for name in ("value", "low", "high")),
        run=run,
        tone=tone,
    )


def _needed(statement: Statement, found: Undecided) -> str:
    test, count = found
    look = f"at the look with {test.seeds} of {test.looks[-1]} seeds; " if test.is_interim else ""
    values = "seeds" if statement.over == "models" else "models"
    number = f"more than {MAX_COUNT:,}" if count is None else f"about {count:,}"
    return f"{look}{number} {values} would decide it"


def _row(
    statement: Statement, finding: Finding, compared: Comparison | None, needed: str
) -> RowValues:
    effect, measured, p, count = finding.effect, NOTHING, Cell(""), Cell("")
    if effect and compared:
        run = _run(statement, compared)
        measured = effect_cell(effect, statement.measure, run)
        p = Cell(p_value(effect.corrected), sources=(f"{effect.source}.corrected",), run=run)
        count = Cell(f"{effect.count}", sources=(f"{effect.source}.count",), run=run)
    elif finding.verdict == "undecided":
        measured = replace(NOTHING, detail=finding.why_not_tested or "")
    return row(
        Cell(statement.text, detail=statement.section),
        claim_text(statement),
        measured,
        p,
        count,
        Cell(finding.verdict, detail=needed, tone=TONES.get(finding.verdict, "quiet")),
        tone="ours",
    )


def _row_of_none(evidence: Evidence, count: int) -> RowValues:
    why = "this scale trains none of the models that they compare"
    if evidence.awaits_comparison:
        why = "the runs are not compared yet"
    claims = Cell(f"All {count} claims", detail=why)
    return row(claims, "", NOTHING, "", "", Cell(NOT_TESTED.verdict, tone="quiet"), tone="ours")


def _run(statement: Statement, found: Comparison) -> str:
    """One that the statement is about."""
    if statement.over == "modes":
        return next(iter(found.modes), "")
    return found.models[found.base].run


def _records(
    claims: Mapping[str, Statement],
    findings: Mapping[str, Finding],
    open_tests: Mapping[str, Undecided],
) -> pd.DataFrame:
    """A line of the CSV for each statement."""
    return pd.DataFrame(
        {
            "finding": key,
            "statement": claims[key].text,
            "section": claims[key].section,
            "measure": claims[key].measure,
            "claim": claims[key].claim,
            "effect": finding.effect and finding.effect.value,
            "low": finding.effect and finding.effect.low,
            "high": finding.effect and finding.effect.high,
            "p": finding.effect and finding.effect.corrected,
            "n": finding.effect and finding.effect.count,
            "verdict": finding.verdict,
            "needed": open_tests[key].count_needed if key in open_tests else None,
        }
        for key, finding in findings.items()
    ).astype({"n": "Int64", "needed": "Int64"})


PUBLISHED_NOTE = (
    "The same sentences and the same metric, not the same recipe. The interval reflects the "
    "choice of sentences (95 %, bootstrap), not of the seed; of a model with several seeds, the "
    "mean follows with its standard deviation. Section 6.3 reports that the Transformer beats "
    "grammar-based parsers trained on the same treebank; the GENIA figures test that here."
)
PUBLISHED_MEASURES = {
    "lowercased_bleu": "BLEU, lower-cased words",
    "bracket_f1_wrapped": "F1, sentences bracketed",
}


def published(evidence: Evidence) -> Iterator[Table]:
    """One table, of the figures on sentences that a task here has; none where no task has any."""
    scores = scores_frame(evidence.config, evidence.scores)
    rows = [line for figure in PUBLISHED for line in _rows(figure, evidence, scores)]
    if rows:
        yield table(
            "Published on the same sentences",
            text("System", "Published", "Ours") + numbers("Difference") + text("Run"),
            rows,
            (PUBLISHED_NOTE,),
            key="published",
        )


def _rows(figure: Published, evidence: Evidence, scores: pd.DataFrame) -> Iterator[RowValues]:
    """A row for each run with the same score and each mean over seeds, or a single empty one."""
    tasks = {
        name: split
        for name, task in evidence.config.tasks.items()
        if task.text.target == figure.target
        for split, corpus in {"dev": task.text.dev, **task.text.tests}.items()
        if (corpus,) == figure.sentences.corpora
    }
    comparable = scores[
        (scores["metric"] == figure.score) & (scores["pairs"] == figure.sentences.pairs)
    ]
    for task, split in tasks.items():
        ours = comparable[(comparable["task"] == task) & (comparable["split"] == split)]
        for score in ours.to_dict("records"):
            yield _figure_row(figure, score["run"], _score(score), score["value"])
        for mean in over_seeds(ours).query("n > 1").to_dict("records"):
            cell = Cell(f"{mean['mean']:.2f}", detail=f"± {mean['sd']:.2f}")
            yield _figure_row(
                figure, f"{task}.{mean['model']}, {mean['n']} seeds", cell, mean["mean"]
            )
    if tasks and comparable[comparable["task"].isin(list(tasks))].empty:
        yield _figure_row(
            figure, "", Cell(EMPTY, detail="not run at this scale", tone="quiet"), None
        )


def _score(score: Mapping[Any, Any]) -> Cell:
    names = ["value"]
    bounds = ""
    if pd.notna(score["low"]):
        names += ["low", "high"]
        bounds = f"{score['low']:.2f} to {score['high']:.2f}"
    sources = tuple(f"{score['source']}.{name}" for name in names)
    return Cell(f"{score['value']:.2f}", detail=bounds, sources=sources, run=score["run"])


def _figure_row(figure: Published, run: str, ours: Cell, value: float | None) -> RowValues:
    return row(
        Cell(figure.system, detail=figure.source),
        Cell(figure.value.text, detail=PUBLISHED_MEASURES[figure.score]),
        ours,
        "" if value is None else signed(value - figure.value.value),
        run,
        tone="ours",
    )


def _notes(config: Config, needed: Collection[str]) -> Iterator[str]:
    yield NOTE
    if needed:
        yield NEEDED
    yield from design_notes(config)
    declared = config.variations.preregistration
    if declared and any(statement.interim_looks for statement in declared.statements.values()):
        yield OWN_LOOKS


def design_notes(config: Config, note: str = DECLARED) -> Iterator[str]:
    """Remarks below a table of tests: whether they were declared, and the looks.

    Args:
        note: on a preregistration, with a place for its commit.
    """
    declared, looks = config.variations.preregistration, config.variations.interim_looks
    yield note.format(declared.commit) if declared else EXPLORATORY
    if len(looks) > 1:
        yield (
            f"p is also corrected for interim looks with {', '.join(map(str, looks))} seeds "
            "(O'Brien and Fleming)."
        )
