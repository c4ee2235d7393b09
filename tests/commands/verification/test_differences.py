"""Each cause of different outputs is reported, and only it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.commands.verification.differences import run_differences

Side = Callable[..., Path]
TRAIN = "train@en-de.base"


def moved(stages: Any) -> None:
    stages[TRAIN]["outs"][1]["md5"] = "m2.dir"


def test_nothing_differs_but_run_metadata(side: Side) -> None:
    def again(stages: Any) -> None:
        stages[TRAIN]["outs"][0]["md5"] = "another time"

    found = run_differences(
        "en-de.base", "en-de", side("published"), side("here", stages=again, seconds=2.0)
    )
    assert (found.causes, found.first_output) == ((), None)


def seed(stages: Any) -> None:
    moved(stages)
    stages[TRAIN]["cmd"] = stages[TRAIN]["cmd"].replace("--seed 1", "--seed 2")


def recipe(stages: Any) -> None:
    moved(stages)
    stages[TRAIN]["params"]["params.yaml"]["training"]["warmup_steps"] = 400


def code(stages: Any) -> None:
    moved(stages)
    stages[TRAIN]["deps"][0]["md5"] = "c3.dir"


@pytest.mark.parametrize(
    ("change", "facts", "kind", "what"),
    [
        (seed, {}, "command", "python pipeline/train.py en-de.base --seed 1 -> python pipeline/"
         "train.py en-de.base --seed 2"),
        (recipe, {}, "parameter", "training.warmup_steps: 800 -> 400"),
        (code, {}, "code", "src/aiayn/training has other bytes"),
        (moved, {"versions": {"torch": "2.14.0"}}, "version", "torch: 2.13.0 -> 2.14.0"),
        (moved, {"device": "cuda"}, "machine", "device: cpu -> cuda"),
        (moved, {"instruction_set": "AVX2"}, "machine", "instruction set: AVX512 -> AVX2"),
        (moved, {}, "unknown", "the same command, parameters, code and input made other bytes"),
    ],
)  # fmt: skip
def test_what_changed_is_named(
    side: Side, change: Callable[[Any], None], facts: dict[str, Any], kind: str, what: str
) -> None:
    here = side("here", stages=change, **facts)
    found = run_differences("en-de.base", "en-de", side("published"), here)
    assert found.first_output == "models/en-de.base/checkpoints"
    assert [(cause.stage, cause.kind, cause.what) for cause in found.causes] == [
        (TRAIN, kind, what)
    ]


def test_other_text_comes_before_what_it_changes(side: Side) -> None:
    def other(stages: Any) -> None:
        download = stages["download@en-de"]
        download["outs"][0]["md5"] = "t2.dir"
        stages["train_bpe@en-de"]["deps"][0]["md5"] = "t2.dir"
        stages["train_bpe@en-de"]["outs"][0]["md5"] = "b2.dir"
        recipe(stages)

    here = side("here", stages=other)
    found = run_differences("en-de.base", "en-de", side("published"), here)
    assert found.first_output == "data/text/en-de"
    assert [(cause.stage, cause.kind) for cause in found.causes] == [
        ("download@en-de", "unknown"), (TRAIN, "parameter"),
    ]  # fmt: skip
