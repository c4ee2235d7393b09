"""Searches for MLflow's runs table, each a view of it: a filter, an order and the columns."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from aiayn.evaluation.metrics import METRICS
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS
from aiayn.tracking.identity import CURRENT, STATE, SUPERSEDED

NOTE = "mlflow.note.content"  # documented: the description, for users to set
VIEW = "mlflow.sharedViewState."  # what the button "Share" of the runs table writes
_CELL_PX, _LETTER_PX = 45, 6  # a column's width: its heading with the sign of the order beside it
_CURRENT = f"tags.{STATE} = '{CURRENT}'"
_SIZE = ("metrics.`work/parameters`", "params.`seed`")
_COMPARED = tuple(f"metrics.`dev/{m.name}`" for m in TRANSLATION_METRICS if m.compared)
_ROW = tuple(f"params.`{column}`" for column in ("N", "d_model", "d_ff", "h", "P_drop"))


class Search(NamedTuple):
    """A filter, the metric to sort by, and further columns."""

    title: str
    filter: str
    metric: str
    descending: bool = True
    columns: tuple[str, ...] = _SIZE

    @property
    def key(self) -> str:
        """In the address of the view."""
        return re.sub(r"\W+", "_", self.title.lower()).strip("_")

    def view(self) -> str:
        """The state of the runs table, as MLflow's UI reads it from a tag of the experiment."""
        columns = [f"metrics.`{self.metric}`", *self.columns]
        state = {
            "searchFilter": self.filter,
            "orderByKey": columns[0],
            "orderByAsc": not self.descending,
            "selectedColumns": columns,
            "columnOrder": columns,
            "columnWidths": {
                column: _CELL_PX + _LETTER_PX * len(column.split("`")[1]) for column in columns
            },
        }
        return json.dumps(state)


SEARCHES = (
    Search(
        "All runs",
        f"tags.{STATE} != '{SUPERSEDED}'",
        "test/bleu",
        columns=(
            "metrics.`dev/bleu`", "metrics.`dev/perplexity`", *_SIZE, "metrics.`test/bracket_f1`",
            "metrics.`test/accuracy`",
        ),
    ),
    Search(
        "Table 2",
        f"metrics.`test/bleu` > 0 and {_CURRENT}",
        "test/bleu",
        columns=("metrics.`dev/bleu`", *_COMPARED, "metrics.`dev/perplexity`", *_SIZE, *_ROW),
    ),
    Search(
        "Table 3",
        f"tags.row LIKE '%' and {_CURRENT}",
        "dev/bleu",
        columns=(*_COMPARED, "metrics.`dev/perplexity`", *_SIZE, *_ROW),
    ),
    Search(
        "Table 3, rows (C)",
        f"tags.row LIKE 'C_%' and {_CURRENT}",
        "dev/perplexity",
        descending=False,
        columns=("metrics.`dev/bleu`", *_SIZE, *_ROW),
    ),
    Search(
        "BLEU differs by more than the seeds' noise",
        f"tags.bleu_vs_base != 'undecided' and {_CURRENT}",
        "dev/bleu",
        columns=(
            "metrics.`table_3/bleu_difference`",
            "metrics.`table_3/bleu_difference_p`",
            *_SIZE,
        ),
    ),
    Search(
        "Table 4",
        f"metrics.`test/bracket_f1` > 0 and {_CURRENT}",
        "test/bracket_f1",
        columns=("metrics.`dev/perplexity`", *_SIZE, *_ROW),
    ),
    Search("One seed", "params.seed = '1'", "dev/bleu"),
    Search("Trained from a clean commit", "tags.dirty = 'false'", "dev/bleu"),
    Search("By training data", "dataset.name = 'en-de/train'", "dev/bleu"),
    Search("The report", "attributes.run_name = 'report'", "dev/bleu"),
)  # fmt: skip


def experiment_tags(scale: str, experiment_id: str) -> dict[str, str]:
    """MLflow's tags of an experiment: its description in Markdown, with what it has and a link for
    each search, and the searches' views."""
    links = "\n".join(
        f"- [{search.title}]({link(search, experiment_id)}): `` {search.filter} ``"
        for search in SEARCHES
    )
    metrics = "\n".join(
        f"- {kind}: " + ", ".join(f"`{metric.name}` ({metric.label})" for metric in metrics)
        for kind, metrics in METRICS.items()
    )
    description = (
        f"The runs of the scale `{scale}`, named as in params.yaml. Scores are under `dev/` and "
        "`test/`, training curves under `train/`, size, FLOPs and time under `work/`; intervals, "
        "signatures and versions are in the artifacts. A model with several seeds has a run over "
        "them: means, and standard deviations (`_sd`). The run `report` has the page, the tables "
        f"and the figures.\n\nScores, in percent:\n\n{metrics}\n\nSearches:\n\n{links}\n"
    )
    return {NOTE: description, **{f"{VIEW}{search.key}": search.view() for search in SEARCHES}}


def link(search: Search, experiment_id: str) -> str:
    """The search in MLflow's UI, relative to its address. The workflow type selects the table of
    training runs; by default, MLflow opens an experiment's page for language-model applications."""
    query = f"workflowType=machine_learning&viewStateShareKey={search.key}"
    return f"#/experiments/{experiment_id}/runs?{query}"
