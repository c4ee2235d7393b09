"""A scale in small keeps its tasks, vocabularies, searches and kinds of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn import config
from aiayn.commands.rehearsal.small_project import (
    STEPS,
    chosen_runs,
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
        made = small.task(name)
        assert (made.kind, made.bpe) == (task.kind, task.bpe)
        if task.decoding is None or made.decoding is None:
            assert task.decoding is made.decoding
        else:
            assert task.decoding.replace(extra_length=made.decoding.extra_length) == made.decoding
        assert (made.text.form, made.text.cleaning) == (task.text.form, task.text.cleaning)
        assert made.text.splits == task.text.splits
    assert small.tested == real.tested
    for name in small.runs:
        row, real_row = small.model_of(name), real.model_of(name)
        kept = {field: getattr(real_row, field) for field in ("h", "P_drop", "eps_ls", "positions")}
        assert row.replace(**kept) == row
        assert row.steps == STEPS
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
