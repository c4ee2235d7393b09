"""Shared fixtures, and which tests are slow."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from aiayn.config import Model

ROOT = Path(__file__).resolve().parent.parent

TINY = Model(
    N=2, d_model=16, d_ff=32, h=2, d_k=8, d_v=8, P_drop=0.1, eps_ls=0.1, steps=8,
    positions="sinusoid", average=2, checkpoint_steps=3,
)  # fmt: skip


# before torch is imported: on a busy machine two threads of one small product mostly wait for each
# other, and a test of seconds takes minutes
os.environ.setdefault("OMP_NUM_THREADS", "1")

# no deadline: the time of an example depends on how busy the machine is
settings.register_profile("any machine", deadline=None, max_examples=60)
settings.load_profile("any machine")
# make quick: half as many examples as make test
settings.register_profile("quick", deadline=None, max_examples=30)

# whole graphs and reports, servers, stores, browsers; files with this suffix run a stage as a process
SLOW_FOLDERS = {"browser", "end_to_end", "forked_python", "golden", "launcher", "tracking"}
SLOW_FILES = "_stage"


def _is_slow(path: Path) -> bool:
    folder, *_ = path.relative_to(ROOT / "tests").parts
    return folder in SLOW_FOLDERS or path.stem.endswith(SLOW_FILES)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` does not import slow tests either: MLflow alone takes two seconds in each
    process."""
    quick = config.getoption("markexpr") == "not slow"
    in_tests = collection_path.is_relative_to(ROOT / "tests") and collection_path != ROOT / "tests"
    return True if quick and in_tests and _is_slow(collection_path) else None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist, which reads the groups here too
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests in SLOW_FOLDERS and tests of stages as slow; other slow tests have their own
    marker. `make quick` runs none of them. The tests of a file share a process.
    """
    for item in items:
        if _is_slow(item.path):
            item.add_marker("slow")
        item.add_marker(pytest.mark.xdist_group(str(item.path)))


@pytest.fixture(autouse=True)
def _ignore_user_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither read a mirror nor write to a tracking store set in the environment."""
    for name in ("AIAYN_MIRROR", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    os.environ.setdefault("TQDM_DISABLE", "1")


@pytest.fixture
def tiny() -> Callable[..., Model]:
    """A small row of table 3, with any columns replaced."""

    def row(**columns: object) -> Model:
        return TINY.replace(**columns)

    return row


@pytest.fixture
def describe() -> Callable[..., None]:
    """Writes the manifest of the text in a folder, given the corpus of each split."""

    def write(folder: Path, **corpora: str) -> None:
        splits: dict[str, Any] = {}
        for split, corpus in corpora.items():
            files = {path.suffix[1:]: path.read_bytes() for path in folder.glob(f"{split}.*")}
            pairs = max(content.count(b"\n") for content in files.values())
            splits[split] = {
                "corpora": {corpus: {"pairs": pairs}},
                "pairs": pairs,
                "sha256": {
                    side: hashlib.sha256(files.get(side, b"")).hexdigest()
                    for side in ("source", "target", *files)
                },
                "words": {side: len(files.get(side, b"").split()) for side in ("source", "target")},
            }
        manifest = {
            "task": folder.name,
            "languages": {"source": "en", "target": "de"},
            "form": "raw",
            "cleaning": {},
            "downloads": {},
            "splits": splits,
        }
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    return write


@pytest.fixture(scope="session")
def treebank_sample() -> dict[str, str]:
    """The Penn Treebank sample: contents by file name."""
    path = "raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/treebank.zip"
    file = ROOT.parent / "shared/mirror" / path
    if not file.is_file():
        pytest.skip("needs ../shared/mirror with the treebank sample in it")
    with zipfile.ZipFile(file) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".mrg"))
        return {name: archive.read(name).decode() for name in names}


@pytest.fixture
def root() -> Path:
    """The project's folder."""
    return ROOT
