"""Searches worth having at hand, as MLflow's search field takes them and as links into its UI."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from aiayn.evaluation.metric import Metric
from aiayn.evaluation.metrics import METRICS


class View(NamedTuple):
    """A search and the metric to sort by; `descending` puts the largest first."""

    title: str
    search: str
    metric: str
    descending: bool = True


VIEWS = (
    View("Table 2: translation", "metrics.`test/bleu` > 0", "test/bleu"),
    View("Table 3: all rows", "tags.row LIKE '%'", "dev/bleu"),
    View("Table 3: rows (C)", "tags.row LIKE 'C_%'", "dev/perplexity", descending=False),
    View("Table 3: beyond the seeds' noise", "tags.bleu_moves != 'undecided'", "dev/bleu"),
    View("Table 4: parsing", "metrics.`test/bracket_f1` > 0", "test/bracket_f1"),
    View("One width", "params.d_model = '64' and params.h = '8'", "dev/bleu"),
    View("Trained from a clean commit", "tags.dirty = 'false'", "dev/bleu"),
    View("By what was read", "dataset.name = 'en-de/train'", "dev/bleu"),
    View("The report", "attributes.run_name = 'report'", "dev/bleu"),
)


def description(scale: str, experiment_id: str) -> str:
    """The experiment's note, in Markdown: what is here, and a link for each view."""
    links = "\n".join(
        f"- [{view.title}]({link(view, experiment_id)}): `` {view.search} ``" for view in VIEWS
    )
    return (
        f"The graph's runs at the scale `{scale}`, called as in params.yaml. Scores are under "
        "`dev/` and `test/`, training curves under `train/`, size, FLOPs and time under `work/`. "
        "The run `report` has the page, the tables and the figures.\n\n"
        f"Scores, in percent:\n\n{_metric_lines()}\n\n"
        f"Searches:\n\n{links}\n"
    )


def _metric_lines() -> str:
    """A line for each kind of task: its metrics, and which of them are better when lower."""
    return "\n".join(
        f"- {kind}: " + ", ".join(map(_named, metrics)) for kind, metrics in METRICS.items()
    )


def _named(metric: Metric[Any]) -> str:
    direction = "" if metric.higher_is_better else ", lower is better"
    return f"`{metric.name}` ({metric.label}{direction})"


def link(view: View, experiment_id: str) -> str:
    """The view's place in MLflow's UI, relative to its address."""
    query = {
        "searchFilter": view.search,
        "orderByKey": f"metrics.`{view.metric}`",
        "orderByAsc": str(not view.descending).lower(),
    }
    return f"#/experiments/{experiment_id}/runs?{urlencode(query)}"
