"""Reading dvc.yaml: the stages, their commands, and the code that they depend on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from aiayn.errors import ConfigError

DVC_YAML = Path("dvc.yaml")
VARIABLE = re.compile(r"\$\{([\w.]+)\}")


def read(path: Path = DVC_YAML) -> dict[str, Any]:
    """The whole file, with templates unresolved.

    Raises:
        ConfigError: there is no such file.
    """
    try:
        content: dict[str, Any] = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}. It defines the stages: run from a scale's folder."
        ) from error
    return content


def body(graph: dict[str, Any], stage: str) -> dict[str, Any]:
    """A stage's definition; of a foreach stage, the template of its items."""
    definition: dict[str, Any] = graph["stages"][stage]
    template: dict[str, Any] = definition.get("do", definition)
    return template


class Stage(NamedTuple):
    """A stage such as train@en-de.base, with its templates resolved. The item is empty for a stage
    without foreach."""

    kind: str
    item: str
    command: str
    outputs: tuple[str, ...]

    @property
    def name(self) -> str:
        """As in dvc.lock."""
        return f"{self.kind}@{self.item}" if self.item else self.kind


def stages(params: Mapping[str, Any], path: Path = DVC_YAML) -> Iterator[Stage]:
    """Every stage.

    Args:
        params: the content of params.yaml, as plain data.
    """
    graph = read(path)
    for kind, definition in graph["stages"].items():
        foreach, template = definition.get("foreach"), body(graph, kind)
        items = params[VARIABLE.sub(r"\1", foreach)] if foreach else ("",)
        outputs = [
            next(iter(out)) if isinstance(out, Mapping) else out
            for group in ("outs", "plots", "metrics")
            for out in template.get(group) or ()
        ]
        for item in items:
            values = {**variables(graph), "key": item, "item": item}
            if isinstance(items, Mapping):
                values |= {f"item.{key}": value for key, value in (items[item] or {}).items()}
            command, *paths = (resolved(text, values) for text in (template["cmd"], *outputs))
            yield Stage(kind, item, command, tuple(paths))


def command(stage: str, path: Path = DVC_YAML) -> str:
    """The command of a stage without foreach."""
    graph = read(path)
    return resolved(body(graph, stage)["cmd"], variables(graph))


def variables(graph: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `vars`."""
    return {name: value for entry in graph["vars"] for name, value in entry.items()}


def resolved(template: str, values: Mapping[str, Any]) -> str:
    """A template with its variables replaced."""
    return VARIABLE.sub(lambda match: str(values[match[1]]), template)


def code(stage: str, path: Path = DVC_YAML) -> tuple[Path, ...]:
    """The code among a stage's dependencies: files and folders, relative to dvc.yaml's folder."""
    graph = read(path)
    deps = [dep for dep in body(graph, stage)["deps"] if dep.startswith("${root}/")]
    return tuple(Path(resolved(dep, variables(graph))) for dep in deps)


def code_digest(stage: str, path: Path = DVC_YAML) -> str:
    """SHA-256 over the names and contents of the Python files in `code`."""
    digest = hashlib.sha256()
    for dep in code(stage, path):
        root = path.parent / dep
        for file in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            name = Path(root.name) / file.relative_to(root)
            digest.update(f"{name}\n".encode() + file.read_bytes())
    return digest.hexdigest()
