"""A small vocabulary, and the lengths of the real Multi30k in a vocabulary of 8,000 pieces."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from aiayn import config
from aiayn.data.bpe.vocabulary import Bpe, train_bpe

SOURCE = [
    "The quick brown fox jumps over the lazy dog.",
    "A  dog sleeps\tin\x85 the sun .",
    "Two men are walking their dogs on the beach.",
    "the dog, the fox and the other dog",
]
TARGET = [
    "Der flinke braune Fuchs springt über den faulen Hund.",
    "Ein Hund schläft in der Sonne .",
    "Zwei Männer führen ihre Hunde am Strand aus.",
    "der Hund, der Fuchs und der andere Hund",
]

Lengths = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


WriteText = Callable[[Path, str, list[str], list[str]], None]


def _write_text(folder: Path, split: str, source: list[str], target: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for side, lines in (("source", source), ("target", target)):
        (folder / f"{split}.{side}").write_bytes("".join(f"{line}\n" for line in lines).encode())


@pytest.fixture(scope="session")
def write_text() -> WriteText:
    """Writes a split's two files: (folder, split, source lines, target lines)."""
    return _write_text


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task's train and dev text."""
    folder = tmp_path_factory.mktemp("text")
    _write_text(folder, "train", SOURCE * 5, TARGET * 5)
    _write_text(folder, "dev", SOURCE[:2], TARGET[:2])
    return folder


@pytest.fixture(scope="session")
def model(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentencepiece model trained on `text`."""
    out = tmp_path_factory.mktemp("bpe") / "task"
    spec = config.Bpe(vocabulary=380, normalization="identity")
    train_bpe([text / "train.source", text / "train.target"], out, spec)
    return out / "model.model"


@pytest.fixture(scope="session")
def bpe(model: Path) -> Bpe:
    return Bpe(model)


@pytest.fixture(scope="session")
def multi30k() -> tuple[list[str], list[str]]:
    """Multi30k's English and German training text."""
    root = Path(__file__).resolve().parents[2]
    raw = root / "../shared/mirror/raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    if not raw.exists():
        pytest.skip("needs ../shared/mirror with Multi30k in it")
    english, german = (
        gzip.decompress((raw / f"train.{language}.gz").read_bytes())
        .decode()
        .strip("\n")
        .split("\n")
        for language in ("en", "de")
    )
    return english, german


@pytest.fixture(scope="session")
def multi30k_bpe(
    multi30k: tuple[list[str], list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Bpe:
    folder = tmp_path_factory.mktemp("multi30k")
    _write_text(folder, "train", *multi30k)
    spec = config.Bpe(vocabulary=8000, normalization="identity")
    train_bpe([folder / "train.source", folder / "train.target"], folder / "bpe", spec)
    return Bpe(folder / "bpe" / "model.model")


@pytest.fixture(scope="session")
def multi30k_lengths(multi30k: tuple[list[str], list[str]], multi30k_bpe: Bpe) -> Lengths:
    """Pieces of every training sentence, including END."""
    source, target = (
        np.array([len(ids) for ids in multi30k_bpe.encode(lines, end=True)]) for lines in multi30k
    )
    return source, target


@pytest.fixture(scope="session")
def wmt_like_lengths() -> Lengths:
    """300,000 pairs: log-normal source lengths of mean 28, targets of about the same length."""
    generator = np.random.default_rng(2014)
    source = generator.lognormal(np.log(28) - 0.6**2 / 2, 0.6, 300_000)
    target = source * generator.lognormal(0, 0.2, 300_000)
    return tuple(np.clip(np.rint(side), 1, 256).astype(np.int64) for side in (source, target))  # type: ignore[return-value]
