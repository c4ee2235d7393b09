"""List a task's sources: the part of the catalogue that its text is made from. Writes
data/sources/TASK.json, by which DVC sees whether a change of the catalogue concerns the task."""

from __future__ import annotations

import argparse

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.results import paths
from aiayn.results.json_files import write_json


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    name = parser.parse_args().task
    write_json(paths.sources(name), config.load().sources(name), indent=1)


if __name__ == "__main__":
    main()
