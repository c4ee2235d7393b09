"""Reading an MLflow store in tests."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Run


def client_of(root: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{root}/mlflow.db")


def runs_of(root: Path, search: str = "tags.stage != 'report'") -> list[Run]:
    client = client_of(root)
    found = client.get_experiment_by_name("aiayn/demo")
    return list(client.search_runs([found.experiment_id], search)) if found else []


def artifacts(root: Path, run: Run) -> dict[str, Path]:
    folder = root / "mlartifacts/aiayn/demo" / run.info.run_id / "artifacts"
    return {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}


def dump(root: Path) -> list[str]:
    """Every row of the store, as SQL."""
    connection = sqlite3.connect(root / "mlflow.db")
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def history(root: Path, run: Run, metric: str) -> list[tuple[int, float]]:
    """(step, value) by step; values of one step in the order in which they came."""
    points = client_of(root).get_metric_history(run.info.run_id, metric)
    return [(p.step, p.value) for p in sorted(points, key=lambda p: (p.step, p.timestamp))]
