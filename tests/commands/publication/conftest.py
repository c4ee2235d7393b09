"""A hand-made reproduction with one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
METADATA = {
    "host": "a-host", "device": "cpu: 2 x An Invented Processor", "python": "3.11.0",
    "versions": {"torch": "2.13.0"}, "commit": "4f2a" * 10 + "-dirty", "fingerprint": "f",
    "seconds": 60.0, "validation_seconds": 0.1, "tokens_per_second": 9, "starts": 1,
    "started": "2026-01-02T03:04:05+00:00", "ended": "2026-01-02T03:05:05+00:00", "processes": 1,
    "threads": 1, "precision": "float32", "matmul": "highest", "padding_share": 0.1,
    "parameters": 7,
}  # fmt: skip
URL = "https://example.org/a_corpus/train.en.gz"
SCORES = {
    "run": "en-de.base", "task": "en-de", "model": "base",
    "splits": {
        "test": {
            "set": {"corpora": {"a-test-set": {"pairs": 2}}, "pairs": 2, "sha256": {"source": "5"}},
            "bleu": {"value": 25.0, "low": 24.0, "high": 26.0, "signature": "nrefs:1"},
        }
    },
}  # fmt: skip


@pytest.fixture
def reproduction(tmp_path: Path) -> Path:
    """In a folder named toy: the demo's parameters, with a downloaded corpus for en-de."""
    root = tmp_path / "toy"
    params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    side = {"download": "corpus"}
    params["scale"] = "toy"
    params["catalogue"]["downloads"] = {
        "corpus": {"url": URL, "checksum": "sha256:" + "a" * 64, "licence": "research only"},
        "unused": {
            "url": "https://example.org/other", "checksum": "md5:" + "b" * 32, "licence": "none",
        },
    }  # fmt: skip
    params["catalogue"]["corpora"]["corpus"] = {
        "sides": {"en": side, "de": side, "fr": {"download": "unused"}}
    }
    params["tasks"]["en-de"]["text"]["train"] = ["corpus"]
    outs = [{"path": "data/text/en-de", "md5": "7" * 32 + ".dir", "size": 99, "nfiles": 7}]
    stages = {
        "download@en-de": {"cmd": "python", "outs": outs},
        "train@en-de.base": {"outs": [{"path": "history/en-de.base.csv"}]},
        "score@en-de.base": {"outs": [{"path": "scores/en-de.base.json"}]},
    }
    lock = {"schema": "2.0", "stages": stages}
    for path, content in (
        ("params.yaml", yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper)),
        ("dvc.lock", yaml.dump(lock, Dumper=yaml.CSafeDumper)),
        ("run_metadata/en-de.base.train.json", json.dumps(METADATA)),
        ("history/en-de.base.csv", "step\n10\n"),
        ("scores/en-de.base.json", json.dumps(SCORES)),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return root
