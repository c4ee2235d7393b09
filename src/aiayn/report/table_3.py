"""Table 3: variations of the architecture, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from aiayn.evaluation.contrasts import Design
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS
from aiayn.paper import VariationRow, recipe_of
from aiayn.paper.claims import agreement
from aiayn.report.evidence import Evidence
from aiayn.report.findings import design_notes, effect_cell
from aiayn.report.section import Section
from aiayn.report.table_3_figures import figures
from aiayn.report.table_3_records import OURS_ALONE, model_name, records
from aiayn.report.tables import (
    NOTHING,
    Cell,
    RowValues,
    Table,
    Value,
    not_run,
    numbers,
    row,
    table,
    text,
)
from aiayn.report.verdict import TOLERANCE_BLEU, TOLERANCE_PERPLEXITY, Entry, compare_with_paper
from aiayn.results import paths
from aiayn.results.comparison import Measure, Variation
from aiayn.results.frames import over_seeds, scores_frame

SIZES = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "eps_ls", "steps")

PROTOCOL = (
    "Perplexity is per word piece, so it compares only within one vocabulary. Both are of the last "
    "checkpoint, not averaged, on the development set (section 6.2); ours is sacreBLEU (13a). With "
    "several seeds a cell is their mean, with the standard deviation beside it."
)
DECLARED_PROTOCOL = (
    "Perplexity is per word piece, so it compares only within one vocabulary. The paper's figures "
    "are of the last checkpoint on the development set (section 6.2), as is our perplexity. Our "
    "BLEU (sacreBLEU, 13a) is, as declared, of {weights} on {splits} as one set of {pairs:,} "
    "sentences. With several seeds a cell is their mean, with the standard deviation beside it."
)
VERSUS_BASE = (
    "Vs base: whether a row of ours differs from the base by more than another seed would, beside "
    "what the paper says. Below it, ours relative to the base: a difference of BLEU or a ratio of "
    "perplexities, with its interval (simultaneous, 95 %; of row E 90 %). Rows are compared with "
    "the base by the seeds that both have (Student's paired t), so a row with one seed is not "
    "tested; p-values are corrected over all tests of the table (Holm), separately from the "
    "findings, and significant below 0.05. Undecided: within the noise of the seed."
)
DECLARED_ELSEWHERE = (
    "The tests of this table are exploratory. The findings, on the same models, were declared "
    "before the first of them was trained, in the commit {} (docs/preregistration.md)."
)
CLAIMS = (
    "Each of the paper's rows is one training. Its differences of up to 0.3 BLEU, or 3 % of "
    "perplexity, count as no direction: for these rows ours is reported as higher or lower, with "
    "no claim of the paper to compare with. Row (E) is a claim of equality and is tested as one, "
    "by two one-sided tests: within {bleu:g} BLEU and {percent:g} % of perplexity "
    "(docs/decisions/significance.md)."
)
WEIGHTS = {"last": "the last checkpoint", "averaged": "the averaged checkpoints"}
BLANK = "As in the paper, a blank is the base's value; ours has a base of its own."
FURTHER = (
    "{labels}: not in the paper, for the same sentences as BLEU. The tests of such metrics are a "
    "family of their own."
)
NEIGHBOURHOOD = (
    "Rows with r: self-attention restricted to r positions, in the source around a position, in "
    "the target up to it. The paper plans it (section 4) and has no such row."
)


def section(evidence: Evidence) -> Section:
    """Table 3 with ours; entries are the BLEU and perplexity cells of all rows."""
    return Section(
        key="table_3",
        title="Table 3: variations",
        subtitle="of the architecture, on the development set",
        lead=evidence.paper.about["table_3"],
        tables=(_table(evidence),),
        records=records(evidence),
        entries=tuple(_entries(evidence)),
        figures=tuple(figures(evidence)),
    )


def _variations(evidence: Evidence) -> Mapping[str, Variation]:
    """Our models that were compared, by name."""
    return evidence.variations.models if evidence.variations else {}


def _entries(evidence: Evidence) -> Iterator[Entry]:
    """Of every row BLEU, ours by the protocol that table 2 uses for the pair, and perplexity; both
    are means over the seeds."""
    config, variations = evidence.config, _variations(evidence)
    scores = scores_frame(config, evidence.scores)
    protocol = evidence.paper.table_2_columns["en-de"].protocol
    of_dev = (scores["task"] == config.variations.task) & (scores["split"] == paths.DEV)
    bleus = scores[of_dev & (scores["metric"] == protocol)]
    for key, printed in evidence.paper.table_3.items():
        model = model_name(config, key)
        variation = variations.get(model)
        run = variation.run if variation else ""
        bleu = _mean(bleus[bleus["model"] == model])
        measured = variation.perplexity if variation else None
        perplexity = (measured.mean, f"{measured.source}.mean") if measured else None
        tolerance = TOLERANCE_PERPLEXITY * printed.perplexity.value
        for name, cell, ours, allowed in (
            ("BLEU", printed.bleu, bleu, TOLERANCE_BLEU),
            ("perplexity", printed.perplexity, perplexity, tolerance),
        ):
            value, source = ours or (None, "")
            shown = "" if value is None else f"{value:.2f}"
            yield compare_with_paper(
                evidence,
                f"{_words(key, printed)}: {name}",
                cell,
                value,
                Cell(shown, sources=(source,) if source else (), run=run),
                run=run,
                split=paths.DEV,
                recipe=recipe_of(key),
                tolerance=allowed,
            )


def _mean(scores: pd.DataFrame) -> tuple[float, str] | None:
    """Of one score over a model's seeds; and where it is written, if it is that of one run."""
    if scores.empty:
        return None
    source = f"{scores['source'].iloc[0]}.value" if len(scores) == 1 else ""
    return float(over_seeds(scores)["mean"].iloc[0]), source


