"""The graph follows bytes: a stage's source deps are the modules that it reaches by import, but for
those that only carry; it is given the parameters that it lists; it lists the formats that it writes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn import config
from aiayn.errors import ConfigError
from aiayn.records.formats import FORMATS
from aiayn.training.job import DECIDING_CODE

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/aiayn"
GRAPH: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
STAGES = sorted(GRAPH)

# what carries values to and fro, starts or watches: a changed line there changes no output's bytes
CARRIERS = {
    "errors",
    "typed",
    "files",
    "config",
    "records",
    "launcher",
    "circumstances",
    "tracking",
}
# what these show is what config, records and tracking hold
SHOWN = {"report": {"config", "records"}, "track": {"config", "records", "tracking"}}
COSTLY = ("download", "train_bpe", "encode", "train", "average", "decode")
# of these the whole room is a dep, because a line of the lock for each file would be too many
WHOLE_ROOMS = {"score": {"scoring", "trees"}, "compare": {"paper", "scoring"},
               "profile_layers": {"profiling"}, "profile_models": {"model", "paper", "profiling"},
               "report": {"config", "paper", "records", "trees"},
               "track": {"config", "paper", "records", "tracking"}}  # fmt: skip
# the formats of a stage's outputs; scores cost little, so their stage hangs on their record itself
WRITES = {
    "download": {"text"}, "encode": {"tokens"}, "train": {"checkpoints", "history"},
    "average": {"checkpoints"}, "decode": {"text"}, "compare": {"comparison"},
    "profile_layers": {"layers"}, "profile_models": {"models"}, "illustrate": {"illustrations"},
}  # fmt: skip


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imports(path: Path) -> frozenset[Path]:
    """The files of src/aiayn that a file imports, wherever in it."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            module = ROOT / "src" / Path(*name.split("."))
            found |= {p for p in (module.with_suffix(".py"), module / "__init__.py") if p.is_file()}
    return frozenset(found - {SOURCE / "__init__.py"})


@cache
def reached(stage: str) -> frozenset[Path]:
    """The files of src/aiayn that a stage's file imports, to the end of the chain, carriers apart;
    what stands in a package's __init__ alone is its docstring."""
    carriers = CARRIERS - SHOWN.get(stage, set())
    seen: set[Path] = set()
    waiting = [ROOT / "pipeline" / f"{stage}.py"]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [found for found in imports(path) if room(found) not in carriers]
    return frozenset(p for p in seen if p.is_relative_to(SOURCE) and len(p.read_text()) > 200)


def body(stage: str) -> dict[str, Any]:
    definition: dict[str, Any] = GRAPH[stage]
    found: dict[str, Any] = definition.get("do", definition)
    return found


def code_deps(stage: str) -> list[Path]:
    return [ROOT / dep for dep in body(stage)["deps"] if dep.startswith(("src/", "pipeline/"))]


def modules(dep: Path) -> set[Path]:
    found = [dep] if dep.is_file() else dep.rglob("*.py")
    return {p for p in found if p.is_relative_to(SOURCE) and len(p.read_text()) > 200}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_all_that_it_reaches(stage: str) -> None:
    deps = code_deps(stage)
    assert ROOT / "pipeline" / f"{stage}.py" in deps
    listed = {module for dep in deps for module in modules(dep)}
    assert not reached(stage) - listed


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_no_more_than_it_reaches(stage: str) -> None:
    """So that a changed line re-runs what it can affect and nothing else."""
    own_record = {SOURCE / "records/scores.py"} if stage == "score" else set()
    exact = [
        dep
        for dep in code_deps(stage)
        if dep.is_relative_to(SOURCE) and dep not in own_record
        if room(dep) not in WHOLE_ROOMS.get(stage, ())
    ]
    assert not {module for dep in exact for module in modules(dep)} - reached(stage)
    assert all(modules(dep) & reached(stage) for dep in exact)


def test_the_graph_and_a_training_that_goes_on_ask_for_the_same_code() -> None:
    """One definition of what decides a training's bits: the stage's deps are the fingerprint's."""
    deciding = {f"src/aiayn/{name}" for name in DECIDING_CODE}
    code = {dep for dep in body("train")["deps"] if dep.startswith("src/")}
    assert code == deciding
    assert all((ROOT / name).exists() for name in deciding)


@pytest.mark.parametrize("stage", COSTLY)
def test_what_only_carries_re_runs_nothing_costly(stage: str) -> None:
    assert not {room(dep) for dep in code_deps(stage) if dep.is_relative_to(SOURCE)} & (
        CARRIERS | {"paper", "layer_types"}
    )


@pytest.mark.parametrize(
    ("changed", "affected"),
    [
        ("model/attention.py", {"train", "decode", "illustrate", "profile_layers", "profile_models"}),
        ("model/checkpoints.py", {"train", "average", "decode", "illustrate", "profile_models"}),
        ("tokens/batching.py", {"train"}),
        ("tokens/encoding.py", {"encode"}),
        ("corpora/cleaning.py", {"download"}),
        ("training/loop.py", {"train"}),
        ("decoding/beam.py", {"decode", "illustrate"}),
        ("compute/processes.py", {"train"}),
        ("layer_types/recurrent.py", {"profile_layers"}),
        ("launcher.py", set()),
        ("errors.py", set()),
        ("files.py", set()),
        ("circumstances/training.py", set()),
        ("config/task.py", {"report", "track"}),
        ("records/scores.py", {"score", "report", "track"}),
    ],
)  # fmt: skip
def test_which_stages_a_changed_line_re_runs(changed: str, affected: set[str]) -> None:
    found = {s for s in STAGES if any(SOURCE / changed in modules(dep) for dep in code_deps(s))}
    assert found == affected


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
            known |= {("tasks", run.task, "kind"), ("tasks", run.task, "text")}
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


def test_formats_in_force_are_those_of_the_records() -> None:
    formats = config.load(ROOT / "params.yaml").formats
    assert dict(formats) == FORMATS


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_lists_the_formats_that_it_writes(stage: str) -> None:
    listed = {p.removeprefix("formats.") for p in body(stage).get("params", ()) if "formats" in p}
    assert listed == WRITES.get(stage, set())


def test_every_format_is_listed() -> None:
    assert {kind for kinds in WRITES.values() for kind in kinds} | {"scores"} == set(FORMATS)


@pytest.mark.parametrize("stage", STAGES)
def test_no_stage_hangs_on_how_a_process_is_started(stage: str) -> None:
    assert not [entry for entry in body(stage).get("params", ()) if entry.startswith("launcher")]
    assert body(stage)["cmd"].startswith("python pipeline/")
