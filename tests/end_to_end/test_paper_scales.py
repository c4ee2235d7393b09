"""The paper's scales from an empty folder to their tables, in miniature: WMT14 trained by torchrun
with two processes one of which is killed, the licensed treebank, and the reports of what is left
when one of two tasks fails or the treebank is missing.

The first needs ../shared/wmt14-mini beside the repository; skipped without.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from aiayn.results import paths

RUN = "en-de.base"
SMALL = [
    "machine.device=cpu", "machine.threads=1",
    "training.batch_tokens=2048", "training.micro_batches=4", "training.log_steps=5",
    "training.validation_steps=40", "training.warmup_steps=20",
    "profiling.counts={n:[4,8,16,32],d:[16,32,64,128],k:[3,5,7,9],r:[2,4,8,16]}",
    "profiling.fixed={n:8,d:16,k:3,r:4}", "profiling.chains.n=[2,3,4,5]",
    "profiling.paths={n:[8,16,24,32],d:[8],k:[3,5,7,9],r:[2,4,6,8]}",
    "profiling.clocks={n:[4,8],d:[16],k:[3],r:[4]}",
]  # fmt: skip
MODEL = {"N": 1, "d_model": 32, "d_ff": 64, "h": 4, "average": 2, "checkpoint_steps": 10}


def compose(project: Any, scale: str, model: str, *overrides: str, steps: int) -> None:
    """The scale's parameters with a small model, on this machine's CPU."""
    columns = {**MODEL, "steps": steps}
    small = [f"models.{model}.{name}={value}" for name, value in columns.items()]
    project.compose(f"scale={scale}", *SMALL, *small, *overrides)


def miniature(project: Any, mirror: Path, scale: str) -> None:
    """A scale of WMT14 over the mirror's archives."""
    catalogue = yaml.safe_load((project.root / "conf/catalogue/wmt14.yaml").read_text())
    overrides = [
        f"tasks.{task}.{setting}"
        for task in (("en-de", "en-fr") if scale == "wmt14" else ("en-de",))
        for setting in ("bpe.vocabulary=1000", "decoding.beam=2", "decoding.extra_length=1")
    ]
    overrides += [
        f"catalogue.corpora.{name}.pairs=500" for name in ("newstest2013", "newstest2014-de-en")
    ]
    for name, download in catalogue["downloads"].items():
        file = mirror / download["url"].removeprefix("http://")
        if file.is_file():
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            overrides.append(f"catalogue.downloads.{name}.checksum=sha256:{digest}")
            if "bytes" in download:
                overrides.append(f"catalogue.downloads.{name}.bytes={file.stat().st_size}")
    compose(project, scale, "base", "launcher.gpus=2", *overrides, steps=60)


