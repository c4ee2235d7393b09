"""Download or generate a task's text, check and clean it. Reads the catalogue's downloads, a
mirror, or the grammar; writes data/text/TASK/. AIAYN_MIRROR names a mirror: a folder or a base URL,
laid out as HOST/PATH. Formats: text 1."""

from __future__ import annotations

import argparse
import os

from aiayn import config
from aiayn.data.corpora.assembly import assemble
from aiayn.errors import one_line_errors
from aiayn.results import paths


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    name = parser.parse_args().task
    params = config.load()
    assemble(
        name,
        params.task(name).text,
        params.sources(name),
        folder=paths.text(name),
        raw=paths.project() / paths.DOWNLOADS,
        mirror=os.environ.get("AIAYN_MIRROR"),
        top=paths.project(),
    )


if __name__ == "__main__":
    main()
