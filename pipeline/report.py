"""Put the paper's figures and ours side by side. Reads scores, history, circumstances, outputs,
data/text and illustrations of what is in params.yaml; writes reports/."""

from __future__ import annotations

import argparse

from aiayn.errors import one_line_errors
from aiayn.files import replaced_folder, write_atomically
from aiayn.report.evidence import gather
from aiayn.report.page.companion import circumstances
from aiayn.report.page.contents import SECTIONS, files, make_section
from aiayn.report.page.document import circumstances_html, index_html, make_page
from aiayn.results import places


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="SECTION", help="write the files of this section alone")
    only = parser.parse_args().only
    evidence = gather()
    if only:
        for name, text in files(make_section(only, evidence)).items():
            write_atomically(places.REPORTS / name, text)
            print(places.REPORTS / name)
        return
    sections = [make_section(key, evidence) for key in SECTIONS]
    index = index_html(make_page(evidence, sections))
    companion = circumstances_html(circumstances(evidence))
    with (
        replaced_folder(places.REPORT_TABLES) as tables,
        replaced_folder(places.REPORT_FIGURES) as figures,
    ):
        folders = {"tables": tables, "figures": figures}
        for section in sections:
            for name, text in files(section).items():
                kind, _, file = name.partition("/")
                write_atomically(folders[kind] / file, text)
    write_atomically(places.REPORT_PAGE, index)
    write_atomically(places.REPORT_CIRCUMSTANCES, companion)


if __name__ == "__main__":
    main()
