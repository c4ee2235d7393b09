"""A reproduction of one run, made by hand, with a dvc.lock whose digests are those of its files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

CIRCUMSTANCES = {
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
    """In a folder named toy."""
    root = tmp_path / "toy"

    def put(path: str, content: str) -> dict[str, str]:
        """An entry of dvc.lock for a file that is laid down."""
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
        return {"path": path, "md5": hashlib.md5(content.encode()).hexdigest()}

    side = {"download": "corpus"}
    catalogue = {
        "downloads": {
            "corpus": {
                "url": URL, "checksum": "sha256:" + "a" * 64, "licence": "research only",
                "bytes": 123,
            },
            "unused": {"url": "https://example.org/other", "checksum": "md5:b", "licence": "none"},
        },
        "corpora": {
            "train": {"sides": {"en": side, "de": side, "fr": {"download": "unused"}}},
            "elsewhere": {"sides": {"en": {"download": "unused"}}},
            "a-test-set": {"grammar": {"split": "test"}},
        },
    }  # fmt: skip
    text = {"source": "en", "target": "de", "train": ["train"], "dev": "a-test-set", "tests": {"test": "a-test-set"}}  # fmt: skip
    data = {"path": "data/text/en-de", "md5": "7" * 32 + ".dir", "size": 99, "nfiles": 7}
    weights = {"path": "models/en-de.base/checkpoints", "md5": "8" * 32 + ".dir", "size": 5}
    history = put("history/en-de.base.csv", "step\n10\n")
    stages: dict[str, dict[str, Any]] = {
        "download@en-de": {
            "cmd": "python pipeline/download.py en-de",
            "deps": [{"path": "src/aiayn/data/corpora", "md5": "1" * 32 + ".dir"}],
            "params": {"params.yaml": {"catalogue": catalogue, "tasks.en-de.text": text}},
            "outs": [data],
        },
        "train@en-de.base": {
            "cmd": "python pipeline/train.py en-de.base --seed 1",
            "deps": [{"path": "src/aiayn/training", "md5": "2" * 32 + ".dir"}, data],
            "params": {"params.yaml": {"training": {"warmup_steps": 800}}},
            "outs": [
                put("circumstances/en-de.base.train.json", json.dumps(CIRCUMSTANCES)),
                history,
                weights,
            ],
        },
        "score@en-de.base": {
            "cmd": "python pipeline/score.py en-de.base",
            "deps": [{"path": "src/aiayn/evaluation", "md5": "3" * 32 + ".dir"}, history],
            "outs": [put("scores/en-de.base.json", json.dumps(SCORES))],
        },
    }
    # of another scale, which ran in the same clone before
    stages["download@who-acts"] = {
        **stages["download@en-de"], "outs": [{**data, "path": "data/text/who-acts"}],
    }  # fmt: skip
    stages["train@who-acts.classifier"] = stages["train@en-de.base"]
    put(
        "params.yaml",
        yaml.dump(
            {
                "scale": "toy",
                "catalogue": catalogue,
                "tasks": {"en-de": {"text": text}},
                "runs": {"en-de.base": {"task": "en-de"}},
            },
            Dumper=yaml.CSafeDumper,
        ),
    )
    put("dvc.lock", yaml.dump({"schema": "2.0", "stages": stages}, Dumper=yaml.CSafeDumper))
    return root
