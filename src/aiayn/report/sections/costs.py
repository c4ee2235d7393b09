"""Costs: parameters of table 3's rows, FLOPs a piece, the paper's own training counted anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aiayn.paper import Paper, model_of
from aiayn.report.evidence import Evidence
from aiayn.report.parts.section import Entry, Section
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, power_of_ten
from aiayn.report.parts.training_cost import estimate, paper_cost, rounded
from aiayn.report.parts.verdict import Verdict
from aiayn.results.places import SIDES
from aiayn.results.profiles import ModelsProfile

LEAD = (
    "Parameters and FLOPs are counted in the models, on no data: by fvcore and by torch, and held "
    "against the closed formula. The paper's own models are built at their full size."
)


def section(evidence: Evidence) -> Section:
    """Parameters of table 3's rows, FLOPs a piece, and training cost reckoned three ways."""
    paper, models = evidence.paper, evidence.models
    tables = () if models is None else (
        _training(paper, models), _parameters(paper, models), _pieces(models),
    )  # fmt: skip
    return Section(
        key="costs",
        title="Costs: what the models take",
        subtitle="Parameters of table 3, FLOPs of table 2",
        lead=LEAD,
        tables=tables,
        records=_records(models),
        entries=_entries(paper, models),
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
                    Cell(rounded(counted)),
                    Cell(f"{counted / printed.value:.0%}"),
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


def _parameters(paper: Paper, models: ModelsProfile) -> Table:
    rows = []
    ranges = dict(_vocabularies(paper, models))
    for key, counted in models.paper.items():
        printed = paper.table_3[key].parameters_millions
        ours = Cell(f"{counted.parameters:,}", sources=(f"{counted.source}.parameters",))
        pieces = _thousands(ranges[key]) if key in ranges else EMPTY
        rows.append(Row((Cell(key), Cell(printed.text if printed else EMPTY), ours, Cell(pieces))))
    most = _agreeing(ranges)
    against = ", ".join(key for key in ranges if key not in most)
    common = max(ranges[key][0] for key in most), min(ranges[key][1] for key in most)
    return Table(
        f"Parameters of table 3's rows over {models.paper['base'].vocabulary:,} pieces",
        ("Row", "Paper, millions", "Counted", "Pieces that give the printed figure"),
        "lrrr",
        tuple(rows),
        (
            ("", f"{_thousands(common)} pieces give every printed figure but that of {against}, "
             "which the rest of the column contradicts."),
            ("", paper.notes["table_3"]["parameters_millions"]),
            ("", paper.notes["table_3"]["B.d_v"]),
        ),
        key="parameters",
    )  # fmt: skip


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
    """The most rows that one vocabulary satisfies."""
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
    named = [
        (f"{model}, {task}", cost)
        for model, of in models.models.items()
        for task, cost in of.items()
    ]
    named += [(f"the paper's {row}", models.paper[row]) for row in ("base", "big")]
    rows = []
    for name, cost in named:
        cells = [
            Cell(f"{getattr(flops, side):,}", sources=(f"{cost.source}.{kind}.{side}",))
            for kind, flops in (
                ("forward_flops", cost.forward_flops),
                ("training_flops", cost.training_flops),
            )
            for side in SIDES
        ]
        rows.append(Row((Cell(name), Cell(f"{cost.vocabulary:,}"), *cells)))
    return Table(
        f"FLOPs a piece, in sentences of {models.sentence_pieces} pieces a side",
        (
            "Model", "Pieces",
            "Forward, source", "Forward, target", "Training, source", "Training, target",
        ),
        "lrrrrr",
        tuple(rows),
        (("", "A multiply-add is two FLOPs; fvcore, torch and the closed formula are equal."),),
        key="piece-flops",
    )  # fmt: skip


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
                    *(str(getattr(cost.forward_flops, side)) for side in SIDES),
                    *(str(getattr(cost.training_flops, side)) for side in SIDES),
                ),
                strict=True,
            )
        )
        for origin, name, task, cost in lines
    ]  # fmt: skip
