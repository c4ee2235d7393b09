"""The graph of dvc.yaml: a stage depends on the packages that it imports, except those that change no
output; it reads the parameters that it lists; it names the formats that it writes.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.architecture.test_imports import file_of, files, imports, package

from aiayn.config import Task, dvc_yaml
from aiayn.results import (
    checkpoints,
    comparison,
    history,
    illustrations,
    predictions,
    profiles,
    scores,
    text,
    tokens,
)

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/aiayn"
GRAPH: dict[str, Any] = yaml.load((ROOT / "dvc.yaml").read_text(), yaml.CSafeLoader)["stages"]
STAGES = sorted(GRAPH)

COSTLY = ("download", "train_bpe", "encode", "train", "average", "decode")
# packages that change no output
NEUTRAL = frozenset(("config", "errors", "files", "launcher", "results", "tracking", "validation"))
FORMATS = {
    "text": text.FORMAT, "tokens": tokens.FORMAT, "checkpoints": checkpoints.FORMAT,
    "history": history.FORMAT, "predictions": predictions.FORMAT, "scores": scores.FORMAT,
    "comparison": comparison.FORMAT, "layers": profiles.LAYERS_FORMAT,
    "models": profiles.MODELS_FORMAT, "illustrations": illustrations.FORMAT,
}  # fmt: skip
# the formats of a stage's outputs
WRITES = {
    "download": {"text"}, "encode": {"tokens"}, "train": {"checkpoints", "history"},
    "average": {"checkpoints"}, "decode": {"predictions", "illustrations", "text"}, "score": {"scores"}, "compare": {"comparison"},
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
    """Except for packages that change no output; and on no folder from which it imports nothing."""
    deps, visited = code(stage), {ROOT / "pipeline" / f"{stage}.py"}
    queue = [*visited]
    while queue:
        for name in imports(queue.pop()):
            file = file_of(name) if name.startswith("aiayn.") else None
            if file is None or file in visited or only_describes(file):
                continue
            if not any(covers(dep, file) for dep in deps):
                assert package(name) in NEUTRAL, f"{stage} imports {name}: list it in dvc.yaml"
                continue
            visited.add(file)
            queue.append(file)
    assert not {dep for dep in deps if not any(covers(dep, file) for file in visited)}


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
        ("report/templates/style.css", {"report"}),
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


# keys that methods of the parameters return, and further keys that they read; `*` stands for any name
RETURNS = {
    "task": "tasks.*", "sources": "catalogue", "run": "runs.*", "model_of": "models.*", "splits_of": "tested",
}  # fmt: skip
READS = {"sources": {"tasks.*.text"}, "model_of": {"runs"}, "splits_of": {"runs", "tasks.*.text"}}
# keys whose changes DVC notices without a line in `params`: a stage for each run is defined by that run,
# and a file that was made from parameters changes with them
NOTICED = {
    "${runs}": {"runs", "tested"},
    "${tested}": {"runs"},
    "models/": {"runs", "models.*"},
    "data/sources/": {"catalogue"},
    "data/text/": {"tasks.*.text"},
    "data/bpe/": {"tasks.*.bpe"},
}


class ParameterReads(ast.NodeVisitor):
    """The keys of params.yaml that a stage's script reads.

    A key that is not followed further counts as read with all keys below it: a script that passes a
    section to a function reads the whole section. Arguments of functions that start or track
    processes do not count, as they change no output.
    """

    def __init__(self, script: ast.Module) -> None:
        self.found: set[str] = set()
        self.names: dict[str, str] = {}  # variables, by name
        self.ignored = {
            alias.name
            for node in script.body
            if isinstance(node, ast.ImportFrom) and node.module
            and node.module.startswith(("aiayn.launcher", "aiayn.tracking"))
            for alias in node.names
        }  # fmt: skip
        self.visit(script)

    def key(self, node: ast.AST) -> str | None:
        """The dotted key that an expression stands for, "" being all parameters."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="config"), attr="load")):
                return ""
            case ast.Call(func=ast.Attribute(value=value, attr=method)):
                return RETURNS[method] if self.key(value) == "" and method in RETURNS else None
            case ast.Attribute(value=value, attr=attribute):
                attribute = "decoding" if attribute == "search" else attribute
                parent = self.key(value)
                return None if parent is None else f"{parent}.{attribute}".removeprefix(".")
        return None

    def visit_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, value in pairs:
            key = self.key(value)
            if key is None or not isinstance(name, ast.Name):
                self.visit(value)
            else:
                self.names[name.id] = key
                self.visit_arguments(value)

    def visit_arguments(self, node: ast.AST) -> None:
        """The keys that are read to evaluate an expression, other than its own."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                self.found |= READS.get(call.func.attr, set())
                for argument in call.args:
                    self.visit(argument)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in self.ignored:
            return
        key = self.key(node)
        if key is None:
            super().generic_visit(node)
        else:
            self.found.add(key)
            self.visit_arguments(node)


@pytest.mark.parametrize("stage", [s for s in STAGES if s not in ("encode", "report", "track")])
def test_a_stage_reads_the_parameters_that_it_lists(stage: str) -> None:
    """And no others except those whose changes DVC notices anyway."""
    script = ast.parse((ROOT / "pipeline" / f"{stage}.py").read_text())
    read = ParameterReads(script).found
    # a whole task is all its fields
    read |= {f"tasks.*.{name}" for name in Task.model_fields} if "tasks.*" in read else set()
    read.discard("tasks.*")
    listed = {re.sub(r"\$\{[^}]+\}", "*", key) for key in body(stage).get("params", ())}
    sources = [GRAPH[stage].get("foreach", ""), *body(stage)["deps"]]
    noticed = {key for source in sources for start, keys in NOTICED.items() if source.startswith(start)
            for key in keys}  # fmt: skip
    unlisted = {
        key for key in read if not any(is_below(key, parent) for parent in listed | noticed)
    }
    assert not unlisted, f"{stage} reads {sorted(unlisted)}: list it in dvc.yaml"
    assert not {key for key in listed if not any(is_below(other, key) for other in read)}


def is_below(key: str, parent: str) -> bool:
    return f"{key}.".startswith(f"{parent}.")


@pytest.mark.parametrize(
    ("script", "read"),
    [
        ("params = config.load()\nf(params)", {""}),
        ("f(config.load().machine.device)", {"machine.device"}),
        ("params = config.load()\ntask = params.task(name)\nf(task.text, task.search)",
         {"tasks.*.text", "tasks.*.decoding"}),
        ("a, b = config.load().runs, 1\nf(a.values())", {"runs.values"}),
        ("params = config.load()\nrow = params.model_of(params.illustrations.run)\nf(row.h)",
         {"runs", "illustrations.run", "models.*.h"}),
        ("params = config.load()\n[f(s) for s in params.splits_of(x)]", {"tested", "runs", "tasks.*.text"}),
        ("params = config.load()\nf(lambda: params.unheard_of)", {"unheard_of"}),
        ("from aiayn.launcher import start\nstart(config.load())", set()),
    ],
)  # fmt: skip
def test_parameter_reads(script: str, read: set[str]) -> None:
    assert ParameterReads(ast.parse(script)).found == read


COMPUTING = ("data", "model", "training", "decoding", "illustrations", "profiling", "evaluation")


@pytest.mark.parametrize("name", COMPUTING)
def test_computing_packages_receive_their_parameters(name: str) -> None:
    """So that the script of a stage shows everything that the stage reads."""
    for path in files(name):
        assert not imports(path) & {"aiayn.config.Config", "aiayn.config.load"}, path
        assert "config.load(" not in path.read_text(), path


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_names_the_formats_that_it_writes(stage: str) -> None:
    """In its docstring, so that a new version changes its code."""
    head = ast.get_docstring(ast.parse((ROOT / "pipeline" / f"{stage}.py").read_text())) or ""
    named = re.findall(r"(\w+) (\d+)", head.partition("Formats: ")[2])
    assert {kind: int(number) for kind, number in named} == {
        kind: FORMATS[kind] for kind in WRITES.get(stage, ())
    }


def test_every_format_is_named() -> None:
    assert {kind for kinds in WRITES.values() for kind in kinds} == set(FORMATS)


@pytest.mark.parametrize("stage", STAGES)
def test_no_stage_depends_on_how_a_process_is_started(stage: str) -> None:
    assert not [entry for entry in body(stage).get("params", ()) if entry.startswith("launcher")]
    assert body(stage)["cmd"].startswith("python ${root}/pipeline/")
