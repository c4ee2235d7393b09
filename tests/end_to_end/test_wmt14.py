"""WMT14 English-French from download to score, on its archives in miniature: real newstests whole,
and the dirt of real crawls.

Needs ../shared/wmt14-mini-fr beside the repository; skipped without.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset

from aiayn.data.corpora.archives import lines
from aiayn.data.corpora.cleaning import stripped

# what stands at the end of Common Crawl, as its README tells, and what becomes of it: the rule that
# drops it, or the pair that is kept (white space at its ends alone is stripped)
COMMON_CRAWL = [
    "invalid_utf8",  # latin-1
    ("The same line.", "The same line."),  # the rule `identical` is off: the paper names none
    "empty",
    "empty",
    ("a line separator\u2028inside", "un séparateur de ligne\u2028dedans"),
    ("next line\x85inside", "ligne suivante\x85dedans"),
    ("a carriage return", "un retour chariot"),
    ("a tab\tinside", "une tabulation\tdedans"),
    ("non\xa0breaking", "insécable\xa0!"),
    (
        "a vertical tab\x0band a form feed\x0cinside",
        "une tabulation verticale\x0bet un saut de page\x0cdedans",
    ),
    ("a NUL \x00 byte", "un octet NUL \x00"),
    "empty",  # only spaces
]
GIGA = [
    "max_words",  # 3,000 words
    "max_ratio",  # 1 word against 40
    ("\ufeffa byte order mark", "\ufeffune marque d'ordre"),
    "max_ratio",  # decomposed accents: 2 words against 1
    "max_ratio",  # emoji: 4 words against 2
]


@pytest.fixture(scope="module")
def mirror(shared: Callable[[str], Path]) -> Path:
    return shared("wmt14-mini-fr")


def members(mirror: Path, archive: str, *names: str) -> list[list[bytes]]:
    """The lines of an archive's members, read by nothing of ours."""
    sides = []
    with tarfile.open(mirror / "www.statmt.org" / archive) as opened:
        for name in names:
            file = opened.extractfile(name)
            content = file.read()
            sides.append(
                (gzip.decompress(content) if name.endswith(".gz") else content).split(b"\n")
            )
    assert all(side.pop() == b"" for side in sides)
    return sides


def newstest(mirror: Path, archive: str, name: str, folder: Path) -> list[str]:
    """A test set's sentences as sacreBLEU reads them, whose reader leaves entities as they stand."""
    (content,) = members(mirror, archive, name)
    raw, read = folder / "raw.sgm", folder / "read.txt"
    raw.write_bytes(b"\n".join(content) + b"\n")
    reader = FakeSGMLDataset.__new__(FakeSGMLDataset)  # of no named test set: nothing is fetched
    reader._convert_format(str(raw), str(read))
    return read.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@pytest.fixture
def wmt14(clone: Any, mirror: Path) -> Any:
    """The scale over the miniature: other checksums, a small vocabulary, a shrunken base."""
    clone.compose("scale=wmt14")
    params = yaml.load((clone.root / "params.yaml").read_text(), yaml.CSafeLoader)
    overrides = [
        "tasks.en-fr.bpe.vocabulary=4000", "launcher=here", "machine.device=cpu", "machine.threads=1",
        "training.batch_tokens=2048", "models.base.N=1", "models.base.d_model=16",
        "models.base.d_ff=32", "models.base.h=2", "models.base.steps=4",
        "models.base.checkpoint_steps=2", "models.base.average=2",
        "tasks.en-fr.decoding.beam=1", "tasks.en-fr.decoding.extra_length=1",
    ]  # fmt: skip
    for name, download in params["catalogue"]["downloads"].items():
        file = mirror / download["url"].removeprefix("http://")
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        overrides.append(f"catalogue.downloads.{name}.checksum=sha256:{digest}")
        if "bytes" in download:
            overrides.append(f"catalogue.downloads.{name}.bytes={file.stat().st_size}")
    clone.compose("scale=wmt14", *overrides)
    return clone


def succeed(project: Any, mirror: Path, stage: str, item: str) -> None:
    outcome = project.stage(stage, item, AIAYN_MIRROR=str(mirror))
    assert outcome.returncode == 0, f"{stage}: {outcome.stderr}"


@pytest.mark.timeout(1800)  # it translates 12,000 sentences
def test_from_download_to_score(wmt14: Any, mirror: Path) -> None:
    succeed(wmt14, mirror, "download", "en-fr")
    text = wmt14.root / "data/text/en-fr"
    check_cleaning(text, mirror)
    check_newstests(text, mirror)
    for stage in ("train_bpe", "encode"):
        succeed(wmt14, mirror, stage, "en-fr")
    for stage in ("train", "average", "decode", "score"):
        succeed(wmt14, mirror, stage, "en-fr.base")
    for split, sentences in (("dev", 3000), ("test", 3003)):
        hypotheses = (wmt14.root / f"outputs/en-fr.base/{split}.hypotheses").read_bytes()
        assert hypotheses.count(b"\n") == sentences
    scores = json.loads((wmt14.root / "scores/en-fr.base.json").read_text())["splits"]
    assert {split: entry["set"]["pairs"] for split, entry in scores.items()} == {
        "dev": 3000,
        "test": 3003,
    }
    # the paper's protocol (docs/deviations.md): Moses' French tokens, no smoothing
    assert "tok:moses-fr" in scores["test"]["tokenized_bleu"]["signature"]


