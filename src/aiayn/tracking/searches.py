"""Searches for MLflow's search field, and as links into its UI."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from aiayn.evaluation.metrics import METRICS


class Search(NamedTuple):
    """A filter and the metric to sort by."""

    title: str
    filter: str
    metric: str
    descending: bool = True


SEARCHES = (
    Search("Table 2: translation", "metrics.`test/bleu` > 0", "test/bleu"),
    Search("Table 3: all rows", "tags.row LIKE '%'", "dev/bleu"),
    Search("Table 3: rows (C)", "tags.row LIKE 'C_%'", "dev/perplexity", descending=False),
    Search(
        "Table 3: BLEU differs by more than the seeds' noise",
        "tags.bleu_vs_base != 'undecided'",
        "dev/bleu",
    ),
    Search("Table 4: parsing", "metrics.`test/bracket_f1` > 0", "test/bracket_f1"),
    Search("One seed", "params.seed = '1'", "dev/bleu"),
    Search("Trained from a clean commit", "tags.dirty = 'false'", "dev/bleu"),
    Search("By training data", "dataset.name = 'en-de/train'", "dev/bleu"),
    Search("The report", "attributes.run_name = 'report'", "dev/bleu"),
)


def description(scale: str, experiment_id: str) -> str:
    """The experiment's description in Markdown: what it has, and a link for each search."""
    links = "\n".join(
        f"- [{search.title}]({link(search, experiment_id)}): `` {search.filter} ``"
        for search in SEARCHES
    )
    metrics = "\n".join(
        f"- {kind}: " + ", ".join(f"`{metric.name}` ({metric.label})" for metric in metrics)
        for kind, metrics in METRICS.items()
    )
    return (
        f"The runs of the scale `{scale}`, named as in params.yaml. Scores are under `dev/` and "
        "`test/`, training curves under `train/`, size, FLOPs and time under `work/`. The run "
        "`report` has the page, the tables and the figures.\n\n"
        f"Scores, in percent:\n\n{metrics}\n\nSearches:\n\n{links}\n"
    )


def link(search: Search, experiment_id: str) -> str:
    """The search in MLflow's UI, relative to its address."""
    query = {
        "searchFilter": search.filter,
        "orderByKey": f"metrics.`{search.metric}`",
        "orderByAsc": str(not search.descending).lower(),
    }
    return f"#/experiments/{experiment_id}/runs?{urlencode(query)}"
