"""The graph follows bytes: a stage's code is what it reaches by import, but for what only carries; it
is given the parameters that it lists; it names the formats that it writes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn import config
from aiayn.errors import ConfigError
from aiayn.records import places
from aiayn.records.formats import FORMATS
from aiayn.repro.code import CARRIERS, links
from aiayn.training.job import DECIDING_CODE

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/aiayn"
GRAPH: dict[str, Any] = yaml.load((ROOT / "dvc.yaml").read_text(), yaml.CSafeLoader)["stages"]
STAGES = sorted(GRAPH)

COSTLY = ("download", "train_bpe", "encode", "train", "average", "decode")
# the formats of a stage's outputs
WRITES = {
    "download": {"text"}, "encode": {"tokens"}, "train": {"checkpoints", "history"},
    "average": {"checkpoints"}, "decode": {"guesses", "illustrations", "text"}, "score": {"scores"}, "compare": {"comparison"},
    "profile_layers": {"layers"}, "profile_models": {"models"}, "illustrate": {"illustrations"},
}  # fmt: skip


def code(stage: str) -> set[Path]:
    """The files that the links of code/STAGE lead to, as they lie there."""
    return {link.resolve() for link in (ROOT / places.CODE / stage).iterdir()}


def body(stage: str) -> dict[str, Any]:
    definition: dict[str, Any] = GRAPH[stage]
    found: dict[str, Any] = definition.get("do", definition)
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_the_links_are_what_a_stage_reaches(stage: str) -> None:
    """make code writes them."""
    folder = ROOT / places.CODE / stage
    assert {link.name: str(link.readlink()) for link in folder.iterdir()} == {
        name: f"../../{file}" for name, file in links(ROOT, stage).items()
    }


@pytest.mark.parametrize("stage", STAGES)
def test_the_links_are_a_stages_only_code(stage: str) -> None:
    deps = body(stage)["deps"]
    assert deps[0] == str(places.CODE / stage)
    assert not [dep for dep in deps[1:] if dep.startswith(("code", "src", "pipeline"))]
    assert ROOT / "pipeline" / f"{stage}.py" in code(stage)


def test_no_links_are_of_no_stage() -> None:
    assert sorted(folder.name for folder in (ROOT / places.CODE).iterdir()) == STAGES


def test_the_graph_and_a_training_that_goes_on_ask_for_the_same_code() -> None:
    """One definition of what decides a training's bits: the stage's code is the fingerprint's."""
    deciding = {
        module
        for name in DECIDING_CODE
        for module in [*(SOURCE / name).rglob("*.py"), SOURCE / name]
        if module.is_file() and module.name != "__init__.py"
    }
    assert code("train") - {ROOT / "pipeline/train.py"} == deciding


@pytest.mark.parametrize("stage", COSTLY)
def test_what_only_carries_re_runs_nothing_costly(stage: str) -> None:
    modules = {path for path in code(stage) if path.is_relative_to(SOURCE)}
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules}
    assert rooms
    assert not rooms & {*CARRIERS, "paper", "layer_types"}


@pytest.mark.parametrize(
    ("changed", "affected"),
    [
        ("model/attention.py", {"train", "decode", "illustrate", "profile_layers", "profile_models"}),
        ("model/checkpoints.py", {"train", "average", "decode", "illustrate"}),
        ("tokens/batching.py", {"train"}),
        ("tokens/encoding.py", {"encode"}),
        ("corpora/cleaning.py", {"download"}),
        ("corpora/languages/german.py", {"download"}),
        ("training/loop.py", {"train"}),
        ("training/loss.py", {"train", "illustrate"}),
        ("decoding/beam.py", {"decode", "illustrate"}),
        ("compute/processes.py", {"train"}),
        ("layer_types/recurrent.py", {"profile_layers"}),
        ("scoring/significance.py", {"compare"}),
        ("scoring/bleu.py", {"score", "compare"}),
        ("paper/table_2.py", {"profile_models", "compare", "report", "track"}),
        ("paper/findings.py", {"compare", "report"}),
        ("report/page/templates/style.css", {"report"}),
        ("launcher.py", set()),
        ("errors.py", set()),
        ("files.py", set()),
        ("circumstances/training.py", set()),
        ("config/task.py", {"report", "track"}),
        ("records/scores.py", {"report", "track"}),
        ("repro/code.py", set()),
    ],
)  # fmt: skip
def test_which_stages_a_changed_line_re_runs(changed: str, affected: set[str]) -> None:
    assert (SOURCE / changed).is_file()
    assert {stage for stage in STAGES if SOURCE / changed in code(stage)} == affected


