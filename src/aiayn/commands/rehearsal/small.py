"""A scale's whole graph in small: its tasks, runs, vocabularies and recipe over made-up sentences,
with narrow models and three steps."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import yaml

from aiayn import config
from aiayn.config import Config, Grammar, Task
from aiayn.config.compose import CONF, write_params
from aiayn.data.corpora.grammar import sentences

STEPS = 3
WORDS = 20  # of a made-up sentence
TREE_SHAPES = 50
HELD_OUT_PAIRS = 4
EXTRA_LENGTH = 10  # an untrained model's search goes on to the last step
TREEBANK = "AIAYN_REHEARSAL"  # names the folder of made-up trees
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
_LEAF = re.compile(r"\(([^\s()]+) [^\s()]+\)")


def make_project(root: Path, folder: Path, scale: str | None) -> Config:
    """Write into `folder` a project whose graph is that of a scale, in small.

    True to the scale are its tasks, kinds, forms and rules of cleaning, sizes of vocabularies and
    beams; the `chosen_runs` with their heads, dropout, smoothing and positions; and the recipe's
    micro-batches, warm-up and Adam.

    Args:
        root: the project's folder.
        folder: an empty one.
        scale: a file of conf/scale; None: the one that conf/config.yaml names.
    Returns:
        The scale's true parameters.
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
    whole = config.load(path)
    params = yaml.safe_load(path.read_bytes())
    runs = chosen_runs(whole)
    params["runs"] = {name: params["runs"][name] for name in runs}
    params["catalogue"] = _made_up_text(whole.tasks, params, folder)
    for row in params["models"].values():
        few = {"N": min(row["N"], 2), "average": min(row["average"], STEPS)}
        row |= few | NARROW | {"steps": STEPS, "checkpoint_steps": 1}
    params["training"] |= RECIPE
    # no smaller: a micro-batch holds the longest sentence
    least = whole.training.micro_batches * whole.training.max_length
    params["training"]["batch_tokens"] = least
    params["machine"]["threads"] = 1
    params["launcher"] = {"command": None}
    params["profiling"] |= PROFILING
    for search in filter(None, (task["decoding"] for task in params["tasks"].values())):
        search["extra_length"] = min(search["extra_length"], EXTRA_LENGTH)
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    config.load(path)
    return whole


def chosen_runs(params: Config) -> list[str]:
    """Every run that is tested or drawn, and of the rest one of each task, each kind of positions
    and each neighbourhood: what else they differ in is numbers, whose models are built in true
    size."""
    met: dict[tuple[str, str, int | None], str] = {}
    for name, run in params.runs.items():
        if name not in params.tested:
            row = params.model_of(name)
            met.setdefault((run.task, row.positions, row.neighbourhood), name)
    needed = {*params.tested, *met.values(), params.illustrations.run}
    return [name for name in params.runs if name in needed]


def run_graph(folder: Path, jobs: int, tell: Callable[[], object]) -> tuple[list[str], int]:
    """Run every stage of a project that `make_project` wrote.

    Args:
        jobs: stages side by side.
        tell: called after each stage.
    Returns:
        A line for each stage that failed, with its reason; and how many ran well.
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
                tell()
            elif re.match(r"\S+ FAILED: ", line):
                failures.append(line.strip())
    return failures or ([last] if process.returncode else []), done


def _environment(folder: Path) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return inherited | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(folder / "src"),
        "OMP_NUM_THREADS": "1",
        "AIAYN_MIRROR": str(folder / "mirror"),
        TREEBANK: str(folder / "trees"),
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        "DVC_SITE_CACHE_DIR": str(folder / ".dvc/tmp/site"),
        "TQDM_DISABLE": "1",
    }


def _made_up_text(
    tasks: Mapping[str, Task], params: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Write text for every split of every task, name it in the tasks' parameters, and return the
    catalogue of it. Random sequences are made up as they are."""
    downloads: dict[str, Any] = {}
    corpora: dict[str, Any] = {}
    for name, task in tasks.items():
        text = params["tasks"][name]["text"]
        if task.kind == "copying":
            drawn = (*task.text.train, task.text.dev, *task.text.tests.values())
            corpora |= {corpus: params["catalogue"]["corpora"][corpus] for corpus in drawn}
            continue
        words = _words(task.bpe.vocabulary, seed=name)
        enough = -(-len(words) // WORDS)
        splits = {"train": enough, **dict.fromkeys(task.text.splits, HELD_OUT_PAIRS)}
        for split, pairs in splits.items():
            corpus = f"{name}.{split}"
            draw = random.Random(corpus)
            if task.kind == "parsing":
                file = folder / "trees" / f"{corpus}.mrg"
                _write(file, _trees(words, pairs * WORDS, draw))
                corpora[corpus] = {"treebank": {"folder": TREEBANK, "files": [file.name]}}
                continue
            sides = {}
            for language in (task.text.source, task.text.target):
                file = folder / "mirror/rehearsal" / f"{corpus}.{language}"
                labels = task.text.labels if language == task.text.target else None
                made = _sentences(words, pairs, draw)
                _write(file, islice(cycle(labels), pairs) if labels else made)
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                downloads[file.name] = {
                    "url": f"http://rehearsal/{file.name}",
                    "checksum": f"sha256:{digest}",
                    "licence": "made up",
                }
                sides[language] = {"download": file.name}
            corpora[corpus] = {"sides": sides}
        text["train"], text["dev"] = [f"{name}.train"], f"{name}.dev"
        text["tests"] = {split: f"{name}.{split}" for split in task.text.tests}
    return {"downloads": downloads, "corpora": corpora}


def _words(count: int, seed: str) -> list[str]:
    """As many words as a vocabulary has pieces, so that it can have that many."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 10)))] = None
    return list(words)


def _sentences(words: Sequence[str], count: int, draw: random.Random) -> Iterator[str]:
    """Every word once, if there are sentences enough; both sides of a pair are equally long."""
    shuffled = draw.sample(words, min(len(words), count * WORDS))
    for n in range(count):
        yield " ".join(shuffled[n * WORDS : (n + 1) * WORDS] or words[:WORDS])


def _trees(words: Sequence[str], leaves: int, draw: random.Random) -> Iterator[str]:
    """Trees of the project's own grammar whose words are made up, with so many leaves in all."""
    grammar = Grammar(split="train", sentences=TREE_SHAPES, seed=1)
    shapes = [line for (line,) in sentences(grammar, ("tree",))]
    left = iter(draw.sample(words, min(len(words), leaves)))
    while leaves > 0:
        shape = draw.choice(shapes)
        leaves -= len(_LEAF.findall(shape))
        yield _LEAF.sub(lambda leaf: f"({leaf[1]} {next(left, words[0])})", shape)


def _write(file: Path, lines: Iterator[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
