"""Table 3 as pictures: what each variation does to BLEU and perplexity, in the paper and here."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

import pandas as pd

from aiayn.config import Model
from aiayn.paper.claims import agreement
from aiayn.report.drawing import DASHES, PALETTE, drawing
from aiayn.report.evidence import Evidence
from aiayn.report.section import Figure
from aiayn.results import paths
from aiayn.results.comparison import Comparison, Measure
from aiayn.results.profiles import ModelCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# what is varied, a panel each
LABELS = {
    "parameters": "parameters, millions",
    "h": "heads h",
    "d_k": "key width d_k",
    "P_drop": "dropout P_drop",
    "eps_ls": "label smoothing eps_ls",
}
MARKERS = {"base": ("o", 9), "own": ("D", 5), "": ("o", 3.5)}
MEASURES = {"bleu": "BLEU", "perplexity": "Perplexity"}


def figures(evidence: Evidence) -> Iterator[Figure]:
    """BLEU and perplexity against what the rows vary: the paper's above, ours below."""
    compared = evidence.variations
    if compared is None:
        return
    splits = {"bleu": compared.split.replace("+", " and "), "perplexity": paths.DEV}
    for measure, label in MEASURES.items():
        points = pd.DataFrame(
            {**row, "varied": varied, "x": row["columns"][varied]}
            for rows in (
                [*_paper_rows(evidence, measure)],
                [*_our_rows(evidence, compared, measure)],
            )
            for varied in LABELS
            for row in rows
            if (row["mark"] == "base" or varied_alone(row["changed"]) == varied)
            and row["columns"][varied] is not None
        )
        data = points.rename(columns={"y": measure})
        data = data[["origin", "varied", "row", "mark", "x", measure, "sd", "outcome"]]
        for name in ("x", measure, "sd"):
            data[name] = data[name].astype(float).map("{:g}".format, na_action="ignore")
        yield Figure(
            name=f"table_3_{measure}",
            title=f"{label} of table 3's variations",
            caption="Top: the paper's figures (newstest2013); bottom: ours at this scale. Each has "
            "its own axis, because text and models differ. "
            "A ring is the base, a diamond a row that the paper does not have. Bars are standard "
            "deviations over seeds, where there are several; the band is the base's. Rows of ours "
            "that are within the noise of the seed (undecided in table 3) are hollow.",
            svg=_draw(points, f"{label}, {splits[measure]}"),
            data=data,
        )


def varied_alone(changed: Set[str]) -> str:
    """The panel of a row that differs from the base in the columns `changed`.

    That is the one column it changes, or h together with d_k and d_v (the paper's rows A); any
    other row is shown by its size.
    """
    if "h" in changed and changed <= {"h", "d_k", "d_v"}:
        return "h"
    return next(iter(changed)) if len(changed) == 1 and changed <= LABELS.keys() else "parameters"


def _paper_rows(evidence: Evidence, measure: str) -> Iterator[dict[str, Any]]:
    base = evidence.paper.table_3["base"].columns
    for key, printed in evidence.paper.table_3.items():
        columns = {**base, **printed.columns}
        counted = evidence.models.paper.get(key) if evidence.models else None
        yield {
            "origin": "paper",
            "row": key,
            "mark": "base" if key == "base" else "",
            "changed": {name for name in base if columns[name] != base[name]},
            "columns": {
                name: columns[name].value if name in columns else _millions(counted)
                for name in LABELS
            },
            "y": getattr(printed, measure).value,
            "sd": None,
            "outcome": "",
        }


def _our_rows(evidence: Evidence, compared: Comparison, measure: str) -> Iterator[dict[str, Any]]:
    config = evidence.config
    base = _columns(config.models[compared.base])
    for model, variation in compared.models.items():
        columns = _columns(config.models[model])
        costs = evidence.models.models.get(model, {}) if evidence.models else {}
        found: Measure = getattr(variation, measure)
        is_base = model == compared.base
        is_printed = model in evidence.paper.table_3 and model != "base"
        yield {
            "origin": "ours",
            "row": model,
            "mark": "base" if is_base else "" if is_printed else "own",
            "changed": {name for name in base if columns[name] != base[name]},
            "columns": {
                name: columns.get(name, _millions(costs.get(config.variations.task)))
                for name in LABELS
            },
            "y": found.mean,
            "sd": found.sd,
            "outcome": "" if is_base else agreement(found.claim, found.outcome),
        }


def _columns(model: Model) -> dict[str, Any]:
    """Its columns of table 3."""
    return dict(model.replace(average=1, checkpoint_steps=1))


def _millions(cost: ModelCost | None) -> float | None:
    return cost.parameters / 1e6 if cost else None


def _draw(points: pd.DataFrame, label: str) -> str:
    with drawing(9.6, 4.6) as drawn:
        grid = drawn.figure.subplots(2, len(LABELS), sharey="row")
        for panels, origin, colour in zip(grid, ("paper", "ours"), PALETTE, strict=False):
            for axes, varied in zip(panels, LABELS, strict=True):
                shown = (points["origin"] == origin) & (points["varied"] == varied)
                _panel(axes, points[shown].sort_values("x", kind="stable"), varied, colour)
                if origin == "ours":
                    axes.set_xlabel(LABELS[varied])
            panels[0].set_ylabel(f"{origin}: {label}")
    return drawn.svg


def _panel(axes: Axes, points: pd.DataFrame, varied: str, colour: str) -> None:
    from matplotlib.ticker import MaxNLocator

    series = points[points["mark"] != "own"]
    # sizes of several columns at once are no series: only points
    line = "none" if varied == "parameters" else DASHES[0]
    axes.plot(series["x"], series["y"], color=colour, linestyle=line)
    for point in points.to_dict("records"):
        x, y, sd, is_base = point["x"], point["y"], point["sd"], point["mark"] == "base"
        if pd.notna(sd):
            axes.errorbar(x, y, yerr=sd, color=colour, linewidth=0.8)
            if is_base:
                axes.axhspan(y - sd, y + sd, color=colour, alpha=0.12)
        shape, size = MARKERS[point["mark"]]
        hollow = is_base or point["outcome"] == "undecided"
        axes.plot(
            [x], [y], marker=shape, markersize=size, color=colour,
            fillstyle="none" if hollow else "full", label=point["row"],
        )  # fmt: skip
    if varied == "parameters":
        axes.xaxis.set_major_locator(MaxNLocator(4))
    elif len(points):
        if varied in ("h", "d_k"):
            axes.set_xscale("log", base=2)
        axes.set_xticks(sorted(set(points["x"])))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
