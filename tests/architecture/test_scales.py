"""The scales of conf/scale: each has what its runs use, and those of WMT14 share their trainings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from dvc.utils.hydra import compose_and_dump

from aiayn import config
from aiayn.config import Config

CONF = Path(__file__).parents[2] / "conf"
SCALES = sorted(path.stem for path in (CONF / "scale").glob("*.yaml"))


@cache
def composed(scale: str) -> Config:
    with TemporaryDirectory() as folder:
        file = Path(folder, "params.yaml")
        compose_and_dump(str(file), str(CONF), None, "config", "", [f"scale={scale}"])
        return config.load(file)


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_has_only_what_its_runs_use(scale: str) -> None:
    params = composed(scale)
    assert params.scale == scale
    assert {*params.tasks} == {run.task for run in params.runs.values()}
    assert {*params.models} == {run.model for run in params.runs.values()}


@pytest.mark.parametrize("scale", SCALES)
def test_only_the_scales_of_table_4_need_a_licence(scale: str) -> None:
    params = composed(scale)
    used = {name for task in params.tasks.values() for name in task.text.corpora}
    treebanks = (params.catalogue.corpora[name].treebank for name in used)
    folders = {treebank.folder for treebank in treebanks if treebank and treebank.folder}
    assert folders == {
        "wsj": {"AIAYN_TREEBANK"},
        "wsj_semi": {"AIAYN_TREEBANK", "AIAYN_PARSED_TEXT"},
    }.get(scale, set())


@pytest.mark.parametrize("scale", ["wmt14", "wmt14_table3"])
def test_trainings_of_the_same_name_are_the_same(scale: str) -> None:
    """So that a later scale finds them in DVC's cache."""
    ours = composed(scale)
    for other in map(composed, ("wmt14_base", "wmt14")):
        assert (ours.catalogue, ours.training, ours.machine) == (
            other.catalogue, other.training, other.machine,
        )  # fmt: skip
        for run in ours.runs.keys() & other.runs.keys():
            assert ours.run(run) == other.run(run)
            assert (ours.task_of(run), ours.model_of(run)) == (
                other.task_of(run), other.model_of(run),
            )  # fmt: skip
            assert ours.splits_of(run) == other.splits_of(run)


def merging(node: yaml.Node | None) -> Iterator[yaml.MappingNode]:
    """The mappings in a document that merge (<<) one that merges another itself."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
            if key.value == "<<" and any(k.value == "<<" for item in merged for k, _ in item.value):
                yield node
            yield from merging(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from merging(item)


@pytest.mark.parametrize("file", sorted(CONF.rglob("*.yaml")), ids=lambda file: file.stem)
def test_no_merged_mapping_merges_another(file: Path) -> None:
    """PyYAML 6.0.4 would take the innermost mapping's values, 6.0.3 the outermost's."""
    assert not [*merging(yaml.compose(file.read_text(encoding="utf-8"), yaml.SafeLoader))]
