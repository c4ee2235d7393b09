"""A copy of the project that runs its own code, and the tiny scale at which its graph takes seconds."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from dvc.utils.hydra import compose_and_dump
from tests.forked_python import programs

REPOSITORY = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
OUTPUTS = (
    "data/text",
    "data/bpe",
    "data/tokens",
    "models",
    "history",
    "run_metadata",
    "profiles",
    "illustrations",
    "outputs",
    "scores",
    "metrics",
    "comparisons",
    "curves.csv",
    "reports",
)

TINY = """# @package _global_
# The whole graph in seconds, for tests.
defaults:
  - /catalogue: demo

scale: tiny

catalogue:
  corpora:
    demo-train: {grammar: {sentences: 600}}
    demo-dev: {grammar: {sentences: 20}}
    demo-test: {grammar: {sentences: 20}}

tasks:
  en-de:
    kind: translation
    text:
      source: en
      target: de
      train: [demo-train]
      dev: demo-dev
      tests: {test: demo-test}
      cleaning:
        invalid_utf8: true
        empty: true
        max_words: 60
        max_ratio: 4
        identical: true
        duplicates: true
    bpe: {vocabulary: 450, normalization: identity}
    decoding: {beam: 4, alpha: 0.6, extra_length: 10}

models:
  base: &base {N: 1, d_model: 32, d_ff: 64, h: 2, P_drop: 0.1, eps_ls: 0.1, steps: 60, positions: sinusoid, average: 2, checkpoint_steps: 20}
  C_ff1024: {<<: *base, d_ff: 32}

runs:
  en-de.base: &run {task: en-de, model: base, seed: 1}
  en-de.C_ff1024: {<<: *run, model: C_ff1024}

tested: [en-de.base]

variations: {task: en-de, base: base}

profiling:
  counts: {n: [4, 8, 16, 32], d: [16, 32, 64, 128], k: [3, 5, 7, 9], r: [2, 4, 8, 16]}
  fixed: {n: 8, d: 16, k: 3, r: 4}
  chains: {n: [2, 3, 4, 5]}
  paths: {n: [8, 16, 24, 32], k: [3, 5, 7, 9], r: [2, 4, 6, 8]}
  clocks: {n: [4, 8], d: [16]}

training:
  batch_tokens: 512
  micro_batches: 2
  warmup_steps: 10
  learning_rate_scale: 0.3
  validation_steps: 30
  log_steps: 15
"""


class Project:
    """A copy of the project in a folder of its own; what runs in it is the copy's code."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the copy, without what the user's environment has to say."""
        return subprocess.run(
            command, cwd=self.root, env=self._environment(environment), capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        ours = (
            "AIAYN_MIRROR", "MLFLOW_TRACKING_URI", "TQDM_DISABLE",
            "MAKEFLAGS", "MFLAGS", "MAKELEVEL",  # of the make that runs the tests
        )  # fmt: skip
        return {
            **{k: v for k, v in os.environ.items() if k not in ours},
            "PATH": os.pathsep.join([str(programs.folder()), str(BIN), os.environ["PATH"]]),
            "PYTHONPATH": str(self.root / "src"),
            "OMP_NUM_THREADS": "1",
            "NO_PROXY": "127.0.0.1",
            "DVC_SITE_CACHE_DIR": str(self.root / ".dvc/tmp/site"),
            **{f"GIT_{who}_NAME": "Test" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "test@example.org" for who in ("AUTHOR", "COMMITTER")},
            **more,
        }

    def succeed(self, *command: str, **environment: str) -> str:
        """What a command printed; the test fails if the command does."""
        outcome = self.run(*command, **environment)
        assert outcome.returncode == 0, f"{command}:\n{outcome.stdout}\n{outcome.stderr}"
        return outcome.stdout

    @staticmethod
    def ran(printed: str) -> list[str]:
        """The stages that `dvc repro` says it ran, or would have run."""
        lines = printed.splitlines()
        return [line.split("'")[1] for line in lines if line.startswith("Running stage")]

    def stage(self, name: str, item: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a stage's script with what dvc.yaml gives it."""
        return self.run("python", f"pipeline/{name}.py", item, **environment)

    def error(self, name: str, item: str, **environment: str) -> str:
        """The message of a stage that must fail: one line, with every output unchanged."""
        before = self.digests()
        outcome = self.stage(name, item, **environment)
        assert outcome.returncode == 1, outcome.stdout + outcome.stderr
        assert outcome.stderr.count("\n") == 1, outcome.stderr
        assert "Traceback" not in outcome.stderr
        assert self.digests() == before
        return outcome.stderr

    def compose(self, *overrides: str) -> None:
        """Write params.yaml from conf/, as `make params` does."""
        params, conf = str(self.root / "params.yaml"), str(self.root / "conf")
        compose_and_dump(params, conf, None, "config", "", list(overrides))

    def set(self, *path: str, value: Any) -> None:
        """Set a parameter in params.yaml; a path of keys, because names of runs hold dots."""
        file = self.root / "params.yaml"
        params = yaml.load(file.read_text(), yaml.CSafeLoader)
        place = params
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        file.write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))

    def digests(self) -> dict[str, str]:
        """Every file that stages wrote, hidden ones included, by path."""
        return {
            str(path.relative_to(self.root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for name in OUTPUTS
            for path in sorted((self.root / name).rglob("*"))
            if path.is_file()
        }


def copy_project(root: Path) -> Project:
    """A fresh clone of the working tree, as it stands, without what runs left elsewhere: more files
    than all the rest."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard", ":!reproductions", ":!scales"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():  # a file that was deleted is still listed
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, root / name, follow_symlinks=False)
    return Project(root)
