"""dvc.yaml, as far as the project reads it: the code on which a stage depends."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from aiayn.errors import ConfigError

DVC_YAML = Path("dvc.yaml")
VARIABLE = re.compile(r"\$\{([\w.]+)\}")


def read(path: Path = DVC_YAML) -> dict[str, Any]:
    """The whole file, without templates resolved.

    Raises:
        ConfigError: there is no such file.
    """
    try:
        content: dict[str, Any] = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}. It defines the stages: run from the folder of a scale."
        ) from error
    return content


def body(graph: dict[str, Any], stage: str) -> dict[str, Any]:
    """A stage's definition, or that of each of its items."""
    definition: dict[str, Any] = graph["stages"][stage]
    found: dict[str, Any] = definition.get("do", definition)
    return found


def stages(graph: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every stage as (name, item); the item, of params.yaml, is empty for a stage without items."""
    for stage, definition in graph["stages"].items():
        if "foreach" in definition:
            items = params[VARIABLE.sub(r"\1", definition["foreach"])]
            yield from ((stage, item) for item in items)
        else:
            yield stage, ""


def command(stage: str, path: Path = DVC_YAML) -> str:
    """The command of a stage without items."""
    graph = read(path)
    return _filled_in(graph, body(graph, stage)["cmd"])


def _filled_in(graph: dict[str, Any], template: str) -> str:
    values = {name: value for entry in graph["vars"] for name, value in entry.items()}
    return VARIABLE.sub(lambda found: values[found[1]], template)


def code(stage: str, path: Path = DVC_YAML) -> tuple[Path, ...]:
    """The files and folders of code among a stage's dependencies, relative to dvc.yaml's folder."""
    graph = read(path)
    deps = [dep for dep in body(graph, stage)["deps"] if dep.startswith("${root}/")]
    return tuple(Path(_filled_in(graph, dep)) for dep in deps)


def code_digest(stage: str, path: Path = DVC_YAML) -> str:
    """SHA-256 of that code: of the names and contents of its Python files."""
    digest = hashlib.sha256()
    for dep in code(stage, path):
        place = path.parent / dep
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = Path(place.name) / file.relative_to(place)
            digest.update(f"{name}\n".encode() + file.read_bytes())
    return digest.hexdigest()
