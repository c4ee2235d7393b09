"""Mirror histories, scores and figures to MLflow. Reads the other stages' outputs and writes only
to the MLflow store; a failure there does not fail the pipeline. Also deletes the scratch folders of
trainings that dvc.lock has recorded."""

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
