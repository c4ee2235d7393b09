"""Time and memory for a corpus of WMT's size: cleaning, vocabulary, encoding, planning batches.

Generated lines with the lengths of WMT14's (26 words a side, few of them long) go through the data
stages, each in a separate process. Their words follow Zipf's law with a heavy tail, so that new
ones keep coming (Heaps' law with an exponent of 0.61), as in crawled text. Prints a Markdown table:
CPU seconds, which do not depend on the machine's other load; wall-clock seconds; peak memory of the
largest process; disk. Downloading and unpacking archives are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aiayn.config import Bpe, Catalogue, Cleaning, Corpus, Download, Side, Text, read_yaml
from aiayn.data.bpe.encoding import encode_task
from aiayn.data.bpe.vocabulary import train_bpe
from aiayn.data.corpora.assembly import assemble
from aiayn.results import paths
from aiayn.results.paths import SIDES
from aiayn.training.batching import BatchPlan

MEAN_WORDS, SPREAD, MOST_WORDS = 26, 0.6, 150
COMMON_WORDS, RARE_SHARE, TAIL = 50_000, 0.05, 0.61
CHUNK_PAIRS = 50_000
LETTERS = "bdfgklmnprstvwz"
# has the vocabularies and the rules of cleaning, a file for each task
TASKS = Path(__file__).resolve().parent.parent / "conf/tasks"


def lengths(random: np.random.Generator, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """How many words so many pairs have, on one side and on the other; (pairs,) each."""
    mean = np.log(MEAN_WORDS) - SPREAD**2 / 2
    source = random.lognormal(mean, SPREAD, pairs)
    target = source * random.lognormal(0, 0.15, pairs)
    one, other = (np.clip(side, 1, MOST_WORDS).astype(np.int64) for side in (source, target))
    return one, other


def ranks(random: np.random.Generator, count: int) -> np.ndarray:
    """Ranks of so many words by frequency: common ones by Zipf and Mandelbrot's law, and a share of
    rare ones, Pareto-distributed beyond."""
    weights = np.cumsum(1 / (np.arange(COMMON_WORDS) + 2.7))
    common = np.searchsorted(weights, random.random(count) * weights[-1])
    rare = COMMON_WORDS * random.random(count) ** (-1 / TAIL)
    return np.where(random.random(count) < RARE_SHARE, np.minimum(rare, 1e12), common).astype(
        np.int64
    )


def spell(rank: int) -> str:
    """A different word for each rank; rarer words are longer."""
    letters = ""
    number = rank + 30
    while number:
        number, letter = divmod(number, len(LETTERS))
        letters += LETTERS[letter] + "aeiou"[(letter + number) % 5]
    return letters


def make(folder: Path, task: str, pairs: int) -> None:
    """Two plain files and dev and test sets, as a mirror."""
    random = np.random.default_rng(0)
    mirror = folder / "mirror/made-up"
    mirror.mkdir(parents=True)
    for name, count in (("train", pairs), ("dev", 3000), ("test", 3003)):
        files = [(mirror / f"{name}.{side}").open("w", encoding="utf-8") for side in SIDES]
        for begin in range(0, count, CHUNK_PAIRS):
            sides = lengths(random, min(CHUNK_PAIRS, count - begin))
            for file, side in zip(files, sides, strict=True):
                distinct, which = np.unique(ranks(random, int(side.sum())), return_inverse=True)
                words = np.array([spell(rank) for rank in distinct.tolist()], dtype=object)
                for line in np.split(words[which], np.cumsum(side)[:-1]):
                    file.write(" ".join(line) + "\n")
        for file in files:
            file.close()


def clean(folder: Path, task: str, pairs: int) -> None:
    """The download stage over the mirror."""
    downloads, corpora = {}, {}
    for file in sorted((folder / "mirror/made-up").iterdir()):
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        downloads[file.name] = Download(
            url=f"http://made-up/{file.name}", checksum=f"sha256:{digest}", licence="none"
        )
    for name in ("train", "dev", "test"):
        sides = {
            language: Side(download=f"{name}.{side}")
            for language, side in zip(("x", "y"), SIDES, strict=True)
        }
        corpora[name] = Corpus(sides=sides)
    rules = Cleaning(**parameters(task)["text"]["cleaning"])
    text = Text(
        source="x", target="y", train=("train",), dev="dev", tests={"test": "test"}, cleaning=rules
    )
    assemble(
        task, text, Catalogue(downloads=downloads, corpora=corpora), folder / "text",
        folder / "raw", str(folder / "mirror"),
    )  # fmt: skip


def bpe(folder: Path, task: str, pairs: int) -> None:
    """The train_bpe stage."""
    files = [paths.lines(folder / "text", "train", side) for side in SIDES]
    train_bpe(files, folder / "bpe", Bpe(**parameters(task)["bpe"]))


def encode(folder: Path, task: str, pairs: int) -> None:
    """The encode stage."""
    encode_task(folder / "text", paths.bpe_model(folder / "bpe"), folder / "tokens")


def plan(folder: Path, task: str, pairs: int) -> None:
    """What a training does with the lengths of its pairs; says what an epoch's shuffle takes."""
    random = np.random.default_rng(0)
    source, target = ((side * 1.3).astype(np.int64) + 1 for side in lengths(random, pairs))
    begun = time.process_time()
    made = BatchPlan(
        source, target, batch_tokens=25_000, micro_batches=8, max_length=256, seed=1
    )  # fmt: skip
    planned = time.process_time()
    made.step(0)
    shuffled = time.process_time()
    print(
        f"an epoch's plan {planned - begun:.1f} s, its shuffle {shuffled - planned:.1f} s",
        file=sys.stderr,
    )


STAGES: Mapping[str, Callable[[Path, str, int], None]] = {
    "make": make, "clean": clean, "bpe": bpe, "encode": encode, "plan": plan,
}  # fmt: skip


def parameters(task: str) -> Any:
    """Of a task of the scale wmt14, as plain data."""
    file = TASKS / f"wmt14_{task.replace('-', '_')}.yaml"
    return read_yaml(file.read_bytes())[task]


def measured(stage: str, folder: Path, task: str, pairs: int) -> dict[str, float]:
    """A stage in a separate process: CPU `seconds`, `wall` seconds, and the peak
    `megabytes` of the largest process."""
    command = [
        sys.executable, __file__, "--stage", stage, "--folder", str(folder), "--task", task,
        "--pairs", str(pairs),
    ]  # fmt: skip
    begun = time.monotonic()
    outcome = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(outcome.stdout)
    return found | {"wall": time.monotonic() - begun}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=["en-de", "en-fr"], default="en-de")
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stage:
        STAGES[arguments.stage](arguments.folder, arguments.task, arguments.pairs)
        uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(use.ru_utime + use.ru_stime for use in uses)
        print(
            json.dumps({"seconds": seconds, "megabytes": max(use.ru_maxrss for use in uses) / 1e3})
        )
        return
    with tempfile.TemporaryDirectory(prefix="aiayn-corpora-") as name:
        folder = Path(name)
        print(f"{arguments.task}, {arguments.pairs:,} pairs\n")
        print("| stage | processor seconds | seconds | MB, peak | MB of disk |\n|" + 5 * " --- |")
        for stage in STAGES:
            before = size(folder)
            found = measured(stage, folder, arguments.task, arguments.pairs)
            disk = (size(folder) - before) / 1e6
            print(
                f"| {stage} | {found['seconds']:.1f} | {found['wall']:.1f} "
                f"| {found['megabytes']:.0f} | {disk:.0f} |",
                flush=True,
            )


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