def check_cleaning(text: Path, mirror: Path) -> None:
    """Every dirty line's fate, and the counts of what was dropped."""
    manifest = json.loads((text / "manifest.json").read_text())["splits"]["train"]
    kept = [
        (text / f"train.{side}").read_bytes().decode().removesuffix("\n").split("\n")
        for side in ("source", "target")
    ]
    pairs = [*zip(*kept, strict=True)]
    archives = {
        "europarl-v7-fr-en": (
            "wmt13/training-parallel-europarl-v7.tgz",
            "training/europarl-v7.fr-en.en",
            "training/europarl-v7.fr-en.fr",
        ),
        "commoncrawl-fr-en": (
            "wmt13/training-parallel-commoncrawl.tgz",
            "commoncrawl.fr-en.en",
            "commoncrawl.fr-en.fr",
        ),
        "news-commentary-v9-fr-en": (
            "wmt14/training-parallel-nc-v9.tgz",
            "training/news-commentary-v9.fr-en.en",
            "training/news-commentary-v9.fr-en.fr",
        ),
        "un-fr-en": (
            "wmt13/training-parallel-un.tgz",
            "un/undoc.2000.fr-en.en",
            "un/undoc.2000.fr-en.fr",
        ),
        "giga-fr-en": (
            "wmt10/training-giga-fren.tar",
            "giga-fren.release2.fixed.en.gz",
            "giga-fren.release2.fixed.fr.gz",
        ),
    }
    # the real pairs before the dirt, as the miniature's README counts them
    real = dict(zip(archives, (4000, 3000, 2000, 3000, 1573), strict=True))
    dirt: dict[str, list[Any]] = {"commoncrawl-fr-en": COMMON_CRAWL, "giga-fr-en": GIGA}
    assert {*manifest["corpora"]} == {*archives}
    first = 0
    for name, place in archives.items():
        entry = manifest["corpora"][name]
        source, target = members(mirror, *place)
        fates = dirt.get(name, [])
        assert len(source) == len(target) == entry["pairs"] == real[name] + len(fates)
        dropped = dict.fromkeys(("invalid_utf8", "empty", "max_words", "max_ratio"), 0)
        for one, other in zip(source[: real[name]], target, strict=False):
            counts = len(one.decode().split()), len(other.decode().split())
            if min(counts) == 0:
                dropped["empty"] += 1
            elif max(counts) > 175:
                dropped["max_words"] += 1
            elif max(counts) > 1.5 * min(counts):
                dropped["max_ratio"] += 1
        clean = real[name] - sum(dropped.values())
        for rule in fates:
            if isinstance(rule, str):
                dropped[rule] += 1
        assert entry["dropped"] == dropped, name
        survivors = [fate for fate in fates if isinstance(fate, tuple)]
        assert entry["kept"] == clean + len(survivors)
        first += entry["kept"]
        assert pairs[first - len(survivors) : first] == survivors, name
    assert first == len(pairs) == manifest["pairs"]


@pytest.mark.parametrize(
    ("archive", "name", "sentences", "entities"),
    [
        ("wmt13/test.tgz", "test/newstest2013-src.en.sgm", 3000, 1),
        ("wmt13/test.tgz", "test/newstest2013-src.de.sgm", 3000, 0),
        ("wmt13/test.tgz", "test/newstest2013-src.fr.sgm", 3000, 0),
        ("wmt14/test-full.tgz", "test-full/newstest2014-deen-src.en.sgm", 3003, 2),
        ("wmt14/test-full.tgz", "test-full/newstest2014-deen-ref.de.sgm", 3003, 2),
        ("wmt14/test-full.tgz", "test-full/newstest2014-fren-src.en.sgm", 3003, 11),
        ("wmt14/test-full.tgz", "test-full/newstest2014-fren-ref.fr.sgm", 3003, 12),
    ],
)
def test_newstests_are_sacrebleus_line_by_line(
    archive: str, name: str, sentences: int, entities: int, mirror: Path, tmp_path: Path
) -> None:
    """But for &amp;, which stands for a single sign, and the rarer kinds of space, which sacreBLEU
    makes plain ones and we keep: to BLEU's tokens they are the same."""
    theirs = newstest(mirror, archive, name, tmp_path)
    ours = [stripped(line) for line in lines(mirror / "www.statmt.org" / archive, name)]
    assert len(ours) == len(theirs) == sentences
    assert [re.sub(r"\s+", " ", line) for line in ours] == [html.unescape(line) for line in theirs]
    assert sum(line.count("&amp;") for line in theirs) == entities


def check_newstests(text: Path, mirror: Path) -> None:
    """In the task's text they are what the archives hold, in their order, none dropped."""
    for split, archive, *names in (
        ("dev", "wmt13/test.tgz", "test/newstest2013-src.en.sgm", "test/newstest2013-src.fr.sgm"),
        (
            "test",
            "wmt14/test-full.tgz",
            "test-full/newstest2014-fren-src.en.sgm",
            "test-full/newstest2014-fren-ref.fr.sgm",
        ),
    ):
        for side, name in zip(("source", "target"), names, strict=True):
            written = (
                (text / f"{split}.{side}").read_bytes().decode().removesuffix("\n").split("\n")
            )
            sgm = lines(mirror / "www.statmt.org" / archive, name)
            assert written == [stripped(line) for line in sgm]
