"""The house keeps its shape: imports point one way."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/aiayn"
STAGES = sorted(path.stem for path in (ROOT / "pipeline").glob("*.py"))

# from the ground up; a room may import itself and what stands before it, unless it has an entry below
ROOMS = (
    "errors",
    "typed",
    "config",
    "files",
    "records",
    "paper",
    "launcher",
    "moses",
    "trees",
    "corpora",
    "tokens",
    "compute",
    "model",
    "layer_types",
    "training",
    "circumstances",
    "decoding",
    "illustrations",
    "profiling",
    "scoring",
    "export",
    "report",
    "tracking",
    "repro",
    "verification",
    "publication",
    "rehearsal",
    "command",
)
GROUND = {"errors", "typed", "config", "files", "records"}
APART = {
    "records": {"errors", "typed", "files"},
    "paper": {"config"},
    "launcher": {"errors", "config"},
    "moses": set(),
    "trees": {"errors"},
    "compute": GROUND,
    "model": GROUND | {"compute"},
    "layer_types": GROUND | {"compute", "model"},
    "scoring": GROUND | {"moses", "paper", "trees"},
    "report": GROUND | {"paper", "trees"},
    "tracking": GROUND | {"paper"},
    "profiling": GROUND | {"paper", "compute", "model", "layer_types"},
    "repro": GROUND,
    "verification": GROUND | {"report"},
    "publication": GROUND | {"paper", "report"},
}


@cache
def imports(path: Path) -> frozenset[str]:
    """Dotted names of all modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def room(name: str) -> str | None:
    """The room of src/aiayn that a dotted module name is in."""
    parts = name.split(".")
    return parts[1] if parts[0] == "aiayn" and len(parts) > 1 else None


def files(room_name: str) -> list[Path]:
    module = SOURCE / f"{room_name}.py"
    return [module] if module.exists() else sorted((SOURCE / room_name).rglob("*.py"))


@cache
def rooms() -> frozenset[str]:
    return frozenset(
        p.stem for p in SOURCE.iterdir() if p.stem[0] not in "_." and p.suffix in ("", ".py")
    )


@cache
def reached(room_name: str) -> frozenset[str]:
    """Rooms that a room imports, itself included, to the end of the chain."""
    seen: set[str] = set()
    waiting = [room_name]
    while waiting:
        current = waiting.pop()
        if current in seen or current not in rooms():
            continue
        seen.add(current)
        for path in files(current):
            waiting += [r for name in imports(path) if (r := room(name))]
    return frozenset(seen)


@pytest.mark.parametrize("name", sorted(rooms()))
def test_imports_point_one_way(name: str) -> None:
    allowed = APART.get(name)
    if allowed is None:
        allowed = set(ROOMS[: ROOMS.index(name)])
    for path in files(name):
        assert not [n for n in imports(path) if n.split(".")[0] == "pipeline"], path
        outside = {r for n in imports(path) if (r := room(n)) and r != name and r in rooms()}
        assert outside <= allowed, f"{path} reaches up or across"


@pytest.mark.parametrize("name", ["records", "scoring", "report", "corpora", "tracking"])
def test_no_torch(name: str) -> None:
    for reached_room in reached(name):
        for path in files(reached_room):
            assert not [n for n in imports(path) if n.split(".")[0] == "torch"], path


def test_records_need_no_scoring_library() -> None:
    for path in files("records"):
        assert "sacrebleu" not in {n.split(".")[0] for n in imports(path)}, path


def test_only_tracking_imports_mlflow() -> None:
    importers = {
        r
        for r in rooms()
        for path in files(r)
        if "mlflow" in {n.split(".")[0] for n in imports(path)}
    }
    assert importers == {"tracking"}


def test_the_model_asks_little_of_a_machine() -> None:
    """A bare GPU machine has no mlflow, dvc or hydra."""
    for name in ("tokens", "compute", "model", "training", "decoding", "circumstances"):
        for path in files(name):
            assert not {n.split(".")[0] for n in imports(path)} & {"mlflow", "dvc", "hydra"}, path


def test_stage_name_is_file_name() -> None:
    stages = yaml.load((ROOT / "dvc.yaml").read_text(), yaml.CSafeLoader)["stages"]
    assert sorted(stages) == STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_reads_at_a_glance(stage: str) -> None:
    assert len((ROOT / "pipeline" / f"{stage}.py").read_text().splitlines()) <= 60
