"""Costs: parameters of table 3's rows, FLOPs for each piece, the paper's own training counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aiayn.config import Config
from aiayn.paper import Cost, Paper
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.tables import Cell, RowValues, Table, numbers, power_of_ten, row, table, text
from aiayn.report.verdict import Entry, Verdict
from aiayn.results.frames import models_frame
from aiayn.results.history import History
from aiayn.results.profiles import ModelCost, ModelsProfile

SECONDS_PER_HOUR = 3600
LEAD = (
    "Parameters and FLOPs are counted in the models, without data: by fvcore and by torch, and "
    "checked against the closed formula. The paper's own models are built at their full size."
)


def section(evidence: Evidence) -> Section:
    """Parameters of table 3's rows, and training cost by three methods; the CSV has the FLOPs of
    each model for each piece."""
    paper, models = evidence.paper, evidence.models
    tables = () if models is None else (
        _training(paper, models), _parameters(paper, models),
    )  # fmt: skip
    return Section(
        key="costs",
        title="Parameters and FLOPs",
        subtitle="counted in the models",
        lead=LEAD,
        tables=tables,
        records=models_frame(models).drop(columns="source"),
        entries=tuple(_entries(paper, models)),
    )


def _training(paper: Paper, models: ModelsProfile) -> Table:
    cost = paper.table_2_cost

    def rows() -> Iterator[RowValues]:
        for key, hours in cost.hours.items():
            printed = paper.table_2[key].flops_of_both
            estimated = rounded(estimate(cost, hours.value))
            counted = paper_cost(paper, models, key)
            if printed is not None:
                yield row(
                    paper.table_2[key].name,
                    power_of_ten(printed.text),
                    Cell(estimated, detail=f"{hours.text} h × {cost.gpus} {cost.gpu}"),
                    rounded(counted),
                    f"{counted / printed.value:.0%}",
                )

    rate = cost.sustained_teraflops[cost.gpu].text
    return table(
        "Training cost of the paper's own models, FLOPs",
        text("Model")
        + numbers("Printed", "Hours × GPUs × rate", "Counted × pieces", "Counted / printed"),
        rows(),
        (
            paper.notes["table_2"]["flops"],
            f"The rate is footnote 5's {rate} TFLOPS sustained, single precision.",
            "Counted: the matrix products of forward and backward pass (three times the forward "
            f"ones), in sentences of {models.sentence_pieces} pieces a side, × steps × "
            f"{cost.pieces_a_step:,} source and as many target pieces a step, at a vocabulary of "
            f"{models.paper['base'].vocabulary:,}. Padding, softmax, normalisation, the optimizer "
            "and idle time are in the paper's figure and not in this one.",
        ),
        key="training-cost",
    )


def _parameters(paper: Paper, models: ModelsProfile) -> Table:
    printed = {key: paper.table_3[key].parameters_millions for key in models.paper}
    return table(
        f"Parameters of table 3's rows over {models.paper['base'].vocabulary:,} pieces",
        text("Row") + numbers("Paper, millions", "Counted"),
        (
            row(
                key,
                millions.text if (millions := printed[key]) else None,
                Cell(f"{counted.parameters:,}", sources=(f"{counted.source}.parameters",)),
            )
            for key, counted in models.paper.items()
        ),
        (
            paper.notes["table_3"]["parameters_millions"],
            paper.notes["table_3"]["B.d_v"],
        ),
        key="parameters",
    )


def _entries(paper: Paper, models: ModelsProfile | None) -> Iterator[Entry]:
    """Whether base and big have the printed millions of parameters at the paper's vocabulary."""
    for key in paper.table_2_cost.hours:
        if printed := paper.table_3[key].parameters_millions:
            cell, verdict = None, Verdict.NOT_RUN
            if models:
                counted = models.paper[key]
                millions = counted.parameters / 1e6
                cell = Cell(f"{millions:.1f}", sources=(f"{counted.source}.parameters",))
                same = round(millions) == printed.value
                verdict = Verdict.REPRODUCED if same else Verdict.DIFFERS
            yield Entry(
                what=f"{paper.table_2[key].name}: millions of parameters",
                paper=printed.text,
                ours=cell,
                verdict=verdict,
                reasons=() if cell else ("not counted yet",),
            )


def counted_costs(
    config: Config, models: ModelsProfile | None, histories: Mapping[str, History | None]
) -> dict[str, float]:
    """FLOPs of every run that has a history: target pieces x the FLOPs of a source and a target
    piece.

    A history counts target pieces; as many source pieces are assumed, since batches hold about as
    many of either (section 5.1).
    """
    costs = {}
    for name, history in histories.items():
        run = config.run(name)
        model = models.models.get(run.model, {}).get(run.task) if models else None
        if model and history and history.lines:
            costs[name] = _flops(model, history.lines[-1].tokens)
    return costs


def paper_cost(paper: Paper, models: ModelsProfile, row: str) -> float:
    """FLOPs of the paper's own training: its steps x its pieces a step, on either side."""
    steps = {**paper.table_3["base"].columns, **paper.table_3[row].columns}["steps"].value
    return _flops(models.paper[row], steps * paper.table_2_cost.pieces_a_step)


def _flops(model: ModelCost, pieces_a_side: float) -> float:
    flops = model.training_flops
    return (flops.source + flops.target) * pieces_a_side


def estimate(cost: Cost, hours: float) -> float:
    """The paper's method: hours x GPUs x the sustained rate of the GPU (footnote 5)."""
    return hours * SECONDS_PER_HOUR * cost.gpus * cost.sustained_teraflops[cost.gpu].value * 1e12


def rounded(flops: float) -> str:
    """2.3·10¹⁹: two digits, as the paper prints."""
    return power_of_ten(f"{flops:.1e}".replace("e+0", "e").replace("e+", "e"))
