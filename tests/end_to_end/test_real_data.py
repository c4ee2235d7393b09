"""Real corpora through the data stages: Multi30k from a mirror, WMT14 from one in miniature.

Needs ../shared/mirror and ../shared/wmt14-mini beside the repository; skipped without.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.arrays import TokenArrays

DATA_STAGES = ("download", "train_bpe", "encode")


def run_stages(project: Any, *names: str, item: str, **environment: str) -> None:
    for name in names:
        outcome = project.stage(name, item, **environment)
        assert outcome.returncode == 0, f"{name}: {outcome.stderr}"


def split(text: Path, name: str) -> tuple[list[str], list[str]]:
    """Source and target lines; the manifest must tell the truth about them."""
    entry = json.loads((text / "manifest.json").read_text())["splits"][name]
    sides = []
    for side in ("source", "target"):
        content = (text / f"{name}.{side}").read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"][side]
        sides.append(content.decode().removesuffix("\n").split("\n"))
        assert len(sides[-1]) == entry["pairs"]
    return sides[0], sides[1]


def check_tokens(root: Path, task: str, vocabulary: int) -> None:
    """Every dev sentence comes back from its ids as it was; train has an entry for every pair."""
    text, tokens = root / "data/text" / task, root / "data/tokens" / task
    bpe = Bpe(root / "data/bpe" / task / "model.model")
    assert bpe.size == vocabulary
    assert len(TokenArrays.open(tokens, "train")) == len(split(text, "train")[0])
    dev = TokenArrays.open(tokens, "dev")
    for side, lines in zip((dev.source, dev.target), split(text, "dev"), strict=True):
        assert bpe.decode([side.sentence(n).tolist() for n in range(len(dev))]) == lines


def test_treebank_sample(clone: Any, shared: Callable[[str], Path]) -> None:
    clone.compose("scale=multi30k_laptop")
    run_stages(clone, *DATA_STAGES, item="parsing", AIAYN_MIRROR=str(shared("mirror")))
    text = clone.root / "data/text/parsing"
    assert [len(split(text, name)[0]) for name in ("train", "dev", "test")] == [3501, 168, 245]
    words, symbols = split(text, "test")
    for sentence, line in zip(words, symbols, strict=True):
        leaves = [symbol for symbol in line.split() if symbol[0] == "(" and symbol[-1] == ")"]
        assert len(leaves) == len(sentence.split())
    check_tokens(clone.root, "parsing", 4000)


def test_multi30k(clone: Any, shared: Callable[[str], Path]) -> None:
    """In words, as the published models read it."""
    clone.compose("scale=multi30k")
    run_stages(clone, *DATA_STAGES, item="en-de", AIAYN_MIRROR=str(shared("mirror")))
    text = clone.root / "data/text/en-de"
    # the sizes that Multi30k's authors publish
    pairs = {
        name: len(split(text, name)[0])
        for name in ("train", "dev", "test", "test_2017_flickr", "test_2017_mscoco")
    }
    assert [*pairs.values()] == [29000, 1014, 1000, 1000, 461]
    check_tokens(clone.root, "en-de", 10_000)
    assert not (clone.root / "data/raw").exists()  # a folder mirror is read in place


def test_genia(clone: Any, shared: Callable[[str], Path]) -> None:
    clone.compose("scale=genia")
    run_stages(clone, *DATA_STAGES, item="parsing", AIAYN_MIRROR=str(shared("mirror")))
    text = clone.root / "data/text/parsing"
    assert len(split(text, "train")[0]) == 14_326
    assert len((text / "dev.trees").read_text().splitlines()) == 1361
    check_tokens(clone.root, "parsing", 2000)


@pytest.fixture
def wmt14(clone: Any, shared: Callable[[str], Path]) -> Any:
    """The scale wmt14_base over the miniature: other checksums, half of the sentences and less."""
    mirror = shared("wmt14-mini")
    clone.compose("scale=wmt14_base")
    downloads = yaml.load((clone.root / "params.yaml").read_text(), yaml.CSafeLoader)["catalogue"][
        "downloads"
    ]
    overrides = [
        "catalogue.corpora.newstest2013.pairs=500",
        "catalogue.corpora.newstest2014-de-en.pairs=500",
        "tasks.en-de.bpe.vocabulary=4000",
        "launcher=here",
        "machine.device=cpu",
        "training.batch_tokens=2048",
        "models.base.N=1",
        "models.base.d_model=32",
        "models.base.d_ff=64",
        "models.base.steps=3",
        "models.base.average=1",
    ]
    for name, download in downloads.items():
        file = mirror / download["url"].removeprefix("http://")
        if file.is_file():
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            overrides.append(f"catalogue.downloads.{name}.checksum=sha256:{digest}")
            if "bytes" in download:
                overrides.append(f"catalogue.downloads.{name}.bytes={file.stat().st_size}")
    clone.compose("scale=wmt14_base", *overrides)
    run_stages(clone, *DATA_STAGES, item="en-de", AIAYN_MIRROR=str(mirror))
    return clone


def test_wmt14_in_miniature(wmt14: Any) -> None:
    text = wmt14.root / "data/text/en-de"
    manifest = json.loads((text / "manifest.json").read_text())
    corpora = manifest["splits"]["train"]["corpora"]
    assert {name: entry["pairs"] for name, entry in corpora.items()} == {
        "europarl-v7-de-en": 4000,
        "commoncrawl-de-en": 3000,
        "news-commentary-v9-de-en": 1999,
    }
    dropped = sum(sum(entry["dropped"].values()) for entry in corpora.values())
    source, target = split(text, "train")
    assert len(source) == len(target) == 8999 - dropped
    assert dropped < 100
    for name in ("dev", "test"):
        source, target = split(text, name)
        assert len(source) == len(target) == 500
        assert not any("<seg" in line or "&amp;" in line for line in source + target)
    check_tokens(wmt14.root, "en-de", 4000)

    run_stages(wmt14, "train", item="en-de.base")
    with (wmt14.root / "history/en-de.base.csv").open() as file:
        last = list(csv.DictReader(file))[-1]
    assert last["step"] == "3"
    # three steps in, a model still guesses among all pieces
    assert float(last["dev_loss"]) == pytest.approx(math.log(4000), rel=0.5)
    checkpoints = wmt14.root / "models/en-de.base/checkpoints"
    assert [path.name for path in checkpoints.iterdir()] == ["step-0000003.safetensors"]
