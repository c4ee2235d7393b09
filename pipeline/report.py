"""Put the paper's figures and ours side by side. Reads scores, history, circumstances, outputs and
data/text of the runs in params.yaml; writes reports/."""

from __future__ import annotations

import argparse
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.report.comparison import compare
from aiayn.report.examples import read_examples
from aiayn.report.figures import training_curves
from aiayn.report.page import Page, circumstances_html, index_html
from aiayn.report.paper import load_paper
from aiayn.report.provenance import provenance
from aiayn.report.records import records
from aiayn.report.results import read_circumstances, read_history, read_scores
from aiayn.report.table_2 import table_2
from aiayn.report.tables import csv_text, latex, markdown

REPORTS = Path("reports")


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    params, paper = config.load(), load_paper()
    scores = {run: read_scores(Path("scores", f"{run}.json")) for run in params.runs}
    histories = {run: read_history(Path("history", f"{run}.csv")) for run in params.runs}
    facts = {run: read_circumstances(Path("circumstances"), run) for run in params.runs}
    comparisons = compare(paper, params, scores)
    page = Page(
        scale=params.scale,
        source=paper.source,
        comparisons=comparisons,
        tables=table_2(paper, params, scores, comparisons),
        provenance=tuple(provenance(params, scores, comparisons)),
        figures=training_curves(params, {run: h for run, h in histories.items() if h}),
        examples=tuple(read_examples(params, Path("data/text"), Path("outputs"))),
    )
    tables = {
        "table_2.md": markdown(page.tables),
        "table_2.tex": latex(page.tables),
        "table_2.csv": csv_text(records(paper, params, scores, comparisons)),
    }
    index, circumstances = index_html(page), circumstances_html(params.scale, facts)
    for folder, files in {"figures": page.figures, "tables": tables}.items():
        with replaced_folder(REPORTS / folder) as new:
            for name, text in files.items():
                write_atomically(new / name, text)
    write_atomically(REPORTS / "index.html", index)
    write_atomically(REPORTS / "circumstances.html", circumstances)


if __name__ == "__main__":
    main()
