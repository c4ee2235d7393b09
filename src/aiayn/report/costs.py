"""Costs: parameters of table 3's rows, FLOPs for each piece, the paper's own training counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aiayn.config import Config
from aiayn.paper import Cost, Paper, model_of
from aiayn.report.evidence import Evidence
from aiayn.report.section import Entry, Section
from aiayn.report.tables import (
    Cell,
    RowValues,
    Table,
    Value,
    numbers,
    power_of_ten,
    row,
    rows_of_runs,
    table,
    text,
)
from aiayn.report.verdict import Verdict
from aiayn.results.frames import models_frame
from aiayn.results.history import History
from aiayn.results.metadata import TrainingMetadata
from aiayn.results.profiles import ModelCost, ModelsProfile

LEAD = (
    "Parameters and FLOPs are counted in the models, without data: by fvcore and by torch, and "
    "checked against the closed formula. The paper's own models are built at their full size."
)
FLOPS = {
    "forward_flops_source": "forward_flops.source",
    "forward_flops_target": "forward_flops.target",
    "training_flops_source": "training_flops.source",
    "training_flops_target": "training_flops.target",
}
"""Columns of the models' frame, and where each number stands in the file."""


def section(evidence: Evidence) -> Section:
    """Parameters of table 3's rows, FLOPs for each piece, and training cost by three methods."""
    paper, models = evidence.paper, evidence.models
    tables = () if models is None else (
        _training(paper, models), _parameters(paper, models), _pieces(models),
    )  # fmt: skip
    return Section(
        key="costs",
        title="Costs: parameters and FLOPs",
        subtitle="Parameters of table 3, FLOPs of table 2",
        lead=LEAD,
        tables=tables,
        records=models_frame(models).drop(columns="source"),
        entries=_entries(paper, models),
    )


