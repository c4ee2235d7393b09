"""What training cost: the paper's estimate, and FLOPs counted in the model times pieces trained on.

The two are never the same: an estimate takes hours, GPUs and an assumed rate, whatever the GPUs
did; a count takes what the model's matrix products need, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiayn.config import Config
from aiayn.report.paper import Cost, Paper
from aiayn.report.profiles import ModelCost, ModelsProfile
from aiayn.report.results import History
from aiayn.report.section import Finding, Section
from aiayn.report.tables import EMPTY, Cell, Row, Table, power_of_ten
from aiayn.report.verdict import Verdict

SECONDS_AN_HOUR = 3600
LEAD = (
    "Parameters and FLOPs are counted in the models, on no data: by fvcore and by torch, and held "
    "against the closed formula. The paper's own models are built at their full size."
)


@dataclass(frozen=True)
class TrainingCost:
    """FLOPs of a training by counting, forward and backward; `source` is where its rates stand."""

    flops: float
    source: str


def counted_costs(
    config: Config, models: ModelsProfile | None, histories: Mapping[str, History | None]
) -> dict[str, TrainingCost]:
    """Of every run that has a history: target pieces x the FLOPs of a source and a target piece.

    A history counts target pieces; as many source pieces are taken for granted, as batches hold
    about as many of either (section 5.1).
    """
    costs = {}
    for name, history in histories.items():
        run = config.run(name)
        model = models.models.get(run.model, {}).get(run.task) if models else None
        if model and history and history.tokens:
            pieces = history.tokens[-1]
            costs[name] = TrainingCost(_flops(model, pieces), f"{model.source}.training_flops")
    return costs


def paper_cost(paper: Paper, models: ModelsProfile, row: str) -> TrainingCost:
    """Of the paper's own training: its steps x its pieces a step, of either side."""
    steps = {**paper.table_3["base"].columns, **paper.table_3[row].columns}["steps"].value
    model = models.paper[row]
    flops = _flops(model, steps * paper.table_2_cost.pieces_a_step)
    return TrainingCost(flops, f"{model.source}.training_flops")


def estimate(cost: Cost, *, hours: float, devices: int, device: str) -> float | None:
    """The paper's method: hours x GPUs x the sustained rate of the GPU (footnote 5).

    Args:
        device: any name that holds the GPU's, like "cuda: Tesla P100-PCIE-16GB".
    Returns:
        None for a device that the footnote gives no rate of.
    """
    for gpu, rate in cost.sustained_teraflops.items():
        if gpu in device:
            return hours * SECONDS_AN_HOUR * devices * rate.value * 1e12
    return None


def _flops(model: ModelCost, pieces_a_side: float) -> float:
    return sum(model.training_flops.values()) * pieces_a_side


def rounded(flops: float) -> str:
    """2.3·10¹⁹: two digits, as the paper prints."""
    return power_of_ten(f"{flops:.1e}".replace("e+0", "e").replace("e+", "e"))


def costs(paper: Paper, config: Config, models: ModelsProfile | None) -> Section:
    """Parameters of table 3's rows, FLOPs a piece, and training cost reckoned three ways."""
    tables = () if models is None else (
        _training(paper, models), _parameters(paper, config, models), _pieces(models),
    )  # fmt: skip
    return Section(
        key="costs",
        title="What the models cost",
        subtitle="Parameters of table 3, FLOPs of table 2",
        lead=LEAD,
        tables=tables,
        records=_records(models),
        findings=_findings(paper, models),
    )


def _training(paper: Paper, models: ModelsProfile) -> Table:
    cost, rows = paper.table_2_cost, []
    for row, hours in cost.hours.items():
        printed = paper.table_2[row].flops_of_both
        reckoned = estimate(cost, hours=hours.value, devices=cost.gpus, device=cost.gpu)
        counted = paper_cost(paper, models, row)
        if printed is None or reckoned is None:
            continue
        rows.append(
            Row(
                (
                    Cell(paper.table_2[row].name),
                    Cell(power_of_ten(printed.text)),
                    Cell(rounded(reckoned), detail=f"{hours.text} h × {cost.gpus} {cost.gpu}"),
                    _cost_cell(counted),
                    Cell(f"{counted.flops / printed.value:.0%}"),
                )
            )
        )
    rate = cost.sustained_teraflops[cost.gpu].text
    return Table(
        "Training cost of the paper's own models, FLOPs",
        ("Model", "Printed", "Hours × GPUs × rate", "Counted × pieces", "Counted / printed"),
        "lrrrr",
        tuple(rows),
        (
            ("", paper.notes["table_2"]["flops"]),
            ("", f"The rate is footnote 5's {rate} TFLOPS sustained, single precision."),
            ("", f"Counted: the matrix products of forward and backward pass (three times the "
             f"forward ones), in sentences of {models.sentence_pieces} pieces a side, × steps × "
             f"{cost.pieces_a_step:,} source and as many target pieces a step, at a vocabulary of "
             f"{models.paper['base'].vocabulary:,}. Padding, softmax, normalisation, the optimizer "
             "and idle time are in the paper's figure and not in this one."),
        ),
        key="training-cost",
    )  # fmt: skip


