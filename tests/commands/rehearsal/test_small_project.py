"""The small version of a scale keeps its tasks, vocabularies, searches and kinds of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from aiayn import config
from aiayn.commands.rehearsal.small_project import (
    GPU_STEPS,
    STEPS,
    chosen_runs,
    lacks_gpus,
    make_project,
    run_pipeline,
)
from aiayn.config import Config

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scale", ["multi30k", "wmt14_table3", "wsj_semi"])
def test_what_is_unchanged(scale: str, tmp_path: Path) -> None:
    real = make_project(ROOT, tmp_path, scale)
    small = config.load(tmp_path / config.PARAMS)
    assert real.scale == small.scale == scale
    for name, task in real.tasks.items():
        small_task = small.task(name)
        assert (small_task.kind, small_task.bpe) == (task.kind, task.bpe)
        if task.decoding is None or small_task.decoding is None:
            assert task.decoding is small_task.decoding
        else:
            assert (
                task.decoding.replace(extra_length=small_task.decoding.extra_length)
                == small_task.decoding
            )
        assert (small_task.text.form, small_task.text.cleaning) == (
            task.text.form,
            task.text.cleaning,
        )
        assert small_task.text.splits == task.text.splits
    assert small.tested == real.tested
    shortened = {"steps", "average", "checkpoint_steps"}
    narrowed = {"N", "d_model", "d_ff", "d_k", "d_v"} if lacks_gpus(real) else set()
    for name in small.runs:
        row, real_row = small.model_of(name), real.model_of(name)
        changed = {key for key, value in real_row if getattr(row, key) != value}
        assert changed <= shortened | narrowed
        assert row.steps in (STEPS, GPU_STEPS)
        if narrowed:
            assert (row.d_k, row.d_v) == (8, 8)
    assert small.launcher.command == real.launcher.command
    recipe, real_recipe = small.training, real.training
    assert recipe.micro_batches == real_recipe.micro_batches
    assert (recipe.adam, recipe.max_length) == (real_recipe.adam, real_recipe.max_length)


@pytest.mark.parametrize("scale", ["wmt14", "wsj_semi"])
def test_it_needs_no_network_and_no_licence(scale: str, tmp_path: Path) -> None:
    make_project(ROOT, tmp_path, scale)
    small = config.load(tmp_path / config.PARAMS)
    for download in small.catalogue.downloads.values():
        assert (tmp_path / "mirror" / download.url.removeprefix("http://")).is_file()
    folders = {c.treebank.folder for c in small.catalogue.corpora.values() if c.treebank}
    assert folders <= {"AIAYN_REHEARSAL"}


def test_runs_of_every_kind(composed: Callable[[str], Config]) -> None:
    table3 = composed("wmt14_table3")
    assert chosen_runs(table3) == ["en-de.base", "en-de.big", "en-de.A_h1", "en-de.E_learned"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_without_the_gpus_that_a_scale_requests(tmp_path: Path) -> None:
    assert lacks_gpus(make_project(ROOT, tmp_path, "wmt14_base", gpus="8"))
    small = config.load(tmp_path / config.PARAMS)
    assert (small.machine.device, small.launcher.gpus) == ("cpu", 2)


def test_a_stage_that_fails_is_named_with_its_reason(tmp_path: Path) -> None:
    make_project(ROOT, tmp_path, "multi30k")
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  good: {cmd: echo text > good, outs: [good]}\n"
        "  bad: {cmd: 'echo DataError: no text there >&2; false', outs: [bad]}\n"
    )
    calls: list[bool] = []
    failures, done = run_pipeline(tmp_path, 1, lambda: calls.append(True))
    assert failures == ["bad FAILED: DataError: no text there"]
    assert done == len(calls) == 1
