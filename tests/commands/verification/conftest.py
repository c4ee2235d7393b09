"""Two hand-made sides of a verification: parameters, scores, history, lock and metadata of a run."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

PARAMS = Path(__file__).parents[3] / "params.yaml"
RUN, TASK = "en-de.base", "en-de"
Side = Callable[..., Path]

SCORES = {
    "run": RUN, "task": TASK, "model": "base",
    "splits": {
        split: {
            "set": {"corpora": {split: {"pairs": 2}}, "pairs": 2, "sha256": {"source": split}},
            "bleu": {"value": value, "low": value - 1, "high": value + 1, "signature": "s"},
        }
        for split, value in (("dev", 20.0), ("test", 25.0))
    },
}  # fmt: skip
HISTORY = """\
step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity
10,0.1,1000,0.001,5.25,5.0,{perplexity}
"""
STAGES = {
    "download@en-de": {
        "cmd": "python pipeline/download.py en-de",
        "deps": [{"path": "src/aiayn/data/corpora", "md5": "c1.dir"}],
        "params": {"params.yaml": {"tasks.en-de.text": {"source": "en", "target": "de"}}},
        "outs": [{"path": "data/text/en-de", "md5": "t1.dir"}],
    },
    "train_bpe@en-de": {
        "cmd": "python pipeline/train_bpe.py en-de",
        "deps": [{"path": "data/text/en-de", "md5": "t1.dir"}],
        "outs": [{"path": "data/bpe/en-de", "md5": "b1.dir"}],
    },
    "train@en-de.base": {
        "cmd": "python pipeline/train.py en-de.base --seed 1",
        "deps": [{"path": "src/aiayn/training", "md5": "c2.dir"}],
        "params": {"params.yaml": {"training": {"warmup_steps": 800}}},
        "outs": [
            {"path": "run_metadata/en-de.base.train.json", "md5": "never the same"},
            {"path": "models/en-de.base/checkpoints", "md5": "m1.dir"},
        ],
    },
}
METADATA = {
    "host": "h", "device": "cpu", "python": "3.11", "versions": {"torch": "2.13.0"},
    "commit": "c", "fingerprint": "f", "seconds": 1.0, "validation_seconds": 0.1,
    "tokens_per_second": 9, "starts": 1, "started": "s", "ended": "e", "processes": 1, "threads": 1,
    "precision": "float32", "matmul": "highest", "padding_share": 0.1, "parameters": 7,
    "instruction_set": "AVX512",
}  # fmt: skip


@pytest.fixture
def side(tmp_path: Path) -> Side:
    """Writes the files of a side, changed by the arguments."""

    def make(
        name: str,
        scores: Callable[[Any], None] = lambda data: None,
        stages: Callable[[Any], None] = lambda data: None,
        perplexity: float = 8.5,
        **metadata: Any,
    ) -> Path:
        root = tmp_path / name
        for folder in ("scores", "history", "run_metadata"):
            (root / folder).mkdir(parents=True)
        shutil.copy(PARAMS, root)
        scored, locked = copy.deepcopy(SCORES), copy.deepcopy(STAGES)
        scores(scored)
        stages(locked)
        (root / f"scores/{RUN}.json").write_text(json.dumps(scored))
        (root / f"history/{RUN}.csv").write_text(HISTORY.format(perplexity=perplexity))
        trained = json.dumps(METADATA | metadata)
        (root / f"run_metadata/{RUN}.train.json").write_text(trained)
        (root / "dvc.lock").write_text(yaml.dump({"stages": locked}, Dumper=yaml.CSafeDumper))
        return root

    return make
