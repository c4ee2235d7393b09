"""Prints where MLflow's UI shows the runs of each scale, for `make ui`."""

from __future__ import annotations

import os

from aiayn.errors import one_line_errors
from aiayn.tracking.searches import SEARCHES, link
from aiayn.tracking.store import (
    StoreError,
    check_location,
    default_database,
    import_mlflow,
    one_line_store_errors,
    tracking_uri,
)


@one_line_errors
def main() -> None:
    """Raises StoreError: there is no store, it was copied from another folder, or it is damaged."""
    database = default_database()
    if database and not database.exists():
        raise StoreError(f"{database}: no such file. make repro, or make sync, writes it.")
    import_mlflow()
    with one_line_store_errors():
        from mlflow import MlflowClient

        host, port = (
            os.environ.get(f"MLFLOW_{name}", default)
            for name, default in (("HOST", "127.0.0.1"), ("PORT", "5000"))
        )
        client = MlflowClient(tracking_uri())
        for experiment in client.search_experiments(filter_string="name LIKE 'aiayn/%'"):
            if database:
                check_location(experiment)
            print(f"{experiment.name}:")
            for search in SEARCHES:
                if client.search_runs([experiment.experiment_id], search.filter, max_results=1):
                    address = f"http://{host}:{port}/{link(search, experiment.experiment_id)}"
                    print(f"  {search.title}: {address}")


if __name__ == "__main__":
    main()
