"""The numbers that the paper prints in tables 1 to 4, with types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PAPER = Path(__file__).with_name("paper.yaml")


@dataclass(frozen=True)
class Printed:
    """A cell as the paper prints it: 26.30, 1.0e20, 100K, learned."""

    text: str

    @property
    def value(self) -> float:
        """The number that `text` stands for; 100K is 100,000.

        Raises:
            ValueError: the cell holds words.
        """
        if self.text.endswith("K"):
            return float(self.text[:-1]) * 1000
        return float(self.text)


@dataclass(frozen=True)
class EvaluationSet:
    """Which sentences a figure was measured on: corpora by catalogue name, and sentence pairs."""

    corpora: tuple[str, ...]
    pairs: int


@dataclass(frozen=True)
class LayerRow:
    """A row of table 1: formulas in TeX."""

    name: str
    complexity: str
    sequential_operations: str
    maximum_path_length: str


@dataclass(frozen=True)
class Column:
    """A language pair of table 2; `protocol` names the score of ours that is measured alike."""

    heading: str
    training: tuple[str, ...]
    test_set: EvaluationSet
    protocol: str


@dataclass(frozen=True)
class RequiredModel:
    """What a model of ours must be to stand beside a row of table 2.

    `columns` are those of table 3, spelled out; `average` counts the last checkpoints averaged.
    """

    columns: Mapping[str, Printed]
    average: int


@dataclass(frozen=True)
class BleuRow:
    """A row of table 2; mappings go by column, and lack the cells that the paper leaves empty.

    `by` names the authors of a competitor, and is None in the Transformer's rows. These have
    `flops_of_both`, one cell over both columns, and `models`: what ours must be, by column.
    """

    name: str
    by: str | None
    bleu: Mapping[str, Printed]
    flops: Mapping[str, Printed]
    flops_of_both: Printed | None
    models: Mapping[str, RequiredModel]


@dataclass(frozen=True)
class Cost:
    """How the paper reckons training cost: hours x `gpus` x the rate of its `gpu` (footnote 5).

    `hours` go by row; `pieces_a_step` are those of each side (section 5.1).
    """

    sustained_teraflops: Mapping[str, Printed]
    gpu: str
    gpus: int
    hours: Mapping[str, Printed]
    pieces_a_step: int


@dataclass(frozen=True)
class VariationRow:
    """A row of table 3; `columns` are the cells of the model that the row prints."""

    group: str
    columns: Mapping[str, Printed]
    perplexity: Printed
    bleu: Printed
    parameters_millions: Printed | None


@dataclass(frozen=True)
class ParserRow:
    """A row of table 4.

    The Transformer's rows name the `run` of ours that may stand beside them, and the
    `training_corpora` that it needs for that.
    """

    name: str
    training: str
    f1: Printed
    run: str | None = None
    training_corpora: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """Tables 1 to 4, rows by key; notes by table, then by the cell or column they belong to."""

    source: str
    about: Mapping[str, str]
    notes: Mapping[str, Mapping[str, str]]
    table_1: Mapping[str, LayerRow]
    table_2: Mapping[str, BleuRow]
    table_2_columns: Mapping[str, Column]
    table_2_cost: Cost
    table_3: Mapping[str, VariationRow]
    table_3_test_set: EvaluationSet
    table_4: Mapping[str, ParserRow]
    table_4_test_set: EvaluationSet
    table_4_model: Mapping[str, Printed]
    table_4_decoding: Mapping[str, Printed]


def load_paper(path: Path = PAPER) -> Paper:
    """Read paper.yaml, every scalar as the text that stands there."""
    data = yaml.load(path.read_bytes(), yaml.CBaseLoader)
    tables = {name: table for name, table in data.items() if name.startswith("table_")}
    table_3 = {key: _variation(row) for key, row in data["table_3"]["rows"].items()}
    columns = {
        key: Column(
            heading=column["heading"],
            training=tuple(column["training"]),
            test_set=_test_set(column["test_set"]),
            protocol=column["protocol"],
        )
        for key, column in data["table_2"]["columns"].items()
    }
    return Paper(
        source=data["source"],
        about={name: table["about"] for name, table in tables.items()},
        notes={name: table.get("notes", {}) for name, table in tables.items()},
        table_1={key: LayerRow(**row) for key, row in data["table_1"]["rows"].items()},
        table_2={
            key: _bleu_row(row, columns, table_3) for key, row in data["table_2"]["rows"].items()
        },
        table_2_columns=columns,
        table_2_cost=_cost(data["table_2"]["cost"]),
        table_3=table_3,
        table_3_test_set=_test_set(data["table_3"]["test_set"]),
        table_4={key: _parser_row(row) for key, row in data["table_4"]["rows"].items()},
        table_4_test_set=_test_set(data["table_4"]["test_set"]),
        table_4_model=_printed(data["table_4"]["model"]),
        table_4_decoding=_printed(data["table_4"]["decoding"]),
    )


def _parser_row(row: Mapping[str, Any]) -> ParserRow:
    ours = row.get("ours", {})
    return ParserRow(
        name=row["name"],
        training=row["training"],
        f1=Printed(row["f1"]),
        run=ours.get("run"),
        training_corpora=tuple(ours.get("training", ())),
    )


def _bleu_row(
    row: Mapping[str, Any], columns: Mapping[str, Column], table_3: Mapping[str, VariationRow]
) -> BleuRow:
    model = row.get("model")
    both = row.get("flops_of_both")
    return BleuRow(
        name=row["name"],
        by=row.get("by"),
        bleu=_printed(row["bleu"]),
        flops=_printed(row.get("flops", {})),
        flops_of_both=Printed(both) if both else None,
        models={column: _required(model, column, table_3) for column in columns} if model else {},
    )


def _cost(data: Mapping[str, Any]) -> Cost:
    return Cost(
        sustained_teraflops=_printed(data["sustained_teraflops"]),
        gpu=data["gpu"],
        gpus=int(data["gpus"]),
        hours=_printed(data["hours"]),
        pieces_a_step=int(data["pieces_a_step"]),
    )


def _required(
    model: Mapping[str, Any], column: str, table_3: Mapping[str, VariationRow]
) -> RequiredModel:
    base, row = table_3["base"].columns, table_3[model["row"]].columns
    changes = _printed(model.get("changes", {}).get(column, {}))
    return RequiredModel({**base, **row, **changes}, int(model["average"]))


def _variation(row: Mapping[str, Any]) -> VariationRow:
    parameters = row.get("parameters_millions")
    return VariationRow(
        group=row["group"],
        columns=_printed(row["columns"]),
        perplexity=Printed(row["perplexity"]),
        bleu=Printed(row["bleu"]),
        parameters_millions=Printed(parameters) if parameters else None,
    )


def _printed(cells: Mapping[str, str]) -> dict[str, Printed]:
    return {key: Printed(text) for key, text in cells.items()}


def _test_set(data: Mapping[str, Any]) -> EvaluationSet:
    return EvaluationSet(tuple(data["corpora"]), int(data["pairs"]))
