"""Table 3: variations of the architecture, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator

from aiayn.config import Config, Model
from aiayn.paper import Paper, Printed, VariationRow
from aiayn.paper.claims import agreement
from aiayn.report.evidence import Evidence
from aiayn.report.parts.looks import looks_note
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import EMPTY, MINUS, Cell, Row, Table
from aiayn.report.table_3.variation_figures import figures
from aiayn.report.table_3.variation_lines import own_models, records
from aiayn.report.table_3.variation_verdicts import model_name, verdicts
from aiayn.results.comparison import Comparison, Measure
from aiayn.results.profiles import ModelsProfile

COLUMNS = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "eps_ls", "steps", "positions")

PROTOCOL = (
    "Perplexity is per word piece, so it compares only within one vocabulary. Both are of the last "
    "checkpoint, not averaged, on the development set (section 6.2); ours is sacreBLEU (13a). With "
    "several seeds a cell is their mean, with the standard deviation beside it."
)
MOVES = (
    "Moves: whether a row parts from the base by more than another seed would part it, beside what "
    "the paper says. Below it stands ours against the base, a difference of BLEU or a ratio of "
    "perplexities, with a 95 % interval. A row of one seed is judged by the spread of the base's "
    "seeds (Student's t, prediction interval), one of several by Welch's t; p-values are corrected "
    "over all tests of the table (Holm), a family of its own beside the findings', and below 0.05 "
    "say something. Undecided: within "
    "the noise of the seed."
)
CLAIMS = (
    "The paper's rows are one training each. Its differences of up to 0.3 BLEU, or 3 % of "
    "perplexity, are no direction: there ours is said to be higher or lower, of which the paper "
    "says nothing. Row (E) is a claim of equality and is tested as one: within the same margins, "
    "by two one-sided tests (docs/decisions/significance.md)."
)
PARAMETERS = (
    "Parameters at the paper's size are counted for a vocabulary of 37,000 pieces; no single "
    "vocabulary meets the paper's whole column (docs/deviations.md)."
)
NEIGHBOURHOOD = (
    "Beside r: self-attention restricted to r positions, of the source around a position, of the "
    "target up to it. The paper plans it (section 4) and has no such row."
)


def section(evidence: Evidence) -> Section:
    """Table 3 with ours; entries are the BLEU and perplexity cells of all rows."""
    paper, config, found = evidence.paper, evidence.config, evidence.variations
    return Section(
        key="table_3",
        title="Table 3",
        subtitle="variations of the architecture",
        lead=paper.about["table_3"],
        tables=(_table(paper, config, found, evidence.models),),
        records=list(records(paper, config, found, evidence.models)),
        entries=tuple(verdicts(evidence)),
        figures=tuple(figures(paper, config, found, evidence.models)),
    )


def _table(
    paper: Paper, config: Config, found: Comparison | None, profile: ModelsProfile | None
) -> Table:
    rows: list[Row] = []
    for key, printed in paper.table_3.items():
        rows.append(_paper_row(key, printed, profile))
        name = model_name(config, key)
        if name in config.models:
            group = f"ours ({name})"
            rows.append(_our_row(group, name, config, found, profile))
    for name in own_models(paper, config, found):
        rows.append(_our_row(f"ours ({name})", name, config, found, profile))
    notes = paper.notes["table_3"]
    own = [config.models[name] for name in own_models(paper, config, found)]
    return Table(
        "Table 3, with ours beneath",
        (
            "Row",
            *COLUMNS,
            "PPL",
            "BLEU",
            "params ×10⁶",
            "×10⁶ at the paper's size",
            "PPL moves",
            "BLEU moves",
        ),
        "l" + "r" * (len(COLUMNS) - 1) + "l" + "rrrr" + "ll",
        tuple(rows),
        (
            *(("", note) for note in (PROTOCOL, MOVES)),
            *looks_note(config),
            *(("", note) for note in (CLAIMS, PARAMETERS)),
            *((("", NEIGHBOURHOOD),) if any(row.neighbourhood for row in own) else ()),
            ("", notes["B.d_v"]),
            ("", f"Published figures: {paper.source}."),
        ),
        key="table-3",
    )


def _paper_row(key: str, printed: VariationRow, profile: ModelsProfile | None) -> Row:
    group = f"({printed.group})" if len(printed.group) == 1 else printed.group
    millions = printed.parameters_millions
    counted = profile.paper.get(key) if profile else None
    return Row(
        (
            Cell(group),
            *(_printed(printed.columns.get(column)) for column in COLUMNS),
            Cell(printed.perplexity.text),
            Cell(printed.bleu.text),
            _printed(millions),
            _millions(counted.parameters, counted.source, "profile_models")
            if counted
            else Cell(EMPTY),
            Cell(""),
            Cell(""),
        ),
        "paper",
    )


def _printed(value: Printed | None) -> Cell:
    return Cell(value.text if value else "")


def _our_row(
    group: str,
    name: str,
    config: Config,
    found: Comparison | None,
    profile: ModelsProfile | None,
) -> Row:
    variation = found.models.get(name) if found else None
    near = config.models[name].neighbourhood
    title = Cell(group, detail=f"r = {near}" if near else "")
    cells = [Cell(text) for text in _model_cells(config.models[name])]
    if found is None or variation is None:
        return Row((title, *cells, Cell("not run", span=2), *[Cell("")] * 4))
    cost = profile.models.get(name, {}).get(config.variations.task) if profile else None
    run = variation.run
    return Row(
        (
            title,
            *cells,
            _over_seeds(variation.perplexity, run),
            _over_seeds(variation.bleu, run),
            _millions(cost.parameters, cost.source, "profile_models") if cost else Cell(EMPTY),
            Cell(""),
            *(
                [Cell(EMPTY, tone="quiet")] * 2
                if name == found.base
                else [
                    _moves(variation.perplexity, "×{:.2f}", run, found.hindrance),
                    _moves(variation.bleu, "{:+.2f}", run, found.hindrance),
                ]
            ),
        ),
        "ours",
    )


def _moves(measure: Measure, form: str, run: str, hindrance: str) -> Cell:
    """What is said of a row beside the base, and the effect; or why nothing can be said."""
    said = agreement(measure.claim, measure.outcome)
    tone = "quiet" if measure.outcome == "undecided" else ""
    effect = measure.effect
    if effect is None:
        return Cell(said, detail=hindrance, tone=tone)
    value, low, high = (
        form.format(number).replace("-", MINUS)
        for number in (effect.value, effect.low, effect.high)
    )
    sources = tuple(f"{effect.source}.{name}" for name in ("value", "low", "high"))
    return Cell(said, detail=f"{value}, {low} to {high}", sources=sources, run=run, tone=tone)


def _model_cells(model: Model) -> Iterator[str]:
    for column in COLUMNS:
        value = getattr(model, column)
        yield f"{value:,}" if column == "steps" else str(value)


def _over_seeds(measure: Measure, run: str) -> Cell:
    detail = f"± {measure.sd:.2f}" if measure.sd is not None else ""
    sources = (f"{measure.source}.mean", *((f"{measure.source}.sd",) if detail else ()))
    return Cell(f"{measure.mean:.2f}", detail=detail, sources=sources, run=run)


def _millions(parameters: int, source: str, run: str) -> Cell:
    return Cell(f"{parameters / 1e6:.2f}", sources=(f"{source}.parameters",), run=run)
