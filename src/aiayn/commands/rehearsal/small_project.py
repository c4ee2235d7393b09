"""A small version of a scale's pipeline: its tasks, models, vocabularies, recipe and launcher, with
generated text and a few steps."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
import yaml

from aiayn import config
from aiayn.commands.repro.dvc_commands import environment as dvc_environment
from aiayn.config import Config, Task
from aiayn.config.compose import CONF, write_params
from aiayn.results.text import write_lines

STEPS, GPU_STEPS = 20, 100  # enough to stop a training on a GPU before its end
LOG_STEPS = 5
WORDS = (6, 12, 24, 36, 42)  # lengths of generated sentences, in turn
HELD_OUT_PAIRS = 50
EXTRA_LENGTH = 10  # an untrained model's outputs reach the maximum length
TREEBANK = "AIAYN_REHEARSAL"  # the environment variable with the folder of generated trees
COPIED = (str(CONF), "pipeline", "src")
NARROW = {"d_model": 32, "d_ff": 64, "d_k": 8, "d_v": 8}
PROCESSES = 2  # on a CPU, instead of GPUs
PROFILING = {
    "counts": {"n": [4, 8, 16, 32], "d": [16, 32, 64, 128], "k": [3, 5, 7, 9], "r": [2, 4, 8, 16]},
    "fixed": {"n": 8, "d": 16, "k": 3, "r": 4},
    "chains": {"n": [2, 3, 4, 5], "d": [16], "k": [3], "r": [4]},
    "paths": {"n": [8, 16, 24, 32], "d": [8], "k": [3, 5, 7, 9], "r": [2, 4, 6, 8]},
    "clocks": {"n": [4, 8], "d": [16], "k": [3], "r": [4]},
}


def lacks_gpus(params: Config) -> bool:
    """Whether a scale requires this machine's GPUs, but torch sees none."""
    here = params.launcher.nodes is None
    return here and params.machine.device == "cuda" and not torch.cuda.is_available()


def make_project(
    root: Path,
    folder: Path,
    scale: str | None,
    launcher: str | None = None,
    gpus: str | None = None,
) -> Config:
    """Write a project with a small version of a scale's pipeline.

    Unchanged are its tasks, kinds, forms and cleaning rules, vocabulary and beam sizes, the models
    of the `chosen_runs`, the recipe and the launcher. If the machine `lacks_gpus`, the models are
    narrow, the batches small, and two processes on the CPU replace the GPUs.

    Args:
        root: the real project's folder.
        folder: an empty folder.
        scale, launcher, gpus: as for `write_params`.
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
    write_params(folder, scale, launcher, gpus)
    path = folder / config.PARAMS
    real = config.load(path)
    params = yaml.safe_load(path.read_bytes())
    params["runs"] = {name: params["runs"][name] for name in chosen_runs(real)}
    params["catalogue"] = _generate_text(real.tasks, params, folder)
    steps = GPU_STEPS if torch.cuda.is_available() or real.launcher.nodes else STEPS
    for row in params["models"].values():
        row |= {"average": min(row["average"], 2), "steps": steps, "checkpoint_steps": steps // 2}
    params["training"] |= {"validation_steps": steps, "log_steps": LOG_STEPS}
    params["profiling"] |= PROFILING
    if lacks_gpus(real):
        for row in params["models"].values():
            row |= NARROW | {"N": min(row["N"], 2)}
        # the minimum: a micro-batch must hold the longest sentence
        least = real.training.micro_batches * real.training.max_length
        params["training"]["batch_tokens"] = least
        params["machine"] |= {"device": "cpu", "threads": 1}
        if real.launcher.gpus:
            params["launcher"]["gpus"] = min(real.launcher.gpus, PROCESSES)
    for search in filter(None, (task["decoding"] for task in params["tasks"].values())):
        search["extra_length"] = min(search["extra_length"], EXTRA_LENGTH)
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    config.load(path)
    return real


def chosen_runs(params: Config) -> list[str]:
    """Every run that is tested or illustrated, and one for each other combination of task,
    positional encoding and extensions. The rest differ only in sizes; the estimates build their
    models in real size."""
    first: dict[tuple[str, str, str], str] = {}
    for name, run in params.runs.items():
        if name not in params.tested:
            row = params.model_of(name)
            first.setdefault((run.task, row.positions, str(row.extensions)), name)
    chosen = {*params.tested, *first.values(), params.illustrations.run}
    return [name for name in params.runs if name in chosen]


def run_pipeline(
    folder: Path, jobs: int, on_done: Callable[[], object], *targets: str
) -> tuple[list[str], int]:
    """Run the stages of a project that `make_project` wrote.

    Args:
        jobs: stages in parallel.
        on_done: called after each stage.
        targets: as for `aiayn repro`; without any, every stage.
    Returns:
        A line with the error of each failed stage, and the number of stages that succeeded.
    """
    command = [sys.executable, "-m", "aiayn", "repro", "--jobs", str(jobs), *targets]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
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


def environment(folder: Path) -> dict[str, str]:
    """The environment of such a project's stages."""
    return dvc_environment() | {
        "PYTHONPATH": str(folder / "src"),
        "AIAYN_MIRROR": str(folder / "mirror"),
        TREEBANK: str(folder / "trees"),
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        "DVC_SITE_CACHE_DIR": str(folder / ".dvc/tmp/site"),
        "TQDM_DISABLE": "1",
    }


def _generate_text(
    tasks: Mapping[str, Task], params: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Write a corpus for every split of every task, and set it in the task's parameters.

    Returns:
        Their catalogue. Random sequences to be copied are unchanged.
    """
    downloads: dict[str, Any] = {}
    corpora: dict[str, Any] = {}
    for name, task in tasks.items():
        text = params["tasks"][name]["text"]
        if task.kind == "copying":
            used = params["catalogue"]["corpora"]
            corpora |= {corpus: used[corpus] for corpus in task.text.corpora}
            continue
        words = _words(task.bpe.vocabulary, seed=name)
        for split in ("train", *task.text.splits):
            corpus = f"{name}.{split}"
            # every word occurs in the training text, so that the vocabulary reaches its size
            turns = (
                -(-len(words) // sum(WORDS)) if split == "train" else HELD_OUT_PAIRS // len(WORDS)
            )
            pairs = turns * len(WORDS)
            if task.kind == "parsing":
                file = folder / "trees" / f"{corpus}.mrg"
                write_lines(file, map(_tree, _sentences(words, pairs, seed=corpus)))
                corpora[corpus] = {"treebank": {"folder": TREEBANK, "files": [file.name]}}
                continue
            corpora[corpus] = {"sides": {}}
            for language in (task.text.source, task.text.target):
                file = folder / "mirror/rehearsal" / f"{corpus}.{language}"
                if task.text.labels and language == task.text.target:
                    write_lines(file, islice(cycle(task.text.labels), pairs))
                else:
                    write_lines(file, _sentences(words, pairs, seed=file.name))
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
    """`count` different words: as many as the vocabulary has pieces."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 10)))] = None
    return list(words)


def _sentences(words: list[str], count: int, seed: str) -> list[str]:
    """Sentences that use all words in random order before repeating one."""
    supply = cycle(random.Random(seed).sample(words, len(words)))
    return [" ".join(islice(supply, length)) for length in islice(cycle(WORDS), count)]


def _tree(sentence: str) -> str:
    leaves = " ".join(f"(NP (NN {word}))" for word in sentence.split())
    return f"( (S {leaves}) )"
