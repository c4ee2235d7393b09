"""The graph follows bytes: a stage depends on the packages that it imports, but for those that change no
output; it is given the parameters that it lists; it names the formats that it writes.
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
from tests.architecture.test_imports import file_of, imports, package

from aiayn import config
from aiayn.config import dvc_yaml
from aiayn.errors import ConfigError
from aiayn.results.formats import FORMATS

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/aiayn"
GRAPH: dict[str, Any] = yaml.load((ROOT / "dvc.yaml").read_text(), yaml.CSafeLoader)["stages"]
STAGES = sorted(GRAPH)

COSTLY = ("download", "train_bpe", "encode", "train", "average", "decode")
# what changes no output
NEUTRAL = frozenset(("config", "errors", "files", "launcher", "results", "tracking", "typed"))
# the formats of a stage's outputs
WRITES = {
    "download": {"text"}, "encode": {"tokens"}, "train": {"checkpoints", "history"},
    "average": {"checkpoints"}, "decode": {"guesses", "illustrations", "text"}, "score": {"scores"}, "compare": {"comparison"},
    "profile_layers": {"layers"}, "profile_models": {"models"}, "illustrate": {"illustrations"},
}  # fmt: skip


def code(stage: str) -> set[Path]:
    """The files and folders of code on which dvc.yaml makes a stage depend."""
    return {(ROOT / path).resolve() for path in dvc_yaml.code(stage, ROOT / "dvc.yaml")}


def covers(dep: Path, file: Path) -> bool:
    return file == dep or dep in file.parents


def body(stage: str) -> dict[str, Any]:
    return dvc_yaml.body({"stages": GRAPH}, stage)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_the_code_that_it_imports(stage: str) -> None:
    """But for what changes no output; and on no folder of which it imports nothing."""
    deps, seen = code(stage), {ROOT / "pipeline" / f"{stage}.py"}
    waiting = [*seen]
    while waiting:
        for name in imports(waiting.pop()):
            file = file_of(name) if name.startswith("aiayn.") else None
            if file is None or file in seen or only_describes(file):
                continue
            if not any(covers(dep, file) for dep in deps):
                assert package(name) in NEUTRAL, f"{stage} imports {name}: list it in dvc.yaml"
                continue
            seen.add(file)
            waiting.append(file)
    assert not {dep for dep in deps if not any(covers(dep, file) for file in seen)}


def only_describes(file: Path) -> bool:
    """Whether a module has nothing but its docstring."""
    return all(isinstance(statement, ast.Expr) for statement in ast.parse(file.read_bytes()).body)


@pytest.mark.parametrize("stage", STAGES)
def test_code_is_given_by_folder(stage: str) -> None:
    for dep in body(stage)["deps"]:
        assert dep.startswith("${root}/") == any(word in dep for word in ("pipeline/", "src/"))
        if dep.startswith("${root}/src/"):
            assert (ROOT / dep.removeprefix("${root}/")).exists()


@pytest.mark.parametrize("stage", COSTLY)
def test_neutral_packages_re_run_nothing_costly(stage: str) -> None:
    used = {dep.relative_to(SOURCE).parts[0] for dep in code(stage) if dep.is_relative_to(SOURCE)}
    assert used
    assert not used & {*NEUTRAL, "paper", "report"}


@pytest.mark.parametrize(
    ("changed", "affected"),
    [
        ("model/attention.py", {"train", "average", "decode", "illustrate", "profile_layers", "profile_models", "report"}),
        ("training/batching.py", {"train", "illustrate"}),
        ("training/loss.py", {"train", "illustrate"}),
        ("data/tokens/arrays.py", {"train_bpe", "encode", "train", "decode", "illustrate"}),
        ("data/bpe/encoding.py", {"train_bpe", "encode", "decode", "illustrate"}),
        ("data/corpora/cleaning.py", {"download"}),
        ("data/corpora/languages/german.py", {"download"}),
        ("decoding/beam.py", {"decode", "illustrate"}),
        ("profiling/modules.py", {"profile_layers", "profile_models", "report"}),
        ("evaluation/significance.py", {"score", "compare", "report", "track"}),
        ("paper/table_2.py", {"profile_models", "compare", "report", "track"}),
        ("report/page/templates/style.css", {"report"}),
        ("launcher.py", set()),
        ("errors.py", set()),
        ("files.py", set()),
        ("config/task.py", {"report", "track"}),
        ("results/scores.py", {"report", "track"}),
        ("commands/command_line.py", set()),
    ],
)  # fmt: skip
def test_which_stages_a_changed_line_re_runs(changed: str, affected: set[str]) -> None:
    assert (SOURCE / changed).is_file()
    assert {s for s in STAGES if any(covers(dep, SOURCE / changed) for dep in code(s))} == affected


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
    assert body(stage)["cmd"].startswith("python ${root}/pipeline/")
