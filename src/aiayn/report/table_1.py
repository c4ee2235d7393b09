"""Table 1: what a layer costs and how far a signal travels, the paper's formulas and our fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from aiayn.paper import LayerRow, Paper
from aiayn.profiling.layer_types import LAYER_TYPES
from aiayn.report.cells import judged_cell
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.table_1_figures import table_1_figures
from aiayn.report.tables import MINUS, RAISED, Cell, RowValues, Table, row, table, text
from aiayn.report.verdict import Entry, Verdict
from aiayn.results.frames import layers_frame
from aiayn.results.profiles import Chain, LayersProfile

FIELDS = (
    "origin", "layer", "quantity", "size", "n", "d", "k", "r", "value", "standard_error", "paper",
    "verdict",
)  # fmt: skip
TOLERANCE_EXPONENT = 0.02

LEAD = (
    "The paper derives this table and measures none of it. Here every cell is measured: FLOPs are "
    "counted in the traced layers, the longest chain of operations is found in their "
    "data-dependence graph, and path lengths by differentiating stacks of them. None of it depends "
    "on the scale or the machine."
)
COUNTING = (
    "A multiply-add is two FLOPs. fvcore's count (doubled: it takes a multiply-add as one), that "
    "of torch's FlopCounterMode and the closed formula are equal at every size; otherwise the "
    "stage fails. Table 1's term is what its formula covers: for attention Q K and the weights "
    "times V, without the four projections, which the whole layer adds."
)
GROWTH = (
    f"Holds by construction: every exponent of the term is within {TOLERANCE_EXPONENT} of the "
    "paper's, as it must be where fvcore, torch and the formula count the same. Exponents are "
    "fitted in log-log space, one size varying, with the fit's standard error: 0.0000 is an exact "
    "power. With its projections a layer of attention is not a pure power of n or d."
)
CHAINS = (
    "Sequential operations: the longest chain of operations of which each needs the one before, "
    "matrix products being one each. Reproduced: it does not change with n, or it grows by the "
    "same amount with every position."
)
PATHS = (
    "Path length: layers (of the recurrence: time steps) until the last position depends on the "
    "first, from the layers' Jacobians. Reproduced: at every measured size it is exactly what the "
    "paper's term gives for the layer's definition. A contiguous kernel reaches ⌊k / 2⌋ positions "
    "either way, a neighborhood ⌊r / 2⌋. The dilated kernels read backwards, as in ByteNet's "
    "decoder, with dilations 1, k, k², ..., so that L layers reach all distances of L digits to "
    "base k."
)


def section(evidence: Evidence) -> Section:
    """The paper's layout with ours beneath; the formulas alone where profile_layers has not run."""
    paper, profile = evidence.paper, evidence.layers
    entries = dict(_entries(paper, profile))
    return Section(
        key="table_1",
        title="Table 1: layer types",
        subtitle="complexity, sequential operations and path length",
        lead=LEAD,
        tables=(_as_printed(paper, entries),),
        records=_records(paper, profile, entries),
        entries=tuple(entries.values()),
        figures=table_1_figures(paper, profile) if profile else (),
    )


def formula(tex: str) -> str:
    """A formula of the table as text: O(n^2 \\cdot d) as O(n² · d), \\log_k as log_k."""
    plain = tex.replace(r"\cdot", "·").replace(r"\log", "log")
    return re.sub(r"\^(\d)", lambda found: found[1].translate(RAISED), plain)


def _complexity(profile: LayersProfile, key: str, _: LayerRow) -> tuple[Cell, Verdict]:
    """n^2.00 · d^1.00 over the standard errors."""
    counts = profile.counts[key]
    fits = {size: exponent.term for size, exponent in counts.exponents.items()}
    named = {"log_k_n": "(log_k n)"}
    powers = " · ".join(f"{named.get(size, size)}^{fit.value:.2f}" for size, fit in fits.items())
    errors = ", ".join(f"±{fit.standard_error:.4f}" for fit in fits.values())
    sources = [f"{fit.source}.value" for fit in fits.values()]
    sources += [f"{fit.source}.standard_error" for fit in fits.values()]
    holds = all(
        abs(fit.value - counts.paper[size]) <= TOLERANCE_EXPONENT for size, fit in fits.items()
    )
    cell = Cell(powers.replace("-", MINUS), detail=errors, sources=tuple(sources))
    return cell, Verdict.BY_CONSTRUCTION if holds else Verdict.DIFFERS


