"""dvc.lock: the digests of a run's inputs and outputs, and which of its parameters have changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from aiayn.errors import DataError


class Lock:
    """The stages of dvc.lock by name; none if the file does not exist.

    Raises:
        DataError: the file is not a dvc.lock.
    """

    def __init__(self, path: Path) -> None:
        try:
            content = yaml.load(path.read_bytes(), yaml.CSafeLoader) or {}
            stages = content.get("stages") or {}
            # skip an entry that DVC is still writing
            self.stages: Mapping[str, Any] = {
                name: entry for name, entry in stages.items() if isinstance(entry, Mapping)
            }
        except FileNotFoundError:
            self.stages = {}
        except (yaml.YAMLError, AttributeError) as error:
            raise DataError(f"{path}: not a dvc.lock. Restore it with git checkout.") from error

    def of(self, *items: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The entries of the given runs, tasks or stages, as (stage, entry): ("train", entry) for
        train@RUN."""
        for name, entry in sorted(self.stages.items()):
            stage, _, item = name.partition("@")
            if (item or stage) in items:
                yield stage, entry

    def digests(self, *items: str) -> dict[str, str]:
        """A digest for each stage of `items`, over its command, deps, params and outs.

        The run metadata in older locks is left out, so that repeated work has the same digest.
        """
        return {
            stage: hashlib.sha256(json.dumps(_work(entry), sort_keys=True).encode()).hexdigest()[
                :32
            ]
            for stage, entry in self.of(*items)
        }

    def out(self, path: str) -> str | None:
        """DVC's digest of the output at `path`."""
        for entry in self.stages.values():
            for out in entry.get("outs") or ():
                if isinstance(out, Mapping) and out.get("path") == path:
                    return str(out["md5"]) if "md5" in out else None
        return None

    def outdated(self, params: Mapping[str, Any], *items: str) -> list[str]:
        """The parameters that have changed in `params` since `items` were run.

        Args:
            params: the content of params.yaml, as plain data.
        """
        return sorted(
            {
                key
                for _, entry in self.of(*items)
                for locked in entry.get("params", {}).values()
                for key, value in locked.items()
                if _plain(_look_up(params, key)) != _plain(value)
            }
        )


def is_code(path: str) -> bool:
    """Whether a dependency is code: a stage's file, a package, or code/STAGE in older locks."""
    first = path.removeprefix("./").replace("../", "").partition("/")[0]
    return first in ("pipeline", "src", "code")


def _work(entry: Mapping[str, Any]) -> dict[str, Any]:
    outs = [out for out in entry.get("outs", ()) if "run_metadata" not in out["path"]]
    return {**entry, "outs": outs}


def _look_up(params: Any, key: str) -> Any:
    """The value at a dotted `key`, whose parts may contain dots themselves, like a run's name."""
    if not isinstance(params, Mapping):
        return None
    if key in params:
        return params[key]
    for name, value in params.items():
        if key.startswith(f"{name}."):
            return _look_up(value, key.removeprefix(f"{name}."))
    return None


def _plain(value: Any) -> Any:
    """`value`, with numbers as floats: DVC writes 1e-09, which plain YAML 1.1 reads as text."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
