"""Mirror histories, scores and figures to MLflow. Reads what the other stages wrote and writes to
the MLflow store only; if that fails, the pipeline does not. Also deletes what trainings kept in
scratch/ until dvc.lock recorded them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.results.scratch import delete_recorded
from aiayn.tracking.store import StoreError, store_name
from aiayn.tracking.sync import sync


@one_line_errors
def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    delete_recorded(Path())
    try:
        done = sync(config.load())
    except StoreError as error:
        print(f"MLflow at {store_name()}: {error}. Later: make sync.", file=sys.stderr)
        return
    for warning in done.warnings:
        print(f"MLflow: {warning}", file=sys.stderr)
    print(done)


if __name__ == "__main__":
    main()
