"""What training cost: the paper's estimate, and FLOPs counted in the model times pieces trained on.

The two are never the same: an estimate takes hours, GPUs and an assumed rate, whatever the GPUs
did; a count takes what the model's matrix products need, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from aiayn.config import Config
from aiayn.paper import Cost, Paper
from aiayn.report.parts.tables import Cell, Row, Table, power_of_ten
from aiayn.results.circumstances import TrainCircumstances
from aiayn.results.history import History
from aiayn.results.profiles import ModelCost, ModelsProfile

SECONDS_AN_HOUR = 3600


def counted_costs(
    config: Config, models: ModelsProfile | None, histories: Mapping[str, History | None]
) -> dict[str, float]:
    """FLOPs of every run that has a history: target pieces x what a source and a target piece cost.

    A history counts target pieces; as many source pieces are taken for granted, as batches hold
    about as many of either (section 5.1).
    """
    costs = {}
    for name, history in histories.items():
        run = config.run(name)
        model = models.models.get(run.model, {}).get(run.task) if models else None
        if model and history and history.tokens:
            costs[name] = _flops(model, history.tokens[-1])
    return costs


def paper_cost(paper: Paper, models: ModelsProfile, row: str) -> float:
    """FLOPs of the paper's own training: its steps x its pieces a step, of either side."""
    steps = {**paper.table_3["base"].columns, **paper.table_3[row].columns}["steps"].value
    return _flops(models.paper[row], steps * paper.table_2_cost.pieces_a_step)


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


def estimates(paper: Paper, trained: Mapping[str, TrainCircumstances | None]) -> Table:
    """The paper's method for our runs. It goes by the clock, so it is a circumstance, no result.

    Args:
        trained: the circumstances of each run, None of one that was not trained.
    """
    rows = []
    for run, train in trained.items():
        if train is None:
            rows.append(Row((Cell(run), Cell("not run", tone="quiet", span=3))))
            continue
        hours = train.seconds / SECONDS_AN_HOUR
        flops = estimate(
            paper.table_2_cost,
            hours=hours,
            devices=train.processes,
            device=train.device,
        )
        text = rounded(flops) if flops is not None else "not applicable"
        device = Cell(train.device, detail=f"processes: {train.processes}")
        rows.append(
            Row(
                (
                    Cell(run),
                    Cell(f"{hours:.2g}" if hours < 1 else f"{hours:.1f}"),
                    device,
                    Cell(text),
                )
            )
        )
    rates = ", ".join(
        f"{gpu} {tf.text}" for gpu, tf in paper.table_2_cost.sustained_teraflops.items()
    )
    return Table(
        "Training cost by the paper's estimate",
        ("Run", "Hours", "Device", "Hours × devices × rate, FLOPs"),
        "lrlr",
        tuple(rows),
        (("", f"Footnote 5 assumes rates of four GPUs alone, in TFLOPS: {rates}."),),
        key="estimates",
    )


def _flops(model: ModelCost, pieces_a_side: float) -> float:
    flops = model.training_flops
    return (flops.source + flops.target) * pieces_a_side


def rounded(flops: float) -> str:
    """2.3·10¹⁹: two digits, as the paper prints."""
    return power_of_ten(f"{flops:.1e}".replace("e+0", "e").replace("e+", "e"))
