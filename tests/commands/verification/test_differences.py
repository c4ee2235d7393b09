"""Each cause of different outputs is reported, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.commands.verification.differences import run_differences

Side = Callable[..., Path]
TRAIN = "train@en-de.base"


def change_output(stages: Any) -> None:
    stages[TRAIN]["outs"][1]["md5"] = "m2.dir"


def test_only_run_metadata_differs(side: Side) -> None:
    def change_metadata(stages: Any) -> None:
        stages[TRAIN]["outs"][0]["md5"] = "another time"

    found = run_differences(
        "en-de.base", "en-de", side("published"), side("here", stages=change_metadata, seconds=2.0)
    )
    assert (found.causes, found.first_output) == ((), None)


def change_seed(stages: Any) -> None:
    change_output(stages)
    stages[TRAIN]["cmd"] = stages[TRAIN]["cmd"].replace("--seed 1", "--seed 2")


def change_recipe(stages: Any) -> None:
    change_output(stages)
    stages[TRAIN]["params"]["params.yaml"]["training"]["warmup_steps"] = 400


def change_code(stages: Any) -> None:
    change_output(stages)
    stages[TRAIN]["deps"][0]["md5"] = "c3.dir"


@pytest.mark.parametrize(
    ("change", "metadata", "kind", "description"),
    [
        (change_seed, {}, "command", "python pipeline/train.py en-de.base --seed 1 -> python pipeline/"
         "train.py en-de.base --seed 2"),
        (change_recipe, {}, "parameter", "training.warmup_steps: 800 -> 400"),
        (change_code, {}, "code", "src/aiayn/training has other bytes"),
        (change_output, {"versions": {"torch": "2.14.0"}}, "version", "torch: 2.13.0 -> 2.14.0"),
        (change_output, {"device": "cuda"}, "machine", "device: cpu -> cuda"),
        (change_output, {"instruction_set": "AVX2"}, "machine", "instruction set: AVX512 -> AVX2"),
        (change_output, {}, "unknown", "the same command, parameters, code and input made other bytes"),
    ],
)  # fmt: skip
def test_what_changed_is_named(
    side: Side, change: Callable[[Any], None], metadata: dict[str, Any], kind: str, description: str
) -> None:
    here = side("here", stages=change, **metadata)
    found = run_differences("en-de.base", "en-de", side("published"), here)
    assert found.first_output == "models/en-de.base/checkpoints"
    assert [(cause.stage, cause.kind, cause.what) for cause in found.causes] == [
        (TRAIN, kind, description)
    ]


def test_a_changed_text_is_reported_before_its_consequences(side: Side) -> None:
    def change_text(stages: Any) -> None:
        download = stages["download@en-de"]
        download["outs"][0]["md5"] = "t2.dir"
        stages["train_bpe@en-de"]["deps"][0]["md5"] = "t2.dir"
        stages["train_bpe@en-de"]["outs"][0]["md5"] = "b2.dir"
        change_recipe(stages)

    here = side("here", stages=change_text)
    found = run_differences("en-de.base", "en-de", side("published"), here)
    assert found.first_output == "data/text/en-de"
    assert [(cause.stage, cause.kind) for cause in found.causes] == [
        ("download@en-de", "unknown"), (TRAIN, "parameter"),
    ]  # fmt: skip