def items(stage: str) -> list[str]:
    """What a stage is there for in the parameters: a task with every kind of text, or two runs."""
    over = GRAPH[stage].get("foreach")
    return {None: [""], "${tasks}": ["en-de", "parsing"]}.get(over, ["en-de.base", "en-de.A_h1"])


def leaves(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys of every parameter below a value."""
    if is_dataclass(value):
        for field in fields(value):
            yield from leaves(getattr(value, field.name), (*keys, field.name))
    elif hasattr(value, "items"):
        for name, item in value.items():
            yield from leaves(item, (*keys, name))
    else:
        yield keys


def read(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = getattr(value, key) if is_dataclass(value) else value[key]
    return value


@pytest.mark.parametrize("stage", [s for s in STAGES if s not in ("encode", "report", "track")])
def test_a_stage_is_given_what_it_lists_and_nothing_else(stage: str) -> None:
    whole = config.load(ROOT / "params.yaml")
    for item in items(stage):
        run = whole.runs.get(item) or whole.runs[whole.illustrations.run]
        listed = [
            entry.replace("${key}", item.replace(".", "/")).replace("${item.task}", run.task)
            .replace("${item.model}", run.model).split(".")
            for entry in body(stage).get("params", ())
        ]  # fmt: skip
        known = {tuple(name.replace("/", ".") for name in names) for names in listed}
        if any(dep.startswith("models/") for dep in body(stage)["deps"]):
            known.add(("models", run.model))
        if "data/text/${item.task}" in body(stage)["deps"]:
            known.add(("tasks", run.task, "text"))
        view = config.load_for(stage, item, ROOT / "params.yaml")
        for keys in leaves(whole):
            if keys[0] in ("runs", "tested") and (keys[0],) not in known:
                continue  # below
            if any(keys[: len(prefix)] == prefix for prefix in known):
                assert read(view, keys) == read(whole, keys)
            else:
                with pytest.raises(ConfigError, match=f"the stage {stage} reads"):
                    read(view, keys)


def test_a_stage_of_a_run_is_given_that_run_alone() -> None:
    whole = config.load(ROOT / "params.yaml")
    tested = config.load_for("decode", "en-de.base", ROOT / "params.yaml")
    assert dict(tested.runs) == {"en-de.base": whole.runs["en-de.base"]}
    assert tested.splits_of("en-de.base") == ("dev", "test")
    untested = config.load_for("decode", "en-de.A_h1", ROOT / "params.yaml")
    assert untested.tested == ()
    assert untested.splits_of("en-de.A_h1") == ("dev",)


@pytest.mark.parametrize("stage", [s for s in STAGES if s not in ("encode", "report", "track")])
def test_a_stage_asks_for_what_is_its_own(stage: str) -> None:
    script = (ROOT / "pipeline" / f"{stage}.py").read_text()
    asked = re.findall(r"config\.load_for\(\"(\w+)\"", script)
    assert asked == [stage]
    whole = len(re.findall(r"config\.load\(", script))
    assert whole == (stage == "train")


def test_a_training_shows_all_parameters_to_what_starts_and_what_watches_alone() -> None:
    tree = ast.parse((ROOT / "pipeline/train.py").read_text())
    uses = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute)
        and any(isinstance(n, ast.Name) and n.id == "whole" for n in ast.walk(node))
        and ast.unparse(node.func) != "open_run"
    ]  # fmt: skip
    assert {use.partition("(")[0] for use in uses} == {"hand_over", "RunIdentity", "run_params"}
    assert "hand_over(whole.launcher)" in uses
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "whole"]
    assert len(names) == 1 + len(uses)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_names_the_formats_that_it_writes(stage: str) -> None:
    """At its head, so that a raised one changes its code."""
    head = ast.get_docstring(ast.parse((ROOT / "pipeline" / f"{stage}.py").read_text())) or ""
    named = re.findall(r"(\w+) (\d+)", head.partition("Formats: ")[2])
    assert {kind: int(number) for kind, number in named} == {
        kind: FORMATS[kind] for kind in WRITES.get(stage, ())
    }


def test_every_format_is_named() -> None:
    assert {kind for kinds in WRITES.values() for kind in kinds} == set(FORMATS)


@pytest.mark.parametrize("stage", STAGES)
def test_no_stage_hangs_on_how_a_process_is_started(stage: str) -> None:
    assert not [entry for entry in body(stage).get("params", ()) if entry.startswith("launcher")]
    assert body(stage)["cmd"].startswith("python pipeline/")