def _training(paper: Paper, models: ModelsProfile) -> Table:
    cost = paper.table_2_cost

    def rows() -> Iterator[RowValues]:
        for key, hours in cost.hours.items():
            printed = paper.table_2[key].flops_of_both
            estimated = estimate(cost, hours=hours.value, devices=cost.gpus, device=cost.gpu)
            counted = paper_cost(paper, models, key)
            if printed is not None and estimated is not None:
                yield row(
                    paper.table_2[key].name,
                    power_of_ten(printed.text),
                    Cell(rounded(estimated), detail=f"{hours.text} h × {cost.gpus} {cost.gpu}"),
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
    ranges = dict(_vocabularies(paper, models))

    def rows() -> Iterator[RowValues]:
        for key, counted in models.paper.items():
            printed = paper.table_3[key].parameters_millions
            yield row(
                key,
                printed.text if printed else None,
                Cell(f"{counted.parameters:,}", sources=(f"{counted.source}.parameters",)),
                _thousands(ranges[key]) if key in ranges else None,
            )

    most = _agreeing(ranges)
    against = ", ".join(key for key in ranges if key not in most)
    common = max(ranges[key][0] for key in most), min(ranges[key][1] for key in most)
    return table(
        f"Parameters of table 3's rows over {models.paper['base'].vocabulary:,} pieces",
        text("Row") + numbers("Paper, millions", "Counted", "Pieces that give the printed figure"),
        rows(),
        (
            f"{_thousands(common)} pieces give every printed figure but that of {against}, "
            "which the rest of the column contradicts.",
            paper.notes["table_3"]["parameters_millions"],
            paper.notes["table_3"]["B.d_v"],
        ),
        key="parameters",
    )


def _vocabularies(paper: Paper, models: ModelsProfile) -> Iterator[tuple[str, tuple[float, float]]]:
    """By row, from how many to how many pieces would round to the printed parameters."""
    for key, counted in models.paper.items():
        printed = paper.table_3[key].parameters_millions
        if printed:
            width = model_of(key).d_model
            body = counted.parameters - counted.vocabulary * width
            low, high = ((printed.value + by) * 1e6 - body for by in (-0.5, 0.5))
            yield key, (low / width, high / width)


def _agreeing(ranges: Mapping[str, tuple[float, float]]) -> set[str]:
    """The largest set of rows that one vocabulary satisfies."""
    return max(
        (
            {key for key, (low, high) in ranges.items() if low <= pieces <= high}
            for pieces, _ in ranges.values()
        ),
        key=len,
    )


def _thousands(pieces: tuple[float, float]) -> str:
    return f"{pieces[0] / 1000:.1f}K to {pieces[1] / 1000:.1f}K"


def _pieces(models: ModelsProfile) -> Table:
    """FLOPs of each piece, by model."""

    def rows() -> Iterator[RowValues]:
        for cost in models_frame(models).to_dict("records"):
            name = f"{cost['model']}, {cost['task']}"
            if cost["origin"] == "paper":
                if cost["model"] not in ("base", "big"):
                    continue
                name = f"the paper's {cost['model']}"
            yield row(
                name,
                cost["vocabulary"],
                *(
                    Cell(f"{cost[column]:,}", sources=(f"{cost['source']}.{key}",))
                    for column, key in FLOPS.items()
                ),
            )

    return table(
        f"FLOPs per piece, in sentences of {models.sentence_pieces} pieces per side",
        text("Model")
        + numbers("Pieces", "Forward, source", "Forward, target")
        + numbers("Training, source", "Training, target"),
        rows(),
        ("A multiply-add is two FLOPs; fvcore, torch and the closed formula are equal.",),
        key="piece-flops",
    )


def _entries(paper: Paper, models: ModelsProfile | None) -> tuple[Entry, ...]:
    """Whether base and big have the printed millions of parameters at the paper's vocabulary."""
    return tuple(_entry(paper, models, row) for row in paper.table_2_cost.hours)


def _entry(paper: Paper, models: ModelsProfile | None, row: str) -> Entry:
    printed = paper.table_3[row].parameters_millions
    if printed is None:
        raise ValueError(f"table 3 prints no parameters of {row}")
    cell, verdict = None, Verdict.NOT_RUN
    if models:
        counted = models.paper[row]
        millions = counted.parameters / 1e6
        cell = Cell(f"{millions:.1f}", sources=(f"{counted.source}.parameters",))
        same = round(millions) == printed.value
        verdict = Verdict.REPRODUCED if same else Verdict.DIFFERS
    return Entry(
        what=f"{paper.table_2[row].name}: millions of parameters",
        paper=printed.text,
        ours=cell,
        verdict=verdict,
        reasons=() if cell else ("not counted yet",),
    )


SECONDS_PER_HOUR = 3600


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
        if model and history and history.tokens:
            costs[name] = _flops(model, history.tokens[-1])
    return costs


def paper_cost(paper: Paper, models: ModelsProfile, row: str) -> float:
    """FLOPs of the paper's own training: its steps x its pieces a step, on either side."""
    steps = {**paper.table_3["base"].columns, **paper.table_3[row].columns}["steps"].value
    return _flops(models.paper[row], steps * paper.table_2_cost.pieces_a_step)


def _flops(model: ModelCost, pieces_a_side: float) -> float:
    flops = model.training_flops
    return (flops.source + flops.target) * pieces_a_side


def estimate(cost: Cost, *, hours: float, devices: int, device: str) -> float | None:
    """The paper's method: hours x GPUs x the sustained rate of the GPU (footnote 5).

    Args:
        device: any name that contains the GPU's, like "cuda: Tesla P100-PCIE-16GB".
    Returns:
        None for a device for which the footnote has no rate.
    """
    for gpu, rate in cost.sustained_teraflops.items():
        if gpu in device:
            return hours * SECONDS_PER_HOUR * devices * rate.value * 1e12
    return None


def estimates(paper: Paper, trained: Mapping[str, TrainingMetadata | None]) -> Table:
    """The paper's method for our runs. It depends on the clock: run metadata, not a result.

    Args:
        trained: the metadata of each run's training, None of one that was not trained.
    """

    def values(run: str, train: TrainingMetadata) -> Iterator[Sequence[Value]]:
        hours = train.seconds / SECONDS_PER_HOUR
        flops = estimate(
            paper.table_2_cost, hours=hours, devices=train.processes, device=train.device
        )
        yield (
            f"{hours:.2g}" if hours < 1 else f"{hours:.1f}",
            Cell(train.device, detail=f"processes: {train.processes}"),
            "not applicable" if flops is None else rounded(flops),
        )

    rates = ", ".join(
        f"{gpu} {rate.text}" for gpu, rate in paper.table_2_cost.sustained_teraflops.items()
    )
    return table(
        "Training cost by the paper's estimate",
        text("Run") + numbers("Hours") + text("Device") + numbers("Hours × devices × rate, FLOPs"),
        rows_of_runs(trained, values),
        (f"Footnote 5 assumes rates of four GPUs alone, in TFLOPS: {rates}.",),
        key="estimates",
    )


def rounded(flops: float) -> str:
    """2.3·10¹⁹: two digits, as the paper prints."""
    return power_of_ten(f"{flops:.1e}".replace("e+0", "e").replace("e+", "e"))
