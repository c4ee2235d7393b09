"""The report after a failure, from the results that exist.

DVC runs a stage only if all its dependencies are complete, and report, compare, illustrate and
track depend on folders that all runs write to. So their commands are run here without DVC: dvc.lock
then has no entry for such a report, and the next `aiayn repro` renders it again.
"""

from __future__ import annotations

import subprocess
import sys

from aiayn.commands.repro.dvc_commands import environment
from aiayn.commands.repro.schedule import Schedule
from aiayn.config import Config, dvc_yaml
from aiayn.results import failures, paths

# in this order; stages with the option `--failures` leave out what is unfinished
STAGES = ("illustrate", "compare", "report", "track")
TAKE_FAILURES = ("compare", "report")


def render(schedule: Schedule, params: Config) -> None:
    """Run those of the STAGES that were requested but could not start.

    Raises:
        ConfigError: dvc.yaml cannot be read.
    """
    unfinished, varied = schedule.unfinished(), params.variations
    is_base = {name for name, run in params.runs.items() if run.model == varied.base
               and run.task == varied.task}  # fmt: skip
    needs_one_of = {"illustrate": {params.illustrations.run}, "compare": is_base}
    for stage in STAGES:
        runs = needs_one_of.get(stage)
        if stage not in schedule.blocked or (runs and runs <= unfinished.keys()):
            continue
        failures.write(paths.FAILURES, unfinished)
        if error := _run(stage):
            unfinished[stage] = f"{stage}: {error}"
            print(f"{stage} FAILED: {error}", file=sys.stderr)
        elif stage == "report":
            print(f"A report of the rest is at {paths.REPORT_PAGE.resolve()}", file=sys.stderr)


def _run(stage: str) -> str:
    """Run a stage's command. Returns the last line that it printed if it failed, else ""."""
    options = f" --failures {paths.FAILURES}" if stage in TAKE_FAILURES else ""
    done = subprocess.run(
        dvc_yaml.command(stage) + options, shell=True, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=False,
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    return (lines or [f"exited with status {done.returncode}"])[-1] if done.returncode else ""
