"""Table 1: what a layer costs and how far a signal travels, the paper's formulas and our fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aiayn.paper import LayerRow, Paper
from aiayn.report.evidence import Evidence
from aiayn.report.parts.section import Entry, Section
from aiayn.report.parts.tables import DIGITS, MINUS, SUPERSCRIPTS, Cell, Row, Table
from aiayn.report.parts.verdict import Verdict
from aiayn.report.table_1.layer_figures import NAMES, ROWS, table_1_figures
from aiayn.report.table_1.layer_lines import COLUMNS, layer_records
from aiayn.report.table_1.path_lengths import PATHS_RULE, as_counted, kind_of, path_cell, paths
from aiayn.results.profiles import Chain, Fitted, LayersProfile

TOLERANCE_EXPONENT = 0.02

LEAD = (
    "The paper derives this table and measures none of it. Here every cell is measured: FLOPs are "
    "counted in the traced layers, the longest chain of operations is found in their "
    "data-dependence graph, and path lengths by differentiating stacks of them. None of it depends "
    "on the scale or the machine."
)
COUNTING = (
    "A multiply-add is two FLOPs. fvcore's count (doubled: it takes a multiply-add as one), that "
    "of torch's FlopCounterMode and the closed formula are equal at every size; if not, the stage "
    "that measures stops. "
    "Table 1's term is what its formula speaks of: for attention Q K and the weights times V, "
    "without the four projections, which the whole layer adds."
)
GROWTH = (
    f"Holds by construction: every exponent of the term is within {TOLERANCE_EXPONENT} of the "
    "paper's, as it must be where fvcore, torch and the formula count the same. Exponents are "
    "fitted in log-log space, one size varying, with the fit's standard error: 0.0000 is an "
    "exact power. With its projections a layer of attention is no pure power of n or d."
)
CHAINS = (
    "Sequential operations: the longest chain of operations of which each needs the one before, "
    "matrix products being one each. Reproduced: it does not change with n, or it grows by the "
    "same amount with every position."
)


def section(evidence: Evidence) -> Section:
    """The paper's layout with ours beneath, exponents, counts at the paper's sizes, path lengths;
    the formulas alone where profile_layers has not run."""
    paper, profile = evidence.paper, evidence.layers
    tables: tuple[Table, ...] = (_as_printed(paper, profile),)
    if profile:
        tables += (_exponents(profile), _counts(profile), _chains(profile), paths(profile))
    entries = tuple(_entries(paper, profile))
    return Section(
        key="table_1",
        title="Table 1: layer types",
        subtitle="Complexity, sequential operations, path length",
        lead=LEAD,
        tables=tables,
        records=layer_records(paper, profile, entries),
        entries=entries,
        figures=table_1_figures(profile) if profile else (),
    )


def formula(tex: str) -> str:
    """A formula of the table as text: O(n^2 \\cdot d) as O(n² · d), \\log_k as log_k."""
    text = tex.replace(r"\cdot", "·").replace(r"\log", "log")
    return re.sub(r"\^(\d)", lambda found: SUPERSCRIPTS[DIGITS.index(found[1])], text)


def _as_printed(paper: Paper, profile: LayersProfile | None) -> Table:
    rows = []
    for key, printed in paper.table_1.items():
        cells = [Cell(formula(getattr(printed, column))) for column in COLUMNS]
        rows.append(Row((Cell(printed.name), Cell("paper"), *cells), "paper"))
        ours = [_measured(profile, key, column) or _not_run() for column in COLUMNS]
        rows.append(Row((Cell(printed.name), Cell("ours"), *ours), "ours"))
    return Table(
        "Table 1, with ours beneath",
        (
            "Layer type", "Figures",
            "Complexity per layer", "Sequential operations", "Maximum path length",
        ),
        "lllll",
        tuple(rows),
        (
            ("", f"{paper.about['table_1']} Source of the formulas: {paper.source}."),
            *(("", note) for note in paper.notes["table_1"].values()),
            ("", GROWTH), ("", CHAINS), ("", PATHS_RULE),
        ),
        key="table-1",
    )  # fmt: skip


def _not_run() -> Cell:
    return Cell("not measured", tone="quiet")


def _measured(profile: LayersProfile | None, key: str, column: str) -> Cell | None:
    """Our cell beneath one of the paper's; None without a profile."""
    if profile is None:
        return None
    if column == "sequential_operations":
        return _chain_cell(profile.chains[key])
    if column == "complexity":
        return _power_cell({size: e.term for size, e in profile.counts[key].exponents.items()})
    return path_cell(kind_of(key), profile.paths[kind_of(key)].points.values())


def _power_cell(exponents: Mapping[str, Fitted]) -> Cell:
    """n^2.00 · d^1.00 over the standard errors."""
    powers = [f"{_size(size)}^{_number(fit.value)}" for size, fit in exponents.items()]
    errors = [f"±{fit.standard_error:.4f}" for fit in exponents.values()]
    values = [f"{fit.source}.value" for fit in exponents.values()]
    spreads = [f"{fit.source}.standard_error" for fit in exponents.values()]
    return Cell(" · ".join(powers), detail=", ".join(errors), sources=(*values, *spreads))


