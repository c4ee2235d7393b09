"""The paper's tables 1 to 4 and recipe, with sources.

All numbers of the paper are in this package, and none of our results are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiayn.paper import table_1, table_2, table_3, table_4
from aiayn.paper.corpora import EvaluationSet, TrainingText
from aiayn.paper.printed import Printed
from aiayn.paper.recipe import Recipe
from aiayn.paper.requirement import Requirement
from aiayn.paper.table_1 import LayerRow
from aiayn.paper.table_2 import BleuRow, Column, Cost
from aiayn.paper.table_3 import VariationRow, columns_of, model_of, recipe_of
from aiayn.paper.table_4 import ParserRow

__all__ = [
    "PAPER",
    "BleuRow",
    "Column",
    "Cost",
    "EvaluationSet",
    "LayerRow",
    "Paper",
    "ParserRow",
    "Printed",
    "Recipe",
    "Requirement",
    "TrainingText",
    "VariationRow",
    "columns_of",
    "model_of",
    "recipe_of",
]


@dataclass(frozen=True)
class Paper:
    """Tables 1 to 4, rows by key; notes by table, then by cell or column.

    `vocabulary` is the number of pieces of English to German (section 5.1).
    """

    source: str
    about: Mapping[str, str]
    notes: Mapping[str, Mapping[str, str]]
    vocabulary: int
    table_1: Mapping[str, LayerRow]
    table_2: Mapping[str, BleuRow]
    table_2_columns: Mapping[str, Column]
    table_2_cost: Cost
    table_3: Mapping[str, VariationRow]
    table_3_test_set: EvaluationSet
    table_4: Mapping[str, ParserRow]
    table_4_test_set: EvaluationSet


PAPER = Paper(
    source="Vaswani et al., Attention Is All You Need, arXiv 1706.03762, final version",
    about={
        "table_1": table_1.ABOUT,
        "table_2": table_2.ABOUT,
        "table_3": table_3.ABOUT,
        "table_4": table_4.ABOUT,
    },
    notes={
        "table_1": table_1.NOTES,
        "table_2": table_2.NOTES,
        "table_3": table_3.NOTES,
        "table_4": {},
    },
    vocabulary=table_2.VOCABULARY,
    table_1=table_1.ROWS,
    table_2=table_2.ROWS,
    table_2_columns=table_2.COLUMNS,
    table_2_cost=table_2.COST,
    table_3=table_3.ROWS,
    table_3_test_set=table_3.TEST_SET,
    table_4=table_4.ROWS,
    table_4_test_set=table_4.TEST_SET,
)
