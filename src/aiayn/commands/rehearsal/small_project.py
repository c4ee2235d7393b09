"""A project with the whole pipeline of a scale in small: its tasks, runs, vocabularies and recipe,
with generated text, narrow models and three steps."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import yaml

from aiayn import config
from aiayn.config import Config, Task
from aiayn.config.compose import CONF, write_params

STEPS = 3
WORDS = 12  # of a generated sentence
HELD_OUT_PAIRS = 4
EXTRA_LENGTH = 10  # the search of an untrained model goes on to the last step
TREEBANK = "AIAYN_REHEARSAL"  # the variable that names the folder of generated trees
COPIED = (str(CONF), "pipeline", "src")
NARROW = {"d_model": 16, "d_ff": 32, "d_k": 2, "d_v": 2}
RECIPE = {"validation_steps": STEPS, "log_steps": 1}
PROFILING = {
    "counts": {"n": [4, 8, 16, 32], "d": [16, 32, 64, 128], "k": [3, 5, 7, 9], "r": [2, 4, 8, 16]},
    "fixed": {"n": 8, "d": 16, "k": 3, "r": 4},
    "chains": {"n": [2, 3, 4, 5], "d": [16], "k": [3], "r": [4]},
    "paths": {"n": [8, 16, 24, 32], "d": [8], "k": [3, 5, 7, 9], "r": [2, 4, 6, 8]},
    "clocks": {"n": [4, 8], "d": [16], "k": [3], "r": [4]},
}


def make_project(root: Path, folder: Path, scale: str | None) -> Config:
    """Write a project whose pipeline is that of a scale in small.

    Unchanged are its tasks, kinds, forms and rules of cleaning, sizes of vocabularies and beams; of
    the `chosen_runs` their heads, dropout, smoothing and positions; the recipe's micro-batches,
    warm-up and Adam.

    Args:
        root: the real project's folder.
        folder: an empty one.
        scale: a file of conf/scale; None: the one that conf/config.yaml names.
    Returns:
        The scale's real parameters.
    Raises:
        ConfigError: as write_params.
    """
    for name in COPIED:
        shutil.copytree(root / name, folder / name, symlinks=True)
    shutil.copy(root / "dvc.yaml", folder)
    (folder / ".dvc").mkdir()
    (folder / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    write_params(folder, scale)
    path = folder / config.PARAMS
    real = config.load(path)
    params = yaml.safe_load(path.read_bytes())
    params["runs"] = {name: params["runs"][name] for name in chosen_runs(real)}
    params["catalogue"] = _generate_text(real.tasks, params, folder)
    for row in params["models"].values():
        few = {"N": min(row["N"], 2), "average": min(row["average"], STEPS)}
        row |= few | NARROW | {"steps": STEPS, "checkpoint_steps": 1}
    params["training"] |= RECIPE
    # no smaller: a micro-batch holds the longest sentence
    least = real.training.micro_batches * real.training.max_length
    params["training"]["batch_tokens"] = least
    params["machine"] |= {"device": "auto", "threads": 1}
    params["launcher"] = {"command": None}
    params["profiling"] |= PROFILING
    for search in filter(None, (task["decoding"] for task in params["tasks"].values())):
        search["extra_length"] = min(search["extra_length"], EXTRA_LENGTH)
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    config.load(path)
    return real


def chosen_runs(params: Config) -> list[str]:
    """Every run that is tested or illustrated, and one for each other combination of task, kind of
    positions and neighbourhood. The others differ in numbers only, and their models are built in
    real size for the estimates."""
    first: dict[tuple[str, str, int | None], str] = {}
    for name, run in params.runs.items():
        if name not in params.tested:
            row = params.model_of(name)
            first.setdefault((run.task, row.positions, row.neighbourhood), name)
    chosen = {*params.tested, *first.values(), params.illustrations.run}
    return [name for name in params.runs if name in chosen]


def run_pipeline(folder: Path, jobs: int, on_done: Callable[[], object]) -> tuple[list[str], int]:
    """Run every stage of a project that `make_project` wrote.

    Args:
        jobs: stages in parallel.
        on_done: called after each stage.
    Returns:
        A line with the reason for each stage that failed, and the number of those that succeeded.
    """
    command = [sys.executable, "-m", "aiayn", "repro", "--jobs", str(jobs)]
    process = subprocess.Popen(
        command, cwd=folder, env=_environment(folder), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    assert process.stderr is not None
    failures, done, last = [], 0, ""
    with process:
        for line in process.stderr:
            last = line.strip() or last
            if re.match(r"\S+: done in ", line):
                done += 1
                on_done()
            elif re.match(r"\S+ FAILED: ", line):
                failures.append(line.strip())
    return failures or ([last] if process.returncode else []), done


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(folder / "src"),
        "OMP_NUM_THREADS": "1",
        "AIAYN_MIRROR": str(folder / "mirror"),
        TREEBANK: str(folder / "trees"),
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        "DVC_SITE_CACHE_DIR": str(folder / ".dvc/tmp/site"),
        "TQDM_DISABLE": "1",
    }


def _generate_text(
    tasks: Mapping[str, Task], params: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Write a corpus for every split of every task, and name it in the task's parameters.

    Returns:
        Their catalogue. Random sequences to be copied stay as they are.
    """
    downloads: dict[str, Any] = {}
    corpora: dict[str, Any] = {}
    for name, task in tasks.items():
        text = params["tasks"][name]["text"]
        if task.kind == "copying":
            used = (*task.text.train, task.text.dev, *task.text.tests.values())
            corpora |= {corpus: params["catalogue"]["corpora"][corpus] for corpus in used}
            continue
        words = _words(task.bpe.vocabulary, seed=name)
        for split in ("train", *task.text.splits):
            corpus = f"{name}.{split}"
            # in training text every word occurs, so that the vocabulary can have its size
            pairs = -(-len(words) // WORDS) if split == "train" else HELD_OUT_PAIRS
            if task.kind == "parsing":
                file = folder / "trees" / f"{corpus}.mrg"
                _write(file, map(_tree, _sentences(words, pairs, seed=corpus)))
                corpora[corpus] = {"treebank": {"folder": TREEBANK, "files": [file.name]}}
                continue
            corpora[corpus] = {"sides": {}}
            for language in (task.text.source, task.text.target):
                file = folder / "mirror/rehearsal" / f"{corpus}.{language}"
                if task.text.labels and language == task.text.target:
                    _write(file, islice(cycle(task.text.labels), pairs))
                else:
                    _write(file, _sentences(words, pairs, seed=file.name))
                downloads[file.name] = {
                    "url": f"http://rehearsal/{file.name}",
                    "checksum": f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}",
                    "licence": "generated",
                }
                corpora[corpus]["sides"][language] = {"download": file.name}
        text["train"], text["dev"] = [f"{name}.train"], f"{name}.dev"
        text["tests"] = {split: f"{name}.{split}" for split in task.text.tests}
    return {"downloads": downloads, "corpora": corpora}


def _words(count: int, seed: str) -> list[str]:
    """As many different words as a vocabulary has pieces."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 10)))] = None
    return list(words)


def _sentences(words: list[str], count: int, seed: str) -> list[str]:
    """Sentences of WORDS words, which run out in random order before one is repeated."""
    supply = cycle(random.Random(seed).sample(words, len(words)))
    return [" ".join(islice(supply, WORDS)) for _ in range(count)]


def _tree(sentence: str) -> str:
    leaves = " ".join(f"(NP (NN {word}))" for word in sentence.split())
    return f"( (S {leaves}) )"


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