def _chain_cell(chain: Chain) -> Cell:
    """3 n + 2, or a constant."""
    intercept, slope = chain.intercept, chain.slope
    text, sources = f"{intercept.value:g}", [f"{intercept.source}.value"]
    if _grows(chain):
        text = f"{slope.value:g} n + {text}"
        sources.insert(0, f"{slope.source}.value")
    return Cell(text, sources=tuple(sources))


def _size(name: str) -> str:
    return {"log_k_n": "(log_k n)"}.get(name, name)


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)


def _entries(paper: Paper, profile: LayersProfile | None) -> Iterator[Entry]:
    words = {
        "complexity": "complexity per layer",
        "sequential_operations": "sequential operations",
        "maximum_path_length": "maximum path length",
    }
    for key, printed in paper.table_1.items():
        for column in COLUMNS:
            ours = _measured(profile, key, column)
            yield Entry(
                what=f"{printed.name}: {words[column]}",
                paper=formula(getattr(printed, column)),
                ours=ours,
                verdict=_verdict(profile, printed, key, column) if profile else Verdict.NOT_RUN,
                reasons=() if ours else ("not measured yet",),
            )


def _verdict(profile: LayersProfile, printed: LayerRow, key: str, column: str) -> Verdict:
    if column == "complexity":
        holds = all(
            abs(exponent.term.value - profile.counts[key].paper[size]) <= TOLERANCE_EXPONENT
            for size, exponent in profile.counts[key].exponents.items()
        )
        return Verdict.BY_CONSTRUCTION if holds else Verdict.DIFFERS
    if column == "sequential_operations":
        chain = profile.chains[key]
        # one more position must always cost the same, which leaves the line no error
        is_line = chain.slope.standard_error <= abs(chain.slope.value) * TOLERANCE_EXPONENT
        holds = is_line and _grows(chain) == (printed.sequential_operations == "O(n)")
    else:
        holds = as_counted(kind_of(key), profile.paths[kind_of(key)].points.values())
    return Verdict.REPRODUCED if holds else Verdict.DIFFERS


def _grows(chain: Chain) -> bool:
    lengths = set(chain.operations.values())
    return len(lengths) > 1


def _exponents(profile: LayersProfile) -> Table:
    rows = []
    for name, counts in profile.counts.items():
        for size, exponent in counts.exponents.items():
            near = abs(exponent.term.value - counts.paper[size]) <= TOLERANCE_EXPONENT
            verdict = Verdict.BY_CONSTRUCTION if near else Verdict.DIFFERS
            rows.append(
                Row(
                    (
                        Cell(NAMES[name]),
                        Cell(size),
                        Cell(str(counts.paper[size])),
                        _fit_cell(exponent.term),
                        _fit_cell(exponent.layer),
                        Cell(verdict.value, tone=verdict.name.lower()),
                    )
                )
            )
    fixed = ", ".join(f"{size} = {value}" for size, value in profile.fixed)
    return Table(
        "Exponents of the FLOPs, counted",
        ("Layer type", "Size", "Paper", "Table 1's term", "Whole layer", "Verdict"),
        "llrrrl",
        tuple(rows),
        (("", f"What does not vary is fixed: {fixed}."), ("", COUNTING), ("", GROWTH)),
        key="exponents",
    )


def _fit_cell(fit: Fitted) -> Cell:
    return Cell(
        f"{fit.value:.4f}".replace("-", MINUS),
        detail=f"±{fit.standard_error:.4f}",
        sources=(f"{fit.source}.value", f"{fit.source}.standard_error"),
    )


def _counts(profile: LayersProfile) -> Table:
    """FLOPs over n at the paper's widths."""
    in_table = [name for name in profile.counts if name in ROWS]
    fixed = profile.fixed
    lengths = sorted({p.n for p in profile.counts[in_table[0]].points.values()})
    rows = []
    for name in in_table:
        points = {
            (p.n, p.d): p
            for p in profile.counts[name].points.values()
            if p.k == fixed.k and p.r == fixed.r and p.d >= fixed.d
        }
        widths = [
            d for d in sorted({d for _, d in points}) if all((n, d) in points for n in lengths)
        ]
        for d in widths:
            is_all = all(points[n, d].term == points[n, d].layer for n in lengths)
            parts = {"term": "all of it"} if is_all else {"term": "term", "layer": "whole layer"}
            for part, title in parts.items():
                cells = [
                    Cell(
                        f"{getattr(points[n, d], part):,}",
                        sources=(f"{points[n, d].source}.{part}",),
                    )
                    for n in lengths
                ]
                rows.append(Row((Cell(NAMES[name]), Cell(f"{d:,}"), Cell(title), *cells)))
    return Table(
        "FLOPs of one layer, forward, one sentence of n positions",
        ("Layer type", "d", "Counted", *(f"n = {n:,}" for n in lengths)),
        "lrl" + "r" * len(lengths),
        tuple(rows),
        (
            ("", f"Kernel k = {fixed.k}, neighbourhood r = {fixed.r}: where n is below r, "
             "windows hang over both ends and cost more than full attention."),
            ("", COUNTING),
        ),
        key="layer-flops",
    )  # fmt: skip


def _chains(profile: LayersProfile) -> Table:
    rows = (Row((Cell(NAMES[name]), _chain_cell(chain))) for name, chain in profile.chains.items())
    return Table(
        "Sequential operations, measured",
        ("Layer type", "Longest chain"),
        "lr",
        tuple(rows),
        (("", CHAINS),),
        key="chains",
    )
