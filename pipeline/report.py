"""Render the report: the paper's numbers next to ours. Reads the scores, history, run_metadata,
outputs, data/text and illustrations of params.yaml's runs and tasks; writes reports/, and
curves.csv for dvc plots."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.report.evidence import gather
from aiayn.report.learning_curves import all_curves
from aiayn.report.page import SECTIONS, files, index_html, make_section, metadata_html
from aiayn.results import failures, paths


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="SECTION", help="write only this section's files")
    parser.add_argument("--failures", type=Path, metavar="FILE", help="what is unfinished, and why")
    arguments = parser.parse_args()
    only, unfinished = arguments.only, failures.read(arguments.failures)
    evidence = gather(unfinished=unfinished)
    for name, keys in evidence.outdated.items():
        cause = f"{name} was run with other parameters ({', '.join(keys)})"
        print(f"{cause}: left out. Run it again: dvc repro.", file=sys.stderr)
    if only:
        for name, text in files(make_section(only, evidence)).items():
            write_atomically(paths.REPORTS / name, text)
            print(paths.REPORTS / name)
        return
    sections = [make_section(key, evidence) for key in SECTIONS]
    index, metadata = index_html(evidence, sections), metadata_html(evidence)
    with (
        replaced_folder(paths.REPORT_TABLES) as tables,
        replaced_folder(paths.REPORT_FIGURES) as figures,
    ):
        folders = {"tables": tables, "figures": figures}
        for section in sections:
            for name, text in files(section).items():
                kind, _, file = name.partition("/")
                write_atomically(folders[kind] / file, text)
    write_atomically(paths.CURVES, all_curves(evidence.config, evidence.histories))
    write_atomically(paths.REPORT_PAGE, index)
    write_atomically(paths.REPORT_METADATA, metadata)


if __name__ == "__main__":
    main()