def _sequential(profile: LayersProfile, key: str, printed: LayerRow) -> tuple[Cell, Verdict]:
    chain = profile.chains[key]
    # one more position must always cost the same, which leaves the line no error
    is_line = chain.slope.standard_error <= abs(chain.slope.value) * TOLERANCE_EXPONENT
    holds = is_line and _grows(chain) == (printed.sequential_operations == "O(n)")
    return _chain_cell(chain), Verdict.REPRODUCED if holds else Verdict.DIFFERS


def _path_length(profile: LayersProfile, key: str, _: LayerRow) -> tuple[Cell, Verdict]:
    """The exact count if it is what was measured; else that it is not."""
    stack = LAYER_TYPES[key].path_from or key
    exact = LAYER_TYPES[stack].path
    assert exact is not None, f"no path length of {stack}"
    if exact.matches(profile.paths[stack].points.values()):
        return Cell(exact.formula), Verdict.REPRODUCED
    return Cell("another number", detail=f"than {exact.formula}"), Verdict.DIFFERS


Measure = Callable[[LayersProfile, str, LayerRow], tuple[Cell, Verdict]]
COLUMNS: Mapping[str, tuple[str, Measure]] = {
    "complexity": ("Complexity per layer", _complexity),
    "sequential_operations": ("Sequential operations", _sequential),
    "maximum_path_length": ("Maximum path length", _path_length),
}


def _entries(
    paper: Paper, profile: LayersProfile | None
) -> Iterator[tuple[tuple[str, str], Entry]]:
    """Every cell by row and column."""
    for key, printed in paper.table_1.items():
        for column, (heading, measure) in COLUMNS.items():
            ours, verdict = measure(profile, key, printed) if profile else (None, Verdict.NOT_RUN)
            yield (
                (key, column),
                Entry(
                    what=f"{printed.name}: {heading[0].lower()}{heading[1:]}",
                    paper=formula(getattr(printed, column)),
                    ours=ours,
                    verdict=verdict,
                    reasons=() if ours else ("not measured yet",),
                ),
            )


def _as_printed(paper: Paper, entries: Mapping[tuple[str, str], Entry]) -> Table:
    rows: list[RowValues] = []
    for key, printed in paper.table_1.items():
        of_row = [entries[key, column] for column in COLUMNS]
        rows.append(row(printed.name, *(e.paper for e in of_row), tone="paper", block=key))
        if all(entry.ours for entry in of_row):
            rows.append(row("ours", *map(judged_cell, of_row), tone="ours", block=key))
    return table(
        "Table 1",
        text("Layer type", *(heading for heading, _ in COLUMNS.values())),
        rows,
        (
            f"{paper.about['table_1']} Source of the formulas: {paper.source}.",
            *paper.notes["table_1"].values(),
            COUNTING,
            GROWTH,
            CHAINS,
            PATHS,
        ),
        key="table-1",
    )


def _chain_cell(chain: Chain) -> Cell:
    """3 n + 2, or a constant."""
    intercept, slope = chain.intercept, chain.slope
    if not _grows(chain):
        return Cell(f"{intercept.value:g}", sources=(f"{intercept.source}.value",))
    sources = (f"{slope.source}.value", f"{intercept.source}.value")
    return Cell(f"{slope.value:g} n + {intercept.value:g}", sources=sources)


def _grows(chain: Chain) -> bool:
    return len(set(chain.operations.values())) > 1


def _records(
    paper: Paper, profile: LayersProfile | None, entries: Mapping[tuple[str, str], Entry]
) -> pd.DataFrame:
    """The paper's formulas, then every number of ours; fields are empty where they do not apply."""
    printed = pd.DataFrame(
        {
            "origin": "paper",
            "layer": key,
            "quantity": column,
            "value": getattr(paper.table_1[key], column),
            "verdict": entry.verdict.value,
        }
        for (key, column), entry in entries.items()
    )
    ours = layers_frame(profile)
    ours = ours[ours["quantity"] != "path_length"]
    is_fit, value = ours["standard_error"].notna(), ours["value"]
    ours = ours.assign(
        origin="ours",
        value=value.map("{:g}".format).where(is_fit, value.map("{:.0f}".format)),
        standard_error=ours["standard_error"].map("{:g}".format, na_action="ignore"),
    )
    return pd.concat([printed, ours]).reindex(columns=list(FIELDS))