@pytest.fixture(scope="module")
def wmt14(
    copy_of: Callable[[Path], Any],
    shared: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    """The scale wmt14_base in an empty folder. Its parameters launch two processes by torchrun."""
    project = copy_of(tmp_path_factory.mktemp("wmt14"))
    (project.root / "dvc.lock").unlink(missing_ok=True)
    project.succeed("git", "init", "-q")
    miniature(project, shared("wmt14-mini"), "wmt14_base")
    return project


def kill_one_process(driver: psutil.Popen) -> None:
    """Kill the second of the two that train, once there is a state to resume from."""
    while not list(Path(driver.cwd()).glob("scratch/*/resume.safetensors")):
        assert driver.poll() is None
        time.sleep(0.05)
    for process in driver.children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            if process.environ().get("LOCAL_RANK") == "1":
                process.kill()
                return
    raise AssertionError("no second process")


def test_wmt14_base_to_table_2(wmt14: Any, shared: Callable[[str], Path]) -> None:
    mirror = str(shared("wmt14-mini"))
    environment = wmt14._environment({"AIAYN_MIRROR": mirror})
    with psutil.Popen(
        [sys.executable, "-m", "aiayn", "repro", "--jobs", "1", f"train@{RUN}"],
        cwd=wmt14.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    ) as driver:  # fmt: skip
        kill_one_process(driver)
        _, printed = driver.communicate()
    assert driver.returncode == 1
    assert f"train@{RUN} FAILED" in printed
    done = wmt14.run("aiayn", "repro", "--jobs", "2", AIAYN_MIRROR=mirror)
    assert done.returncode == 0, done.stderr
    record = json.loads((wmt14.root / paths.training_metadata(RUN)).read_text())
    assert (record["processes"], record["starts"]) == (2, 2)
    with (wmt14.root / paths.history(RUN)).open() as file:
        assert [int(line["step"]) for line in csv.DictReader(file)] == [*range(5, 61, 5)]
    score = json.loads((wmt14.root / paths.scores(RUN)).read_text())["splits"]["test"]
    assert score["set"]["pairs"] == 500
    table = (wmt14.root / paths.REPORT_TABLES / "table_2.md").read_text()
    ours = next(line for line in table.splitlines() if line.startswith(f"| {RUN} | newstest2014"))
    for metric in ("compound_split_bleu", "bleu", "chrf"):
        assert f" {score[metric]['value']:.2f} (" in ours
    assert score["chrf"]["value"] > 1
    assert not (wmt14.root / paths.FAILURES).exists()


def test_one_of_two_tasks_fails(wmt14: Any, shared: Callable[[str], Path]) -> None:
    """After the test above: table 2's scale, whose English-French archives are not in the mirror."""
    miniature(wmt14, shared("wmt14-mini"), "wmt14")
    params = yaml.safe_load((wmt14.root / "params.yaml").read_text())
    for big in ("en-de.big", "en-fr.big"):  # nothing that base does not show
        del params["runs"][big]
        params["tested"].remove(big)
    (wmt14.root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    done = wmt14.run("aiayn", "repro", AIAYN_MIRROR=str(shared("wmt14-mini")))
    assert done.returncode == 1
    assert f"train@{RUN}: done" not in done.stderr  # it is that of wmt14_base
    report = wmt14.root / paths.REPORT_PAGE
    assert f"A report of the rest is at {report}" in done.stderr
    assert "1 of " in done.stderr.splitlines()[-1]
    reason = "download@en-fr: DataError: "
    table = (wmt14.root / paths.REPORT_TABLES / "table_2.md").read_text()
    base = next(line for line in table.splitlines() if line.startswith("| ours (base)"))
    assert f"not run ({reason}" in base
    assert f"| {RUN} | newstest2014-de-en (test) | 500 |" in table
    assert "en-fr.base is not finished: " + reason in report.read_text()
    lock = yaml.safe_load((wmt14.root / "dvc.lock").read_text())["stages"]
    assert "report" in wmt14.ran(wmt14.succeed("dvc", "repro", "--dry", "--single-item", "report"))
    assert f"score@{RUN}" in lock
    assert "score@en-fr.base" not in lock


def trees(number: int) -> str:
    """Made-up sentences of the Wall Street Journal's kind, as its files hold them."""
    draw = random.Random(number)
    nouns, verbs = ("dog", "market", "price", "trader"), ("falls", "sleeps", "sees")

    def phrase(depth: int) -> str:
        noun = f"(NP (DT the) (NN {draw.choice(nouns)}))"
        if depth and draw.random() < 0.4:
            return f"(NP {noun} (PP (IN of) {phrase(depth - 1)}))"
        return noun

    return "".join(
        f"( (S {phrase(2)} (VP (VBZ {draw.choice(verbs)}) {phrase(1)}) (. .)) )\n"
        for _ in range(40)
    )


@pytest.fixture
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the licensed one, of made-up trees: 800 to learn from, 40 for dev and test."""
    folder = tmp_path_factory.mktemp("wsj")
    for section in range(2, 24):
        file = folder / f"{section:02}/wsj_{section:02}01.mrg"
        file.parent.mkdir()
        file.write_text(trees(section))
    return folder


def test_wsj_to_table_4_and_without_the_treebank(clone: Any, treebank: Path) -> None:
    (clone.root / "dvc.lock").unlink(missing_ok=True)
    clone.succeed("git", "init", "-q")
    pairs = zip(("wsj-02-21", "wsj-22", "wsj-23"), (800, 40, 40), strict=True)
    settings = [f"catalogue.corpora.{name}.pairs={count}" for name, count in pairs]
    compose(
        clone, "wsj", "parser", *settings, "launcher=here", "tasks.parsing.bpe.vocabulary=300",
        "tasks.parsing.decoding.beam=2", "tasks.parsing.decoding.extra_length=30", steps=20,
    )  # fmt: skip

    def row() -> str:
        table = (clone.root / paths.REPORT_TABLES / "table_4.md").read_text()
        rows = (line for line in table.splitlines() if "WSJ only" in line and "ours" in line)
        return next(rows)

    done = clone.run("aiayn", "repro", "--jobs", "2")
    assert done.returncode == 1
    assert "download@parsing FAILED: DataError: " in done.stderr
    assert "compare FAILED" not in done.stderr  # it has nothing to compare
    assert "not run (download@parsing: DataError: " in row()
    reasons = json.loads((clone.root / paths.FAILURES).read_text())["unfinished"]
    assert "AIAYN_TREEBANK is not set" in reasons["parsing.parser"]
    done = clone.run("aiayn", "repro", "--jobs", "2", AIAYN_TREEBANK=str(treebank))
    assert done.returncode == 0, done.stderr
    scored = json.loads((clone.root / paths.scores("parsing.parser")).read_text())["splits"]
    assert scored["test"]["counts"]["sentences"] == 40
    assert "(on wsj-23)" in row()
    table = (clone.root / paths.REPORT_TABLES / "table_4.md").read_text()
    ours = next(line for line in table.splitlines() if line.startswith("| parsing.parser | wsj-23"))
    assert f" {scored['test']['bracket_f1']['value']:.2f}" in ours
    assert not (clone.root / paths.FAILURES).exists()
