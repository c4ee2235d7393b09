"""What the how-tos show of DVC's tables fits a terminal, with all of the demo's runs."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from aiayn import config
from aiayn.results import paths
from aiayn.results.scores import RunScores, Score, SplitScores, TestSet, write_metrics

ROOT = Path(__file__).parents[2]
COLUMNS = 160
PAGES = "\n".join(page.read_text() for page in sorted((ROOT / "docs/howto").glob("*.md")))
SHOWN = re.findall(r"\bdvc (?:metrics|exp) show[^`;#\n]*", PAGES)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory, project_in: Any) -> Any:
    """The demo's graph with scores of all runs, and other ones than in the last commit."""
    project = project_in(tmp_path_factory.mktemp("scored"))
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, project.root)
    params = config.load(project.root / "params.yaml")
    for command in ("git init -q", "dvc init -q"):
        project.succeed(*command.split())
    on = TestSet(corpora={}, pairs=1, sha256={})
    for perplexity in (12.34, 56.78):
        for name, run in params.runs.items():
            metric = "bracket_f1" if params.task_of(name).kind == "parsing" else "bleu"
            scores = {metric: Score(value=perplexity, signature="")}
            splits = {
                split: SplitScores.of(test_set=on, scores=scores)
                for split in params.splits_of(name)
            }
            found = RunScores(run=name, task=run.task, model=run.model, splits=splits)
            write_metrics(project.root / paths.metrics(name), found, metric, perplexity)
        if perplexity == 12.34:
            project.succeed("git", "add", "--all")
            project.succeed("git", "commit", "-q", "--message", "scored")
    project.set("models", "E_learned", "P_drop", value=0.09)
    return project


def test_the_how_tos_show_one() -> None:
    assert "metrics" in {command.split()[1] for command in SHOWN}


@pytest.mark.parametrize("command", SHOWN)
def test_a_table_is_narrow(scored: Any, command: str) -> None:
    table = scored.succeed(*shlex.split(command), COLUMNS="1000").splitlines()
    assert any("56.78" in line for line in table)
    assert max(map(len, table)) < COLUMNS