def _cost_cell(cost: TrainingCost) -> Cell:
    return Cell(
        rounded(cost.flops),
        sources=(f"{cost.source}.source", f"{cost.source}.target"),
        run="profile_models",
    )


def _parameters(paper: Paper, config: Config, models: ModelsProfile) -> Table:
    rows = []
    for key, counted in models.paper.items():
        printed = paper.table_3[key].parameters_millions
        width = config.profiling.paper.models[key].d_model
        pieces = EMPTY
        if printed:
            low, high = (_pieces_for(counted, width, printed.value + by) for by in (-0.5, 0.5))
            pieces = f"{low / 1000:.1f}K to {high / 1000:.1f}K"
        ours = Cell(
            f"{counted.parameters:,}",
            sources=(f"{counted.source}.parameters",),
            run="profile_models",
        )
        cells = (Cell(key), Cell(printed.text if printed else EMPTY), ours, Cell(pieces))
        rows.append(Row(cells))
    return Table(
        f"Parameters of table 3's rows over {models.paper['base'].vocabulary:,} pieces",
        ("Row", "Paper, millions", "Counted", "Pieces that give the printed figure"),
        "lrrr",
        tuple(rows),
        (
            ("", paper.notes["table_3"]["parameters_millions"]),
            ("", paper.notes["table_3"]["B.d_v"]),
        ),
        key="parameters",
    )


def _pieces_for(counted: ModelCost, width: int, millions: float) -> float:
    """The vocabulary at which the model would have so many parameters."""
    return counted.vocabulary + (millions * 1e6 - counted.parameters) / width


def _pieces(models: ModelsProfile) -> Table:
    """FLOPs of each piece, by model."""
    named = [
        (f"{model}, {task}", cost)
        for model, of in models.models.items()
        for task, cost in of.items()
    ]
    named += [(f"the paper's {row}", models.paper[row]) for row in ("base", "big")]
    rows = []
    for name, cost in named:
        cells = [
            Cell(
                f"{getattr(cost, kind)[side]:,}",
                sources=(f"{cost.source}.{kind}.{side}",),
                run="profile_models",
            )
            for kind in ("forward_flops", "training_flops")
            for side in ("source", "target")
        ]
        rows.append(Row((Cell(name), Cell(f"{cost.vocabulary:,}"), *cells)))
    return Table(
        f"FLOPs a piece, in sentences of {models.sentence_pieces} pieces a side",
        ("Model", "Pieces", "Forward, source", "Forward, target", "Training, source", "Training, target"),
        "lrrrrr",
        tuple(rows),
        (("", "A multiply-add is two FLOPs; fvcore, torch and the closed formula are equal."),),
        key="piece-flops",
    )  # fmt: skip


def _findings(paper: Paper, models: ModelsProfile | None) -> tuple[Finding, ...]:
    """Whether counting at the paper's vocabulary gives its parameters, to the printed million."""
    findings = []
    for key, row in paper.table_3.items():
        if row.parameters_millions is None:
            continue
        counted = models.paper.get(key) if models else None
        cell, verdict = None, Verdict.NOT_RUN
        if counted:
            millions = counted.parameters / 1e6
            same = round(millions) == row.parameters_millions.value
            verdict = Verdict.REPRODUCED if same else Verdict.DIFFERS
            source = f"{counted.source}.parameters"
            cell = Cell(f"{millions:.1f}", sources=(source,), run="profile_models")
        findings.append(
            Finding(
                what=f"Table 3, {key}: parameters in millions, {row.group}",
                paper=row.parameters_millions.text,
                ours=cell,
                verdict=verdict,
                reasons=() if cell else ("not counted yet",),
            )
        )
    return tuple(findings)


FIELDS = (
    "origin", "model", "task", "vocabulary", "parameters", "forward_flops_source",
    "forward_flops_target", "training_flops_source", "training_flops_target",
)  # fmt: skip


def _records(models: ModelsProfile | None) -> list[dict[str, str]]:
    """A line a model; `origin` says whose sizes they are."""
    if models is None:
        return []
    lines = [
        ("ours", m, task, cost) for m, of in models.models.items() for task, cost in of.items()
    ]
    lines += [("paper", row, "", cost) for row, cost in models.paper.items()]
    return [
        dict(
            zip(
                FIELDS,
                (
                    origin, name, task, str(cost.vocabulary), str(cost.parameters),
                    *(str(cost.forward_flops[side]) for side in ("source", "target")),
                    *(str(cost.training_flops[side]) for side in ("source", "target")),
                ),
                strict=True,
            )
        )
        for origin, name, task, cost in lines
    ]  # fmt: skip
