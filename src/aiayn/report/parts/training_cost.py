"""Training cost: by the paper's estimate, and as counted FLOPs times the pieces trained on.

The two are never the same: an estimate takes hours, GPUs and an assumed rate, whatever the GPUs
did; a count takes what the model's matrix products need, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aiayn.config import Config
from aiayn.paper import Cost, Paper
from aiayn.report.parts.tables import (
    Cell,
    Table,
    Value,
    numbers,
    power_of_ten,
    rows_of_runs,
    table,
    text,
)
from aiayn.results.history import History
from aiayn.results.metadata import TrainingMetadata
from aiayn.results.profiles import ModelCost, ModelsProfile

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
