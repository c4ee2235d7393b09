"""Imports between packages point one way, and few packages need a heavy library."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/aiayn"
STAGES = sorted(path.stem for path in (ROOT / "pipeline").glob("*.py"))

# lowest first; a package may import itself and those before it, unless it has an entry below
PACKAGES = (
    "errors",
    "validation",
    "files",
    "config",
    "results",
    "paper",
    "launcher",
    "data",
    "model",
    "training",
    "decoding",
    "illustrations",
    "profiling",
    "evaluation",
    "report",
    "trained_run",
    "components",
    "tracking",
    "commands",
)
BASE = {"errors", "validation", "config", "files", "results"}
EXCEPTIONS = {
    "results": {"errors", "validation", "files", "config"},
    "paper": {"errors", "validation", "config"},
    "launcher": {"errors", "config", "results"},
    "model": BASE,
    "evaluation": BASE | {"data", "paper"},
    "report": BASE | {"data", "paper", "evaluation", "profiling"},
    "tracking": BASE | {"paper", "evaluation", "trained_run"},
    "profiling": BASE | {"paper", "model"},
    "trained_run": BASE | {"data", "model", "decoding", "illustrations", "report"},
}


@cache
def imports(path: Path) -> frozenset[str]:
    """Dotted names of all modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def package(name: str) -> str | None:
    """The package of src/aiayn to which a dotted module name belongs."""
    parts = name.split(".")
    return parts[1] if parts[0] == "aiayn" and len(parts) > 1 else None


def files(name: str) -> list[Path]:
    module = SOURCE / f"{name}.py"
    return [module] if module.exists() else sorted((SOURCE / name).rglob("*.py"))


@cache
def packages() -> frozenset[str]:
    """All packages and top-level modules."""
    return frozenset(
        p.stem
        for p in SOURCE.iterdir()
        if p.stem[0] not in "_." and (p.suffix == ".py" or (p / "__init__.py").exists())
    )


@cache
def file_of(name: str) -> Path | None:
    """The file of a dotted module name of aiayn; None if it names no module."""
    stem = SOURCE.parent.joinpath(*name.split("."))
    found = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((file for file in found if file.is_file()), None)


@pytest.mark.parametrize("name", sorted(packages()))
def test_imports_point_one_way(name: str) -> None:
    allowed = EXCEPTIONS.get(name)
    if allowed is None:
        allowed = set(PACKAGES[: PACKAGES.index(name)])
    for path in files(name):
        assert not [n for n in imports(path) if n.split(".")[0] == "pipeline"], path
        others = {p for n in imports(path) if (p := package(n)) and p != name and p in packages()}
        assert others <= allowed, f"{path} imports {sorted(others - allowed)}"


def test_there_are_few_packages() -> None:
    assert len([p for p in SOURCE.iterdir() if (p / "__init__.py").is_file()]) <= 13


def test_no_torch() -> None:
    """These packages do not import torch before a layer of table 1 is built."""
    names = [
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for package in ("results", "evaluation", "report", "data/corpora", "tracking")
        for path in files(package)
        if path.name != "pyfunc_model.py"  # imported by MLflow alone, to translate
    ]
    code = f"import sys, importlib; [*map(importlib.import_module, {names})]; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert "aiayn.report" in printed.split()
    assert "torch" not in printed.split()


def test_results_need_no_scoring_library() -> None:
    for path in files("results"):
        assert "sacrebleu" not in {n.split(".")[0] for n in imports(path)}, path


def test_only_tracking_imports_mlflow() -> None:
    importers = {
        name
        for name in packages()
        for path in files(name)
        if "mlflow" in {n.split(".")[0] for n in imports(path)}
    }
    assert importers == {"tracking"}


def test_the_model_needs_few_libraries() -> None:
    """A bare GPU machine has no mlflow, dvc or hydra."""
    for name in ("data/tokens", "model", "training", "decoding"):
        for path in files(name):
            assert not {n.split(".")[0] for n in imports(path)} & {"mlflow", "dvc", "hydra"}, path


def test_stage_name_is_file_name() -> None:
    stages = yaml.load((ROOT / "dvc.yaml").read_text(), yaml.CSafeLoader)["stages"]
    assert sorted(stages) == STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_short(stage: str) -> None:
    assert len((ROOT / "pipeline" / f"{stage}.py").read_text().splitlines()) <= 64


@pytest.mark.parametrize("folder", ["src", "pipeline"])
def test_dvc_is_used_only_through_its_command_line_and_its_api(folder: str) -> None:
    """Its other modules are private: they change with any version."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        names = {name for name in imports(path) if name.split(".")[0] == "dvc"}
        assert names <= {"dvc.api"}, path
