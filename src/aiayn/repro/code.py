"""A stage's code: the modules that can change the bytes of its outputs, as links in code/STAGE.

They are those that the stage's file reaches by import, but for what only carries values. `make
code` writes the links, and a test compares. DVC takes a folder for what its links lead to, so a
stage has one dep, however many modules it is made of.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from aiayn.records import places

SOURCE = Path("src/aiayn")
STAGES = Path("pipeline")

# what carries values to and fro, starts or watches: a changed line there changes no output's bytes
CARRIERS = frozenset(
    ("circumstances", "config", "errors", "files", "launcher", "records", "tracking", "typed")
)
# what these stages show is what config, records and tracking hold
SHOWN = {
    "report": frozenset(("config", "records")),
    "track": frozenset(("config", "records", "tracking")),
}


def links(root: Path, stage: str) -> Mapping[str, Path]:
    """What code/STAGE holds: by name, the file of the project that the link leads to.

    A module's name is its own among those of aiayn, the stage's file that of its folder.

    Args:
        root: the project's folder.
    """
    modules = reached(root, stage)
    templates = {
        file for folder in {m.parent for m in modules} for file in folder.glob("templates/*")
    }
    files = sorted(file.relative_to(root) for file in modules | templates)
    return {
        ".".join((file.relative_to(SOURCE) if file.is_relative_to(SOURCE) else file).parts): file
        for file in files
    }


def reached(root: Path, stage: str) -> frozenset[Path]:
    """A stage's file and the modules that it imports, to the end of the chain, carriers apart."""
    carriers = CARRIERS - SHOWN.get(stage, frozenset())
    seen: set[Path] = set()
    waiting = [root / STAGES / f"{stage}.py"]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting += [
                found for found in _imports(root, file) if _room(root, found) not in carriers
            ]
    return frozenset(file for file in seen if not _only_describes(file))


@cache
def _imports(root: Path, file: Path) -> frozenset[Path]:
    """The modules of aiayn that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    modules = [(root / SOURCE.parent).joinpath(*name.split(".")) for name in names]
    files = (file for m in modules for file in (m.with_suffix(".py"), m / "__init__.py"))
    return frozenset(
        file for file in files if file.is_relative_to(root / SOURCE) and file.is_file()
    )


def _room(root: Path, file: Path) -> str:
    return file.relative_to(root / SOURCE).parts[0].removesuffix(".py")


def _only_describes(file: Path) -> bool:
    """Whether a module is nothing but its docstring."""
    return all(isinstance(statement, ast.Expr) for statement in ast.parse(file.read_bytes()).body)


def write_links(root: Path) -> None:
    """Make every code/STAGE what it should be."""
    wanted = {
        root / places.CODE / stage.stem / name: file
        for stage in (root / STAGES).glob("*.py")
        for name, file in links(root, stage.stem).items()
    }
    for link in (root / places.CODE).glob("*/*"):
        if link not in wanted:
            link.unlink()
    for link, file in wanted.items():
        target = Path(os.path.relpath(root / file, link.parent))
        if not link.is_symlink() or link.readlink() != target:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(target)


if __name__ == "__main__":
    write_links(Path())