def _words(key: str, printed: VariationRow) -> str:
    if key in ("base", "big"):
        return key
    cells = ", ".join(f"{column} {cell.text}" for column, cell in printed.columns.items())
    return f"({printed.group}) {cells}"


def _table(evidence: Evidence) -> Table:
    paper, config = evidence.paper, evidence.config
    models = {model_name(config, key) for key in paper.table_3}
    own = [name for name in _variations(evidence) if name not in models]
    further, margins = _further(evidence), Design.of(config.variations).margins
    rows: list[RowValues] = []
    for key, printed in paper.table_3.items():
        rows.append(_paper_row(key, printed, len(further)))
        rows += _our_row(model_name(config, key), printed.group, evidence)
    for name in own:
        rows += _our_row(name, OURS_ALONE, evidence)
    return table(
        "Table 3",
        text("Row")
        + numbers(*SIZES, form="", minor=True)
        + numbers("PPL", "BLEU", *further, "params ×10⁶")
        + text("PPL vs base", "BLEU vs base", *(f"{label} vs base" for label in further)),
        rows,
        (
            *_not_run(evidence),
            BLANK,
            _protocol(evidence),
            *_seeds(evidence),
            VERSUS_BASE,
            *design_notes(config, DECLARED_ELSEWHERE),
            CLAIMS.format(bleu=margins["bleu"], percent=100 * margins["perplexity"]),
            *([FURTHER.format(labels=", ".join(further))] if further else []),
            *([NEIGHBOURHOOD] if any(config.models[name].neighbourhood for name in own) else []),
            paper.notes["table_3"]["B.d_v"],
            f"Published figures: {paper.source}.",
        ),
        key="table-3",
    )


def _protocol(evidence: Evidence) -> str:
    """What was measured on which sentences."""
    declared, compared = evidence.config.variations.preregistration, evidence.variations
    if declared is None or compared is None:
        return PROTOCOL
    return DECLARED_PROTOCOL.format(
        weights=WEIGHTS[declared.weights],
        splits=" and ".join(declared.splits),
        pairs=compared.test_set.pairs,
    )


def _seeds(evidence: Evidence) -> Iterator[str]:
    """A note on the number of seeds by model, if one has several."""
    counts = {name: len(variation.seeds) for name, variation in _variations(evidence).items()}
    by_count = {
        count: ", ".join(name for name, seeds in counts.items() if seeds == count)
        for count in sorted(set(counts.values()), reverse=True)
    }
    if any(count > 1 for count in by_count):
        models = (f"{count} of {names}" for count, names in by_count.items())
        yield f"Number of seeds: {'; '.join(models)}."


