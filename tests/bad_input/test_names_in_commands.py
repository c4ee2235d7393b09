"""Plain `dvc repro` passes names from params.yaml to a shell, where they are text, not commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.config import dvc_yaml

ROOT = Path(__file__).parents[2]
HOSTILE = (
    "x; touch evil",
    "$(touch evil)",
    "`touch evil`",
    "x && touch evil",
    "x | tee evil",
    "* ?",
)
SEED = "1; touch evil"
RECORD = "import json, sys; open('arguments', 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"


@pytest.mark.slow  # dvc starts
def test_names_are_text_to_the_shell(tmp_path: Path) -> None:
    graph = dvc_yaml.read(ROOT / "dvc.yaml")
    stages: dict[str, Any] = {
        name: {"foreach": stage["foreach"], "do": {"cmd": stage["do"]["cmd"]}}
        for name, stage in graph["stages"].items()
        if "foreach" in stage
    }
    (tmp_path / "pipeline").mkdir()
    for name in stages:
        (tmp_path / f"pipeline/{name}.py").write_text(RECORD)
    params = {
        "tasks": {name: {"kind": "translation"} for name in HOSTILE},
        "runs": {name: {"seed": SEED} for name in HOSTILE},
        "tested": [*HOSTILE],
    }
    (tmp_path / "dvc.yaml").write_text(yaml.dump({"vars": graph["vars"], "stages": stages}))
    (tmp_path / "params.yaml").write_text(yaml.dump(params))
    dvc = [sys.executable, "-m", "dvc"]
    for command in (["init", "-q", "--no-scm"], ["repro"]):
        subprocess.run([*dvc, *command], cwd=tmp_path, capture_output=True, check=True)
    assert not (tmp_path / "evil").exists()
    calls = [json.loads(line) for line in (tmp_path / "arguments").read_text().splitlines()]
    assert len(calls) == len(stages) * len(HOSTILE)
    assert {arguments[0] for arguments in calls} == {*HOSTILE}
    assert {tuple(arguments[1:]) for arguments in calls} == {(), ("--seed", SEED)}