def _further(evidence: Evidence) -> list[str]:
    """The labels of the metrics that the paper does not have."""
    labels = {metric.name: metric.label for metric in TRANSLATION_METRICS}
    compared = evidence.variations
    names = compared.models[compared.base].further if compared else ()
    return [labels.get(name, name) for name in names]


def _not_run(evidence: Evidence) -> Iterator[str]:
    """A note on the rows whose model this scale has but has not run."""
    config, variations = evidence.config, _variations(evidence)
    rows = (model_name(config, key) for key in evidence.paper.table_3)
    models = [name for name in rows if name in config.models]
    reasons = {
        config.run(run).model: why for run, why in evidence.unfinished.items() if run in config.runs
    }
    scored = {config.run(run).model for run, splits in evidence.scores.items() if splits}
    yield from not_run({name: name in variations or name in scored for name in models}, reasons)


def _paper_row(key: str, printed: VariationRow, further: int) -> RowValues:
    group = f"({printed.group})" if len(printed.group) == 1 else printed.group
    sizes: list[Value] = [
        cell.text if (cell := printed.columns.get(size)) else "" for size in SIZES
    ]
    if printed.columns.keys() == {"positions"}:
        sizes = [Cell("learned positions instead of sinusoids", span=len(SIZES))]
    varied = "" if key == "base" else ", ".join(
        f"{name} {cell.text}" for name, cell in printed.columns.items()
    )  # fmt: skip
    millions = printed.parameters_millions
    return row(
        Cell(group, detail=varied),
        *sizes,
        printed.perplexity.text,
        printed.bleu.text,
        *[""] * further,
        millions.text if millions else "",
        "",
        tone="paper",
        block=printed.group,
    )


def _our_row(name: str, group: str, evidence: Evidence) -> Iterator[RowValues]:
    """The sizes in which it differs from the base, and what it scored; none of a model that was not
    run."""
    config, compared = evidence.config, evidence.variations
    if compared is None or name not in compared.models:
        return
    variation = compared.models[name]
    model, base = config.models[name], config.models[compared.base]
    is_base = name == compared.base
    sizes: list[Value] = [
        value if is_base or value != getattr(base, size) else ""
        for size in SIZES
        for value in (getattr(model, size),)
    ]
    if model.positions != base.positions:
        kind = "no" if model.positions == "none" else model.positions
        sizes = [Cell(f"{kind} positions", span=len(SIZES))]
    versus_base = [
        NOTHING if is_base else _versus_base(measure, found, variation.run)
        for measure, found in variation.measures.items()
    ]
    named = {"r" if key == "neighbourhood" else key: x for key, x in model.extensions.items()}
    yield row(
        Cell("ours", detail=", ".join([name, *(f"{key} = {x}" for key, x in named.items())])),
        *sizes,
        *(_over_seeds(measure, variation.run) for measure in variation.measures.values()),
        _millions(evidence, name),
        *versus_base,
        tone="ours",
        block=group,
    )


def _versus_base(measure: str, found: Measure, run: str) -> Cell:
    """How a row of ours differs from the base, and the effect; or why there is none."""
    outcome = agreement(found.claim, found.outcome)
    tone = "quiet" if found.outcome == "undecided" else ""
    if found.effect is None:
        return Cell(outcome, detail=found.why_not_tested or "", tone=tone)
    return effect_cell(found.effect, measure, run, outcome, tone)


def _over_seeds(measure: Measure, run: str) -> Cell:
    detail = f"± {measure.sd:.2f}" if measure.sd is not None else ""
    sources = (f"{measure.source}.mean", *((f"{measure.source}.sd",) if detail else ()))
    return Cell(f"{measure.mean:.2f}", detail=detail, sources=sources, run=run)


def _millions(evidence: Evidence, model: str) -> Value:
    """Of parameters; None where they have not been counted."""
    costs = evidence.models.models.get(model, {}) if evidence.models else {}
    cost = costs.get(evidence.config.variations.task)
    if cost is None:
        return None
    return Cell(f"{cost.parameters / 1e6:.2f}", sources=(f"{cost.source}.parameters",))
